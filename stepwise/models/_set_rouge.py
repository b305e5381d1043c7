"""ROUGE of sets of units, measured on the device by the pieces of words.

What a model reads is pieces, and so is a reference here: sets of units can be
scored wherever the model is, for any units that it likes at the moment. It
differs from ROUGE of words by stems, and by pairs across two units.
"""

from typing import NamedTuple

import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float, Int


class _Counts(NamedTuple):
  """How often units have what stands at each position of a reference.

  Attributes:
    units: of each unit.
    reference: of the reference itself.
    first: False where the same stood before, or nothing stands.
  """

  units: Float[Array, 'batch pool pieces']
  reference: Float[Array, 'batch pieces']
  first: Bool[Array, 'batch pieces']

  def hits(self, sets: Float[Array, 'sets pool']) -> Float[Array, 'batch sets']:
    """What sets share with the reference, nothing counted too often."""
    found = jnp.einsum('sp,bpr->bsr', sets, self.units)
    shared = jnp.minimum(found, self.reference[:, None])
    return jnp.where(self.first[:, None], shared, 0).sum(axis=-1)


def set_rouge(
  tokens: Int[Array, 'batch length'],
  unit_ids: Int[Array, 'batch length'],
  reference: Int[Array, 'batch pieces'],
  units: Int[Array, 'batch pool'],
  sets: Bool[Array, 'sets pool'],
) -> Float[Array, 'batch sets']:
  """Mean F1 of pieces, of which ROUGE-L has much, and of pairs of them.

    (2 F1(pieces) + F1(pairs)) / 3

  Args:
    tokens, unit_ids: the documents.
    reference: ids of the summary's pieces, 0 = no word, -1 = padding.
    units: those that sets are made of.
    sets: which of them each set has.
  """
  chosen = jnp.asarray(sets, jnp.float32)
  member = (unit_ids[:, None] == units[:, :, None]).astype(jnp.float32)
  given = jnp.einsum('sp,bp->bs', chosen, member.sum(axis=-1))
  wanted = (reference >= 0).sum(axis=1, keepdims=True)
  same = (tokens[..., None] == reference[:, None]) & (reference > 0)[:, None]
  repeats = _equal(reference)
  pieces = _count(member, same, repeats).hits(chosen)
  inside = unit_ids[:, :-1] == unit_ids[:, 1:]
  pairs = _count(
    member[..., :-1],
    _neighbours(same) & inside[..., None],
    _neighbours(repeats),
  ).hits(chosen)
  both = given + wanted
  return (
    2 * (2 * pieces / jnp.maximum(both, 1))
    + 2 * pairs / jnp.maximum(both - 2, 1)
  ) / 3


def _equal(
  reference: Int[Array, 'batch pieces'],
) -> Bool[Array, 'batch pieces pieces']:
  words = reference > 0
  same = reference[:, :, None] == reference[:, None]
  return same & words[:, :, None] & words[:, None]


def _neighbours(
  same: Bool[Array, 'batch left right'],
) -> Bool[Array, 'batch left_pairs right_pairs']:
  """Where both a piece and the next one are the same."""
  return same[:, :-1, :-1] & same[:, 1:, 1:]


def _count(
  member: Float[Array, 'batch pool length'],
  same: Bool[Array, 'batch length pieces'],
  repeats: Bool[Array, 'batch pieces pieces'],
) -> _Counts:
  before = jnp.tril(repeats, -1).any(axis=-1)
  exists = jnp.diagonal(repeats, axis1=1, axis2=2)
  return _Counts(
    jnp.einsum('bpn,bnr->bpr', member, same.astype(jnp.float32)),
    repeats.sum(axis=-1).astype(jnp.float32),
    exists & ~before,
  )
