"""Parameters and the names of their axes, side by side instead of boxed."""

from collections.abc import Mapping
from typing import Any

from flax import linen as nn
from flax.linen.partitioning import AxisMetadata
from flax.traverse_util import flatten_dict, unflatten_dict

from stepwise._errors import InputError


def split_axes(variables: Mapping[str, Any]) -> dict[str, Any]:
  """Plain `params`, and their axis names as the collection `params_axes`.

  This is the older form of Flax, the only one that t5x reads: the names of
  `params/x/kernel` are an `AxisMetadata` at `params_axes/x/kernel_axes`.

  Args:
    variables: as `init` or `eval_shape` of it returns them, with every
      parameter boxed by `nn.with_logical_partitioning`.
  """
  boxes = flatten_dict(dict(variables['params']))
  axes = {
    (*path[:-1], f'{path[-1]}_axes'): AxisMetadata(names=_names(path, box))
    for path, box in boxes.items()
  }
  return {
    'params': nn.unbox(variables['params']),
    'params_axes': unflatten_dict(axes),
  }


def _names(path: tuple[str, ...], box: Any) -> tuple[str | None, ...]:
  if not isinstance(box, nn.Partitioned):
    raise InputError(f'parameter {"/".join(path)} has no axis names.')
  return tuple(box.names)
