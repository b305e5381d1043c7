"""Global-local attention from the full score matrix: the reference, O(n^2)."""

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers._heads import (
  AttentionHeads,
  RelativeTable,
  RelativeTables,
  label_scores,
  pair_logits,
  pick_labels,
)
from stepwise.layers._products import DotGeneral
from stepwise.layers._softmax import Dropout, finish, row_peak, softmax_part
from stepwise.layers._structure import PairStructure


def dense_attention(
  heads: AttentionHeads,
  pairs: PairStructure,
  radius: int,
  tables: RelativeTables,
  dropout: Dropout = Dropout(),
  dot_general: DotGeneral = jax.lax.dot_general,
) -> tuple[
  Float[Array, 'batch length heads dim'],
  Float[Array, 'batch globals heads dim'],
]:
  """Attends with every pair scored; `pairs` has no missing masks."""
  length = heads.long_query.shape[1]
  long = _rows(
    heads.long_query,
    jnp.concatenate([heads.l2l_key, heads.l2g_key], axis=1),
    jnp.concatenate([heads.l2l_value, heads.l2g_value], axis=1),
    _join(_spread(pairs.l2l_mask, radius, length), pairs.l2g_mask),
    _join(_spread(pairs.l2l_labels, radius, length), pairs.l2g_labels),
    tables.long_rows,
    dropout.fold(0),
    dot_general,
  )
  glob = _rows(
    heads.global_query,
    jnp.concatenate([heads.g2g_key, heads.g2l_key], axis=1),
    jnp.concatenate([heads.g2g_value, heads.g2l_value], axis=1),
    _join(pairs.g2g_mask, pairs.g2l_mask),
    _join(pairs.g2g_labels, pairs.g2l_labels),
    tables.global_rows,
    dropout.fold(1),
    dot_general,
  )
  return long, glob


def _rows(
  query: Float[Array, 'batch q heads dim'],
  key: Float[Array, 'batch kv heads dim'],
  value: Float[Array, 'batch kv heads dim'],
  mask: Bool[Array, 'batch q kv'] | None,
  labels: Int[Array, 'batch q kv'] | None,
  table: RelativeTable | None,
  dropout: Dropout,
  dot_general: DotGeneral,
) -> Float[Array, 'batch q heads dim']:
  """One softmax over all keys of a row."""
  relative = pick_labels(label_scores(query, table, dot_general), labels)
  logits = pair_logits(query, key, relative, mask, dot_general)
  part = softmax_part(logits, value, row_peak(logits), dropout, dot_general)
  return finish(part).astype(value.dtype)


def _join(left: Array | None, right: Array | None) -> Array | None:
  if left is None or right is None:
    return None
  return jnp.concatenate([left, right], axis=-1)


def _spread(window: Array | None, radius: int, length: int) -> Array | None:
  """`[batch, length, 2r + 1]` slots to `[batch, length, length]` pairs."""
  if window is None:
    return None
  index = jnp.arange(length)
  slot = index[None, :] - index[:, None] + radius
  inside = (slot >= 0) & (slot <= 2 * radius)
  picked = jnp.take_along_axis(
    window, jnp.clip(slot, 0, 2 * radius)[None], axis=-1
  )
  return jnp.where(inside[None], picked, 0).astype(window.dtype)
