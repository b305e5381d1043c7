"""Where a run lives: its mesh, and how batches and parameters lie on it."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from flax import linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from stepwise._errors import InputError
from stepwise._typing import Array
from stepwise.layers import (
  PARAM_RULES,
  Rules,
  change_rules,
  make_mesh,
  param_shardings,
)
from stepwise.models import Batch
from stepwise.training._config import MeshConfig, TrainConfig

# Makes the smallest arguments of a model, to initialise it.
Dummy = Callable[[], tuple[Any, ...]]

# Rows of batches are spread over both.
ROWS = PartitionSpec(('data', 'fsdp'))
# Elements of an array that is worth a line of its own.
_LARGE = 1 << 20


def choose_mesh(config: TrainConfig, devices: Any = None) -> Mesh:
  """The mesh; all rows that are read at once must spread evenly over it."""
  devices = jax.devices() if devices is None else devices
  mesh, accumulate = config.mesh, config.accumulate
  others = mesh.fsdp * mesh.sequence * mesh.model
  data = mesh.data or max(len(devices) // others, 1)
  if data * others > len(devices):
    raise InputError(
      f'a {_product(data, mesh)} mesh needs {data * others} devices,'
      f' there are {len(devices)}.'
    )
  if config.input.batch_size // accumulate % (data * mesh.fsdp):
    raise InputError(
      f'batch_size is {config.input.batch_size} in {accumulate} micro-batches,'
      f' each must be a multiple of the {data * mesh.fsdp} data devices.'
    )
  if config.validation_batch % (data * mesh.fsdp):
    raise InputError(
      f'the batch_size of evaluation is {config.validation_batch}, must be a'
      f' multiple of the {data * mesh.fsdp} data devices.'
    )
  return make_mesh(
    data,
    mesh.model,
    devices,
    fsdp=mesh.fsdp,
    sequence=mesh.sequence if mesh.sequence > 1 else None,
  )


def _product(data: int, mesh: MeshConfig) -> str:
  shared = [size for size in (mesh.fsdp, mesh.sequence) if size > 1]
  return ' x '.join(map(str, (data, *shared, mesh.model)))


def param_layout(
  model: nn.Module, mesh: Mesh, dummy: Dummy, changes: Rules = ()
) -> tuple[Any, Any]:
  """Shapes of the parameters, and where each of them lives."""
  boxed = jax.eval_shape(model.init, jax.random.key(0), *dummy())
  rules = change_rules(PARAM_RULES, changes)
  shardings = param_shardings(boxed, mesh, rules)
  return nn.unbox(boxed)['params'], shardings['params']


def describe_layout(shapes: Any) -> list[str]:
  """How many parameters are spread how, and the large ones that are whole.

  Args:
    shapes: of parameters, with their shardings.
  """
  leaves = jax.tree_util.tree_flatten_with_path(shapes)[0]
  sizes: dict[str, int] = {}
  whole = []
  for path, leaf in leaves:
    spread = '/'.join(_axes(leaf.sharding.spec)) or 'whole'
    size = math.prod(leaf.shape)
    sizes[spread] = sizes.get(spread, 0) + size
    if spread == 'whole' and size >= _LARGE:
      whole.append(f'{jax.tree_util.keystr(path, simple=True, separator="/")}')
  total = sum(sizes.values())
  lines = [
    f'{size:,} of {total:,} parameters: {spread}'
    for spread, size in sorted(sizes.items())
  ]
  return lines + [f'whole on every device: {name}' for name in whole]


def _axes(spec: PartitionSpec) -> list[str]:
  found = [axes if isinstance(axes, tuple) else (axes,) for axes in spec]
  return sorted({axis for axes in found for axis in axes if axis})


def decoding_mesh(config: MeshConfig, devices: Any = None) -> Mesh | None:
  """Devices of a process that decode for it; None = one is enough.

  They share documents, and the tokens of a document as in training.

  Args:
    config: the mesh of the run.
    devices: of the process; None = this one's.
  """
  devices = jax.local_devices() if devices is None else devices
  here, sequence = len(devices), config.sequence
  if config.data is not None:
    wanted = config.data * config.fsdp * sequence * config.model
    here = min(here, wanted)
  if here % sequence:
    raise InputError(
      f'mesh.sequence is {sequence}, must divide the {here} devices of a'
      ' process for ROUGE of decoded documents.'
    )
  if here == 1:
    return None
  return make_mesh(
    here // sequence,
    devices=devices,
    sequence=sequence if sequence > 1 else None,
  )


def local_rows(mesh: Mesh, rows: int) -> np.ndarray:
  """Those rows of a batch that devices of this process hold, in order."""
  sharding = NamedSharding(mesh, ROWS)
  held = sharding.addressable_devices_indices_map((rows,)).values()
  return np.unique(np.concatenate([np.arange(rows)[index] for index in held]))


def place_batch(
  arrays: Mapping[str, np.ndarray],
  mesh: Mesh,
  kind: Any = Batch,
  rows: int | None = None,
) -> Any:
  """Puts the rows of a batch, a named tuple, on the devices they belong to.

  Args:
    arrays: the rows of this process, see `local_rows`.
    mesh: the devices.
    kind: of named tuple.
    rows: of all processes; None = there is only one.
  """
  sharding = NamedSharding(mesh, ROWS)

  def place(array: np.ndarray) -> Array:
    shape = (rows or len(array), *array.shape[1:])
    return jax.make_array_from_process_local_data(sharding, array, shape)

  fields = [name for name in kind._fields if name in arrays]
  return kind(**{name: place(arrays[name]) for name in fields})


def gather(tree: Any, mesh: Mesh) -> Any:
  """The whole tree as numpy arrays, in every process."""
  whole = NamedSharding(mesh, PartitionSpec())
  # Donating would destroy the caller's arrays.
  replicate = jax.jit(lambda tree: tree, out_shardings=whole)
  return jax.tree.map(np.asarray, replicate(tree))
