"""What every model reads: documents as flat tokens, and plans."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int


class Batch(NamedTuple):
  """Documents of one bucket, as `stepwise.data.pad_batch` makes them.

  Attributes:
    tokens: token ids of all units, one unit after another, padding last.
    unit_ids: the unit of every token, -1 = padding.
    valid: which units are real; its shape tells the number of units.
    plan: units chosen so far, in order, -1 = empty.
    targets: units to choose next, in order, -1 = empty.
    gains: what choosing each unit at each step would gain; for losses that
      learn from all of them instead of the target alone.
    reference: pieces of the summary, 0 = no word, -1 = padding; for losses that
      value whole plans.
  """

  tokens: Int[Array, 'batch length']
  unit_ids: Int[Array, 'batch length']
  valid: Bool[Array, 'batch units']
  plan: Int[Array, 'batch steps'] | None = None
  targets: Int[Array, 'batch steps'] | None = None
  gains: Float[Array, 'batch steps units'] | None = None
  reference: Int[Array, 'batch pieces'] | None = None

  @classmethod
  def of(cls, arrays: Mapping[str, Any]) -> 'Batch':
    """From a mapping of arrays; what is not a field is left out."""
    missing = {'tokens', 'unit_ids', 'valid'} - arrays.keys()
    if missing:
      raise InputError(f'a batch of {sorted(arrays)} lacks {sorted(missing)}.')
    given = [name for name in cls._fields if arrays.get(name) is not None]
    return cls(**{name: jnp.asarray(arrays[name]) for name in given})


class Spans(NamedTuple):
  """Where the tokens of every unit stand in the flat tokens."""

  start: Int[Array, 'batch units']
  length: Int[Array, 'batch units']


def unit_spans(unit_ids: Int[Array, 'batch length'], num_units: int) -> Spans:
  """Starts and lengths of units; units without tokens have length 0.

  Unit ids never decrease over the real tokens and padding comes last, so the
  token where a unit begins is found by bisection, not by scatter.
  """
  ordered = jnp.where(unit_ids < 0, num_units, unit_ids)
  edges = jnp.arange(num_units + 1)
  bounds = jax.vmap(lambda ids: jnp.searchsorted(ids, edges))(ordered)
  return Spans(bounds[:, :-1], bounds[:, 1:] - bounds[:, :-1])


class Ragged(NamedTuple):
  """A concatenation of pieces: which piece, and where in it, a slot shows."""

  piece: Int[Array, 'batch slots']
  offset: Int[Array, 'batch slots']
  real: Bool[Array, 'batch slots']


def concatenate_ragged(
  lengths: Int[Array, 'batch pieces'], slots: int
) -> Ragged:
  """Lays pieces of the given lengths out one after another, without gaps."""
  ends = jnp.cumsum(lengths, axis=1)
  index = jnp.arange(slots)
  piece = jax.vmap(lambda e: jnp.searchsorted(e, index, side='right'))(ends)
  piece = jnp.minimum(piece, lengths.shape[1] - 1)
  starts = ends - lengths
  offset = index[None] - take(starts, piece)
  return Ragged(piece, offset, index[None] < ends[:, -1:])


def take(values: Array, index: Int[Array, 'batch slots']) -> Array:
  """`values[b, index[b, s]]`, indices clipped to what exists."""
  index = jnp.clip(index, 0, values.shape[1] - 1)
  index = index.reshape(index.shape + (1,) * (values.ndim - 2))
  return jnp.take_along_axis(values, index, axis=1)
