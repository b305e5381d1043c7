"""Where a run lives: its mesh, and how batches and parameters lie on it."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from flax import linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from stepwise._errors import InputError
from stepwise._typing import Array
from stepwise.layers import DEFAULT_RULES, make_mesh, param_shardings
from stepwise.models import Batch
from stepwise.training._config import MeshConfig

# Makes the smallest arguments of a model, to initialise it.
Dummy = Callable[[], tuple[Any, ...]]


def choose_mesh(config: MeshConfig, batch_size: int, accumulate: int) -> Mesh:
  """The mesh; every micro-batch must spread evenly over its data axis."""
  devices = jax.device_count()
  data = config.data or max(devices // config.model, 1)
  if data * config.model > devices:
    raise InputError(
      f'a {data} x {config.model} mesh needs {data * config.model} devices,'
      f' there are {devices}.'
    )
  if batch_size // accumulate % data:
    raise InputError(
      f'batch_size is {batch_size} in {accumulate} micro-batches, each must be'
      f' a multiple of the {data} data devices.'
    )
  return make_mesh(data, config.model)


def param_layout(model: nn.Module, mesh: Mesh, dummy: Dummy) -> tuple[Any, Any]:
  """Shapes of the parameters, and where each of them lives."""
  boxed = jax.eval_shape(model.init, jax.random.key(0), *dummy())
  return nn.unbox(boxed)['params'], param_shardings(boxed, mesh)['params']


def place_batch(
  arrays: dict[str, np.ndarray], mesh: Mesh, kind: Any = Batch
) -> Any:
  """Puts the rows of a batch, a named tuple, on the data axis.

  Every process holds the whole batch and hands over only its own rows.
  """
  sharding = NamedSharding(mesh, PartitionSpec('data'))

  def place(array: np.ndarray) -> Array:
    return jax.make_array_from_callback(
      array.shape, sharding, lambda index: array[index]
    )

  fields = [name for name in kind._fields if name in arrays]
  return kind(**{name: place(arrays[name]) for name in fields})


def gather(tree: Any, mesh: Mesh) -> Any:
  """The whole tree as numpy arrays, in every process."""
  whole = NamedSharding(mesh, PartitionSpec())
  # Donating would destroy the caller's arrays.
  replicate = jax.jit(lambda tree: tree, out_shardings=whole)
  return jax.tree.map(np.asarray, replicate(tree))


def with_rules(mesh: Mesh, function: Callable[..., Any]) -> Callable[..., Any]:
  """Runs a function where logical axis names mean axes of the mesh."""

  def run(*args: Any) -> Any:
    with jax.set_mesh(mesh), nn.logical_axis_rules(list(DEFAULT_RULES)):
      return function(*args)

  return run
