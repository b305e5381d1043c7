"""Parameters of single layers, and of one stacked layer that stands for them.

A scan over layers (`scan_layers`) keeps `layers_0`, `layers_1`, ... as one
`layers` with an axis more. Bundles have single layers, whatever was trained.
"""

import re
from collections.abc import Mapping
from itertools import count, takewhile
from typing import Any

import jax.numpy as jnp
from flax import traverse_util

# A stacked layer's name in a path, and that of the single layers.
_NAMES = (('/layers/layer/', '/layer_{}/'), ('/layers/', '/layers_{}/'))
_SINGLE = re.compile(r'/(layers?)_(\d+)/')


def restack(params: Any, shapes: Any) -> Any:
  """Parameters in the layout of `shapes`; what fits no place stays as it is.

  Args:
    params: of the same model, its layers single or stacked.
    shapes: the parameters that are wanted.
  """
  given = traverse_util.flatten_dict(params, sep='/')
  wanted = traverse_util.flatten_dict(shapes, sep='/')
  if given.keys() == wanted.keys():
    return params
  found = {path: _find(path, given) for path in wanted}
  if any(array is None for array in found.values()):
    return params
  return traverse_util.unflatten_dict(found, sep='/')


def _find(path: str, given: Mapping[str, Any]) -> Any:
  if path in given:
    return given[path]
  for stacked, single in _NAMES:
    if stacked in path:
      names = (path.replace(stacked, single.format(i)) for i in count())
      layers = [given[name] for name in takewhile(given.__contains__, names)]
      if layers:
        return jnp.stack(layers)
  if match := _SINGLE.search(path):
    kind, number = match.groups()
    stacked = '/layers/layer/' if kind == 'layer' else '/layers/'
    name = f'{path[: match.start()]}{stacked}{path[match.end() :]}'
    if name in given:
      return given[name][int(number)]
  return None
