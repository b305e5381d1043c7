"""What global tokens read when each reads only its own long tokens.

A long token has at most two owners, its unit and its parent, so the softmax of
a global row is one over the tokens that name it: O(length) scores, wherever
the owners stand, instead of globals x length.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers._blocks import BlockGrid
from stepwise.layers._heads import AttentionHeads
from stepwise.layers._softmax import (
  NEG_INF,
  Dropout,
  SoftmaxPart,
  merge,
  wide_dtype,
)
from stepwise.layers._structure import UnitStructure


def read_owned(
  heads: AttentionHeads,
  units: UnitStructure,
  grid: BlockGrid,
  inside: Float[Array, 'batch heads globals'] | None,
  dropout: Dropout,
) -> SoftmaxPart:
  """Softmax sums of every global row over the long tokens it owns.

  Args:
    heads: global queries, and keys and values of long tokens.
    units: owners and examples of tokens.
    grid: blocks of long tokens that are worked off one after another.
    inside: scores of the label of tokens of a unit; None = no label.
    dropout: of the probabilities.
  """
  parts = [
    _read_as(heads, units, owner, grid, inside, dropout.fold(slot))
    for slot, owner in enumerate(_owners(units))
  ]
  return functools.reduce(merge, parts)


def _owners(units: UnitStructure) -> list[Int[Array, 'batch length']]:
  """Owners of every token, each named once."""
  if units.parent_ids is None:
    return [units.unit_ids]
  twice = units.parent_ids == units.unit_ids
  return [units.unit_ids, jnp.where(twice, -1, units.parent_ids)]


def _read_as(
  heads: AttentionHeads,
  units: UnitStructure,
  owner: Int[Array, 'batch length'],
  grid: BlockGrid,
  inside: Float[Array, 'batch heads globals'] | None,
  dropout: Dropout,
) -> SoftmaxPart:
  """Sums over one assignment of tokens to owners."""
  num_globals = heads.global_query.shape[1]
  owned = _may_read(units, owner, num_globals)
  index = jnp.where(owned, owner, num_globals)
  logits = _logits(heads, index, grid, inside)
  logits = jnp.where(owned[..., None], logits, NEG_INF)
  peak = jax.lax.stop_gradient(_by_owner('max', logits, index, num_globals))
  guard = jnp.where(jnp.isfinite(peak), peak, 0)
  weights = jnp.exp(logits - _take(guard, index))
  mass = _by_owner('add', weights, index, num_globals)
  total = _weighted_values(heads, dropout(weights), index, grid, num_globals)
  to_rows = lambda array: array.swapaxes(1, 2)  # noqa: E731
  return SoftmaxPart(to_rows(peak), to_rows(mass), to_rows(total))


def _may_read(
  units: UnitStructure, owner: Int[Array, 'batch length'], num_globals: int
) -> Bool[Array, 'batch length']:
  examples = _take(units.global_examples, owner)
  real = (owner >= 0) & (owner < num_globals)
  return real & (examples == units.long_examples)


def _logits(
  heads: AttentionHeads,
  index: Int[Array, 'batch length'],
  grid: BlockGrid,
  inside: Float[Array, 'batch heads globals'] | None,
) -> Float[Array, 'batch length heads']:
  """The score of every token for its owner's query."""
  *_, num_heads, dim = heads.global_query.shape
  wide = wide_dtype(heads.global_query)
  # Every block adds to the gradients of the queries.
  query = _side_by_side(heads.global_query).astype(wide)

  @_rematerialised
  def block(query: Array, index: Array, key: Array) -> Array:
    products = _take(query, index) * key.astype(wide)
    return products.reshape(*index.shape, num_heads, dim).sum(axis=-1)

  blocks = (grid.split(index), grid.split(_side_by_side(heads.g2l_key)))
  products = grid.join(_map(lambda xs: block(query, *xs), blocks))
  products *= dim**-0.5
  if inside is None:
    return products
  return products + _take(inside.swapaxes(1, 2), index)


def _weighted_values(
  heads: AttentionHeads,
  weights: Float[Array, 'batch length heads'],
  index: Int[Array, 'batch length'],
  grid: BlockGrid,
  num_globals: int,
) -> Float[Array, 'batch globals heads dim']:
  """Sums of weighted values by owner, one block at a time."""
  batch, _, *head = heads.g2l_value.shape

  @_rematerialised
  def weigh(weights: Array, value: Array) -> Array:
    by_head = value.astype(weights.dtype).reshape(*weights.shape, -1)
    return _side_by_side(weights[..., None] * by_head)

  def add(total: Array, xs: Any) -> tuple[Array, None]:
    weights, index, value = xs
    return _scatter('add', total, weigh(weights, value), index), None

  weights, index, values = jax.tree.map(
    grid.split, (weights, index, _side_by_side(heads.g2l_value))
  )
  # Padding of the last block belongs to nobody.
  index = _nobody(grid, index, num_globals)
  start = jnp.zeros((batch, num_globals, math.prod(head)), weights.dtype)
  total = jax.lax.scan(add, start, (weights, index, values))[0]
  return total.reshape(batch, num_globals, *head)


def _side_by_side(array: Array) -> Array:
  """All heads of a token in one row: TPUs pad heads of 64 to 128 lanes."""
  return array.reshape(*array.shape[:2], -1)


def _nobody(
  grid: BlockGrid, index: Int[Array, 'blocks batch block'], num_globals: int
) -> Int[Array, 'blocks batch block']:
  exists = jax.vmap(grid.exists)(grid.index)
  return jnp.where(exists[:, None], index, num_globals)


def _by_owner(
  how: str, values: Array, index: Int[Array, 'batch tokens'], num_globals: int
) -> Array:
  """`[batch, tokens, ...]` to `[batch, globals, ...]`."""
  shape = (len(values), num_globals, *values.shape[2:])
  start = jnp.full(shape, NEG_INF if how == 'max' else 0, values.dtype)
  return _scatter(how, start, values, index)


def _scatter(
  how: str, rows: Array, values: Array, index: Int[Array, 'batch tokens']
) -> Array:
  """Adds values to rows, or takes the maximum; those of nobody are dropped."""

  def one(rows: Array, values: Array, index: Array) -> Array:
    return getattr(rows.at[index], how)(values, mode='drop')

  return jax.vmap(one)(rows, values, index)


def _take(values: Array, index: Int[Array, 'batch tokens']) -> Array:
  """Rows of owners; any row for tokens that have none."""
  clipped = jnp.clip(index, 0, values.shape[1] - 1)
  return jax.vmap(lambda rows, i: rows[i])(values, clipped)


def _rematerialised(function: Callable[..., Any]) -> Callable[..., Any]:
  return jax.checkpoint(function, prevent_cse=False)


def _map(function: Callable[[Any], Any], xs: Any) -> Any:
  return jax.lax.scan(lambda _, x: (None, function(x)), None, xs)[1]
