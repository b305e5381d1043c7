"""Queries, keys, values and relative tables, and the scores they give."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers._products import DotGeneral, einsum
from stepwise.layers._softmax import NEG_INF

_Long = Float[Array, 'batch length heads dim']
_Global = Float[Array, 'batch globals heads dim']


class AttentionHeads(NamedTuple):
  """Queries, keys and values of the four parts of global-local attention.

  `l2g_key` are the keys long queries read among global tokens, and so on.
  """

  long_query: Float[Array, 'batch length heads dim']
  l2l_key: Float[Array, 'batch length heads dim']
  l2l_value: Float[Array, 'batch length heads dim']
  l2g_key: Float[Array, 'batch globals heads dim']
  l2g_value: Float[Array, 'batch globals heads dim']
  global_query: Float[Array, 'batch globals heads dim']
  g2g_key: Float[Array, 'batch globals heads dim']
  g2g_value: Float[Array, 'batch globals heads dim']
  g2l_key: Float[Array, 'batch length heads dim']
  g2l_value: Float[Array, 'batch length heads dim']

  @classmethod
  def shared(
    cls,
    long: tuple[_Long, _Long, _Long],
    glob: tuple[_Global, _Global, _Global] | None = None,
  ) -> 'AttentionHeads':
    """One query, key and value of every token, whoever reads them.

    Without global tokens long tokens read their windows, and that is all.

    >>> ones = jnp.ones((1, 6, 2, 4))
    >>> AttentionHeads.shared((ones, ones, ones)).l2g_key.shape
    (1, 0, 2, 4)
    """
    if glob is None:
      nothing = long[0][:, :0]
      glob = nothing, nothing, nothing
    return cls(*long, *glob[1:], *glob, *long[1:])


class RelativeTable(NamedTuple):
  """Key-side vectors and biases of relative labels."""

  embedding: Float[Array, 'labels heads dim']
  bias: Float[Array, 'labels heads']


class RelativeTables(NamedTuple):
  """One table for the rows of either side; None = no relative term."""

  long_rows: RelativeTable | None = None
  global_rows: RelativeTable | None = None


def label_scores(
  query: Float[Array, 'batch q heads dim'],
  table: RelativeTable | None,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch heads q labels'] | None:
  """(q . E[m] + b[m]) / sqrt(dim) for every label m."""
  if table is None:
    return None
  rows = table.embedding.astype(query.dtype)
  products = einsum('bqnd,rnd->bnqr', query, rows, dot_general)
  bias = table.bias.astype(products.dtype).T[None, :, None, :]
  return (products + bias) * query.shape[-1] ** -0.5


def pick_labels(
  scores: Float[Array, 'batch heads q labels'] | None,
  labels: Int[Array, 'batch q kv'] | None,
) -> Float[Array, 'batch heads q kv'] | None:
  """The score of every pair's label; None if either is missing."""
  if scores is None or labels is None:
    return None
  return jnp.take_along_axis(scores, labels[:, None], axis=-1)


def pair_logits(
  query: Float[Array, 'batch q heads dim'],
  key: Float[Array, 'batch kv heads dim'],
  relative: Float[Array, 'batch heads q kv'] | None,
  mask: Bool[Array, 'batch q kv'] | None,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch heads q kv']:
  """Scores of all pairs, -inf where masked; no mask allows everything."""
  logits = einsum('bqnd,bknd->bnqk', query, key, dot_general)
  logits *= query.shape[-1] ** -0.5
  if relative is not None:
    logits += relative
  if mask is None:
    return logits
  return jnp.where(mask[:, None], logits, NEG_INF)
