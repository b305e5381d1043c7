"""Global-local attention in a loop over blocks: O(n) memory, any backend.

Every iteration attends the queries of one block of long tokens, and adds what
the global rows read from the block to their running softmax sums. Global rows
that read only their own tokens have O(n) scores of their own (`_owners`).
Iterations are rematerialised: the backward pass recomputes a block's scores, so
nothing of size [length, window + globals] is ever stored.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers._attend import Keys, attend_parts
from stepwise.layers._blocks import BlockGrid, expand_distances, skew
from stepwise.layers._heads import (
  AttentionHeads,
  RelativeTable,
  RelativeTables,
  label_scores,
  pair_logits,
  pick_labels,
)
from stepwise.layers._owners import read_owned
from stepwise.layers._positions import member_label, outside_label
from stepwise.layers._products import DotGeneral
from stepwise.layers._softmax import (
  Dropout,
  SoftmaxPart,
  add,
  empty_part,
  finish,
  merge,
  row_peak,
  softmax_part,
  wide_dtype,
)
from stepwise.layers._structure import (
  AttentionPattern,
  PairStructure,
  Structure,
  UnitStructure,
  membership,
  same_example,
)

# Rows of the global-to-global scores computed at a time.
_GLOBAL_ROWS = 128

Scores = Float[Array, 'batch heads q labels'] | None


class Relation(NamedTuple):
  """Mask and relative scores of the pairs of one part of one block."""

  relative: Float[Array, 'batch heads q kv'] | None
  mask: Bool[Array, 'batch q kv']


class UnitBlock(NamedTuple):
  """A unit structure's ids, for the long tokens of one block."""

  unit_ids: Int[Array, 'batch block']
  parent_ids: Int[Array, 'batch block'] | None
  local_ids: list[Int[Array, 'batch block']]


class UnitBlocks:
  """Relations of blocks, derived from a unit structure inside the loop."""

  def __init__(
    self, units: UnitStructure, pattern: AttentionPattern, grid: BlockGrid
  ) -> None:
    self._pattern, self._grid = pattern, grid
    self._global_ids = units.global_examples
    # What must be equal for two long tokens to read each other.
    local_ids = [units.long_examples]
    if units.window_ids is not None:
      local_ids.append(units.window_ids)
    self._padded_ids = [grid.pad(ids) for ids in local_ids]
    self.blocks = UnitBlock(
      grid.split(units.unit_ids),
      None if units.parent_ids is None else grid.split(units.parent_ids),
      [grid.split(ids) for ids in local_ids],
    )

  def l2l(self, index: Array, block: UnitBlock, scores: Scores) -> Relation:
    inside = self._grid.band() & self._grid.window_exists(index)[None, :]
    mask = jnp.broadcast_to(inside[None], (len(block.unit_ids), *inside.shape))
    for ids, padded in zip(block.local_ids, self._padded_ids, strict=True):
      mask &= same_example(ids, self._grid.window_of(padded, index))
    if scores is None:
      return Relation(None, mask)
    slots = expand_distances(
      scores, self._pattern.radius, self._pattern.max_distance
    )
    return Relation(skew(slots), mask)

  def l2g(self, block: UnitBlock, scores: Scores) -> Relation:
    member = self._member(block)
    mask = same_example(block.local_ids[0], self._global_ids)
    if self._pattern.hard_l2g:
      mask &= member
    return Relation(self._membership_scores(member, scores), mask)

  def g2l(self, index: Array, block: UnitBlock, scores: Scores) -> Relation:
    member = self._member(block).swapaxes(1, 2)
    mask = same_example(self._global_ids, block.local_ids[0])
    mask &= self._grid.exists(index)[None, None, :]
    return Relation(self._membership_scores(member, scores), mask)

  def g2g_rows(self, rows: BlockGrid) -> Array:
    return rows.split(self._global_ids)

  def g2g(
    self, index: Array, rows: Array, grid: BlockGrid, scores: Scores
  ) -> Relation:
    mask = same_example(rows, self._global_ids)
    if scores is None:
      return Relation(None, mask)
    # Column c of the skewed rows is the distance c - reach - row.
    reach = grid.length - 1
    slots = expand_distances(scores, reach, self._pattern.max_distance)
    relative = jax.lax.dynamic_slice_in_dim(
      skew(slots), reach - index * grid.block, grid.length, axis=-1
    )
    return Relation(relative, mask)

  def _member(self, block: UnitBlock) -> Bool[Array, 'batch block globals']:
    num_globals = self._global_ids.shape[1]
    return membership(block.unit_ids, block.parent_ids, num_globals)

  def _membership_scores(
    self, member: Bool[Array, 'batch q kv'], scores: Scores
  ) -> Float[Array, 'batch heads q kv'] | None:
    if scores is None:
      return None
    k = self._pattern.max_distance
    inside = scores[..., member_label(k), None]
    outside = scores[..., outside_label(k), None]
    return jnp.where(member[:, None], inside, outside)


class PairBlocks:
  """Relations of blocks, cut out of arrays that spell every pair out."""

  def __init__(self, pairs: PairStructure, grid: BlockGrid) -> None:
    self._grid, self._pairs = grid, pairs
    rows = (pairs.l2l_mask, pairs.l2l_labels, pairs.l2g_mask, pairs.l2g_labels)
    columns = (pairs.g2l_mask, pairs.g2l_labels)
    self.blocks = (
      jax.tree.map(grid.split, rows),
      jax.tree.map(lambda a: grid.split(a.swapaxes(1, 2)), columns),
    )

  def l2l(self, index: Array, block: Any, scores: Scores) -> Relation:
    (mask, labels, _, _), _ = block
    mask = skew(mask) & self._grid.window_exists(index)[None, None, :]
    picked = pick_labels(scores, labels)
    return Relation(None if picked is None else skew(picked), mask)

  def l2g(self, block: Any, scores: Scores) -> Relation:
    (_, _, mask, labels), _ = block
    return Relation(pick_labels(scores, labels), mask)

  def g2l(self, index: Array, block: Any, scores: Scores) -> Relation:
    _, (mask, labels) = block
    mask = mask.swapaxes(1, 2) & self._grid.exists(index)[None, None, :]
    if labels is not None:
      labels = labels.swapaxes(1, 2)
    return Relation(pick_labels(scores, labels), mask)

  def g2g_rows(self, rows: BlockGrid) -> Any:
    parts = (self._pairs.g2g_mask, self._pairs.g2g_labels)
    return jax.tree.map(rows.split, parts)

  def g2g(
    self, index: Array, rows: Any, grid: BlockGrid, scores: Scores
  ) -> Relation:
    mask, labels = rows
    return Relation(pick_labels(scores, labels), mask)


Relations = UnitBlocks | PairBlocks


def blocked_attention(
  heads: AttentionHeads,
  structure: Structure,
  pattern: AttentionPattern,
  tables: RelativeTables,
  block: int,
  dropout: Dropout = Dropout(),
  dot_general: DotGeneral = jax.lax.dot_general,
) -> tuple[
  Float[Array, 'batch length heads dim'],
  Float[Array, 'batch globals heads dim'],
]:
  """Attends block by block; `structure` has no missing masks."""
  grid = BlockGrid(heads.long_query.shape[1], block, pattern.radius)
  return attend_blocks(
    heads, structure, pattern, tables, grid, dropout, dot_general
  )


def attend_blocks(
  heads: AttentionHeads,
  structure: Structure,
  pattern: AttentionPattern,
  tables: RelativeTables,
  grid: BlockGrid,
  dropout: Dropout,
  dot_general: DotGeneral = jax.lax.dot_general,
  sum_shards: Callable[[SoftmaxPart], SoftmaxPart] = lambda part: part,
) -> tuple[
  Float[Array, 'batch length heads dim'],
  Float[Array, 'batch globals heads dim'],
]:
  """Attends the blocks of a grid, which may be one shard of a document.

  `sum_shards` adds up what global rows read of all shards.
  """
  if isinstance(structure, UnitStructure):
    relations = UnitBlocks(structure, pattern, grid)
  else:
    relations = PairBlocks(structure, grid)
  long = _long_rows(
    heads, relations, grid, tables.long_rows, dropout.fold(0), dot_general
  )
  if not heads.global_query.shape[1]:
    return long, jnp.zeros_like(heads.global_query, long.dtype)
  table = tables.global_rows
  if isinstance(structure, UnitStructure) and pattern.hard_g2l:
    inside = member_scores(heads.global_query, table, pattern, dot_general)
    owned = read_owned(heads, structure, grid, inside, dropout.fold(2))
  else:
    owned = _global_to_long(
      heads, relations, grid, table, dropout.fold(2), dot_general
    )
  part = merge(
    global_to_global(heads, relations, table, dropout.fold(1), dot_general),
    sum_shards(owned),
  )
  return long, finish(part).astype(long.dtype)


def member_scores(
  query: Float[Array, 'batch globals heads dim'],
  table: RelativeTable | None,
  pattern: AttentionPattern,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch heads globals'] | None:
  """Scores of the label of long tokens of a global token's own unit."""
  scores = label_scores(query, table, dot_general)
  if scores is None:
    return None
  return scores[..., member_label(pattern.max_distance)]


def _long_rows(
  heads: AttentionHeads,
  relations: Relations,
  grid: BlockGrid,
  table: RelativeTable | None,
  dropout: Dropout,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch length heads dim']:
  """Long queries read a window of keys and all global keys, one softmax."""
  dtype = heads.long_query.dtype
  shared = _widen((heads.l2g_key, heads.l2g_value, table))
  padded = grid.pad(heads.l2l_key), grid.pad(heads.l2l_value)

  def keys(key: Array, value: Array, relation: Relation, drop: Dropout) -> Keys:
    """Keys that the queries of a block read, turned head by head."""
    relative, mask = relation
    batch, queries, kv = mask.shape
    factors = drop.factors((batch, key.shape[2], queries, kv))
    key, value = (array.astype(dtype).swapaxes(1, 2) for array in (key, value))
    return Keys(key, value, mask[:, None], relative, factors)

  @_rematerialised
  def attend(shared, padded, index, query, block):
    global_key, global_value, table = shared
    key, value = (grid.window_of(array, index) for array in padded)
    scores = label_scores(query, table, dot_general)
    near = relations.l2l(index, block, scores)
    far = relations.l2g(block, scores)
    drop = dropout.fold(index)
    parts = (
      keys(key, value, near, drop.fold(0)),
      keys(global_key, global_value, far, drop.fold(1)),
    )
    attended = attend_parts(query.swapaxes(1, 2), parts, dot_general)
    return attended.swapaxes(1, 2)

  blocks = (grid.index, grid.split(heads.long_query), relations.blocks)
  return grid.join(_map(lambda xs: attend(shared, padded, *xs), blocks))


def _global_to_long(
  heads: AttentionHeads,
  relations: Relations,
  grid: BlockGrid,
  table: RelativeTable | None,
  dropout: Dropout,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> SoftmaxPart:
  """What global queries read from long tokens, one block of keys at a time.

  A first loop, without gradients, finds the peak of every row. With the peak
  fixed, the sums over blocks are plain sums: the second loop stores nothing
  for its derivative, and every key's gradient is written exactly once.
  """
  dtype = heads.global_query.dtype
  shared = _widen((heads.global_query, table))

  def block_logits(shared, index, block, key):
    query, table = shared[0].astype(dtype), shared[1]
    scores = label_scores(query, table, dot_general)
    relation = relations.g2l(index, block, scores)
    return pair_logits(query, key, *relation, dot_general)

  @_rematerialised
  def block_part(shared, peak, index, block, key, value):
    logits = block_logits(shared, index, block, key)
    drop = dropout.fold(index)
    return softmax_part(logits, value, peak, drop, dot_general)

  keys = (grid.index, relations.blocks, grid.split(heads.g2l_key))
  values = grid.split(heads.g2l_value)
  frozen_shared, frozen_keys = jax.lax.stop_gradient((shared, keys))
  start = empty_part(shared[0])
  peak = _fold(
    lambda peak, xs: jnp.maximum(
      peak, row_peak(block_logits(frozen_shared, *xs))
    ),
    start.peak,
    frozen_keys,
  )
  return _fold(
    lambda part, xs: add(part, block_part(shared, peak, *xs[0], xs[1])),
    start._replace(peak=peak),
    (keys, values),
  )


def global_to_global(
  heads: AttentionHeads,
  relations: Relations,
  table: RelativeTable | None,
  dropout: Dropout,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> SoftmaxPart:
  """What global queries read from global tokens, some rows at a time."""
  dtype = heads.global_query.dtype
  num_globals = heads.global_query.shape[1]
  grid = BlockGrid(num_globals, min(_GLOBAL_ROWS, num_globals), radius=0)
  shared = _widen((heads.g2g_key, heads.g2g_value, table))

  @_rematerialised
  def rows_part(shared, index, query, rows):
    key, value, table = shared
    key, value = key.astype(dtype), value.astype(dtype)
    scores = label_scores(query, table, dot_general)
    relation = relations.g2g(index, rows, grid, scores)
    logits = pair_logits(query, key, *relation, dot_general)
    peak, drop = row_peak(logits), dropout.fold(index)
    return softmax_part(logits, value, peak, drop, dot_general)

  def join(blocks):
    """`[blocks, batch, heads, rows, ...]` to `[batch, heads, globals, ...]`."""
    return jnp.moveaxis(grid.join(blocks.swapaxes(2, 3)), 2, 1)

  rows = (grid.index, grid.split(heads.global_query), relations.g2g_rows(grid))
  return jax.tree.map(join, _map(lambda xs: rows_part(shared, *xs), rows))


def _rematerialised(function: Callable[..., Any]) -> Callable[..., Any]:
  # Inside a scan nothing can be shared with the forward pass anyway.
  return jax.checkpoint(function, prevent_cse=False)


def _map(function: Callable[[Any], Any], xs: Any) -> Any:
  return jax.lax.scan(lambda _, x: (None, function(x)), None, xs)[1]


def _fold(function: Callable[[Any, Any], Any], start: Any, xs: Any) -> Any:
  return jax.lax.scan(lambda carry, x: (function(carry, x), None), start, xs)[0]


def _widen(tree: Any) -> Any:
  """To float32: every iteration adds to the gradients of these arrays."""
  return jax.tree.map(lambda array: array.astype(wide_dtype(array)), tree)
