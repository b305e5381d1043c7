"""Bytes that Pallas kernels move between HBM and fast memory.

XLA's cost analysis does not look into a kernel. Its block specs tell: a block
is fetched when its index differs from that of the program before, and written
back when the index moves on.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core


def kernel_traffic(function: Callable[..., Any], *shapes: Any) -> int:
  """Of all kernels of a function, each run once; shapes are enough."""
  jaxpr = jax.make_jaxpr(function)(*shapes)
  return sum(_kernel_bytes(call) for call in _kernels(jaxpr.jaxpr))


def _kernels(jaxpr: Any) -> Iterator[Any]:
  """Kernels that are compiled: their interpreted twins are left out."""
  for equation in jaxpr.eqns:
    if equation.primitive.name == 'pallas_call':
      if not equation.params['interpret']:
        yield equation
      continue
    for inner in jax.tree.leaves(
      equation.params, is_leaf=lambda x: _jaxpr(x) is not None
    ):
      if (found := _jaxpr(inner)) is not None:
        yield from _kernels(found)


def _jaxpr(value: Any) -> Any:
  if isinstance(value, core.ClosedJaxpr):
    return value.jaxpr
  return value if isinstance(value, core.Jaxpr) else None


def _kernel_bytes(call: Any) -> int:
  mapping = call.params['grid_mapping']
  programs = np.indices(mapping.grid).reshape(len(mapping.grid), -1)
  return sum(
    _fetches(block, programs) * _block_bytes(block)
    for block in mapping.block_mappings
    if _moves(block)
  )


def _moves(block: Any) -> bool:
  """Scalars are copied once."""
  return 'smem' not in str(block.transformed_block_aval.memory_space).lower()


def _block_bytes(block: Any) -> int:
  sizes = (getattr(size, 'block_size', size) for size in block.block_shape)
  count = math.prod(size for size in sizes if isinstance(size, int))
  return count * block.array_aval.dtype.itemsize


def _fetches(block: Any, programs: np.ndarray) -> int:
  """How often the index of a block changes from program to program."""
  index_map = block.index_map_jaxpr

  def index(*program: Any) -> Any:
    return core.jaxpr_as_fun(index_map)(*program)

  found = jax.vmap(index)(*jnp.asarray(programs, jnp.int32))
  indices = np.stack([np.broadcast_to(i, programs[0].shape) for i in found])
  return 1 + int((indices[:, 1:] != indices[:, :-1]).any(axis=0).sum())
