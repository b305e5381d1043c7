"""Which words a summary should have, and how many of them sets of units say.

What a set of units shares with a summary that nobody has written yet can be
expected: of every piece of the units it is guessed how often the summary has
it, and of every two neighbours whether it has them. Of each document this is
learnt from hundreds of pieces, where its best units are only a few.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers import Dense
from stepwise.models._batch import Spans, take

# Of a piece it is guessed whether a summary has it once, twice, three times.
_TIMES = 3
# Pieces of a usual summary; what is learnt beside it knows better.
_USUAL = 58.0


class PoolText(NamedTuple):
  """The pieces of a pool's units.

  Attributes:
    ids: of every unit, 0 = nothing stands there.
    states: of each piece, as the model reads it in its text.
    features: numbers of each piece, see `_features`.
  """

  ids: Int[Array, 'batch pool pieces']
  states: Float[Array, 'batch pool pieces embed']
  features: Float[Array, 'batch pool pieces features']


class Guess(NamedTuple):
  """Of all pieces of a pool, one unit after another, as logits.

  Attributes:
    times: that a summary has the piece at least once, twice, ...
    pairs: that a summary has the piece and the next one side by side.
  """

  times: Float[Array, 'batch length times']
  pairs: Float[Array, 'batch length']


def pool_text(
  tokens: Int[Array, 'batch length'],
  unit_ids: Int[Array, 'batch length'],
  states: Float[Array, 'batch length embed'],
  spans: Spans,
  pieces: int,
  first: int,
) -> PoolText:
  """The text of some units, and where else their pieces stand.

  Args:
    tokens, unit_ids, states: of whole documents.
    spans: of the units; those of no tokens have no text.
    pieces: of a unit that are read.
    first: the first unit of a document; those before are special.
  """
  offset = jnp.arange(pieces)[None, None]
  index = (spans.start[..., None] + offset).reshape(len(tokens), -1)
  real = (offset < spans.length[..., None]).reshape(index.shape)
  ids = jnp.where(real, take(tokens, index), 0)
  given = (_features(ids, tokens, unit_ids, first), take(states, index))
  features, found = (jnp.where(real[..., None], part, 0) for part in given)
  shape = (*spans.start.shape, pieces)
  return PoolText(
    ids.reshape(shape),
    found.astype(jnp.float32).reshape(*shape, -1),
    features.reshape(*shape, -1),
  )


def _features(
  ids: Int[Array, 'batch slots'],
  tokens: Int[Array, 'batch length'],
  unit_ids: Int[Array, 'batch length'],
  first: int,
) -> Float[Array, 'batch slots features']:
  """How often the document has a piece, and how early, about one in size."""
  inside = (unit_ids >= first)[:, None]
  same = (ids[..., None] == tokens[:, None]) & inside
  count = same.sum(axis=-1)
  last = 10 * 20
  place = jnp.where(same, unit_ids[:, None] - first, last).min(axis=-1)
  found = jnp.log1p(count), jnp.minimum(place, last) / 20, place < 3
  return jnp.stack([part.astype(jnp.float32) for part in found], axis=-1)


class _Pieces(NamedTuple):
  """What stands where in the text of a pool, unit after unit.

  Attributes:
    real: a piece stands here.
    pair: so does the next one of the same unit.
    same: both places have the same piece.
    same_pair: and the same next one.
    counts: how often a unit has what stands at each place.
    pair_counts: likewise of pairs.
  """

  real: Bool[Array, 'batch length']
  pair: Bool[Array, 'batch length']
  same: Bool[Array, 'batch length length']
  same_pair: Bool[Array, 'batch length length']
  counts: Float[Array, 'batch pool length']
  pair_counts: Float[Array, 'batch pool length']


def _compare(ids: Int[Array, 'batch pool pieces']) -> _Pieces:
  batch, pool, pieces = ids.shape
  flat = ids.reshape(batch, -1)
  following = jnp.pad(ids[..., 1:], ((0, 0), (0, 0), (0, 1)))
  following = following.reshape(flat.shape)
  real, pair = flat > 0, (flat > 0) & (following > 0)
  same = (flat[:, :, None] == flat[:, None]) & real[:, :, None]
  same_pair = same & (following[:, :, None] == following[:, None])
  same_pair &= pair[:, :, None] & pair[:, None]

  def counted(equal: Bool[Array, 'batch length length']) -> Array:
    return equal.reshape(batch, pool, pieces, -1).sum(2).astype(jnp.float32)

  counts = counted(same), counted(same_pair)
  return _Pieces(real, pair, same, same_pair, *counts)


def expected_hits(
  ids: Int[Array, 'batch pool pieces'],
  times: Float[Array, 'batch length times'],
  pairs: Float[Array, 'batch length'],
  sets: Float[Array, 'sets pool'],
) -> tuple[Float[Array, 'batch sets'], Float[Array, 'batch sets']]:
  """How many pieces, and pairs of them, sets are expected to share.

  Nothing is counted more often than it is expected; a pair counts once.

  Args:
    ids: the text.
    times, pairs: probabilities, as `Guess` has their logits.
    sets: 1 for the units of a set.
  """
  text = _compare(ids)
  found = jnp.einsum('sp,bpt->bst', sets, text.counts)
  once = _first(text.same, text.real)
  hits = jnp.zeros(found.shape[:2])
  for already in range(times.shape[-1]):
    more = jnp.clip(found - already, 0, 1)
    hits += jnp.einsum('bst,bt->bs', more, times[..., already] * once)
  found_pairs = jnp.einsum('sp,bpt->bst', sets, text.pair_counts)
  once_pairs = pairs * _first(text.same_pair, text.pair)
  pair_hits = jnp.einsum('bst,bt->bs', jnp.clip(found_pairs, 0, 1), once_pairs)
  return hits, pair_hits


def _first(
  same: Bool[Array, 'batch length length'], real: Bool[Array, 'batch length']
) -> Bool[Array, 'batch length']:
  """Where something stands for the first time."""
  return real & ~jnp.tril(same, -1).any(axis=-1)


def word_error(
  ids: Int[Array, 'batch pool pieces'],
  guess: Guess,
  reference: Int[Array, 'batch reference'],
) -> Float[Array, ' batch']:
  """Cross entropy of the guesses of a document, a mean over its pieces.

  Args:
    ids: the text.
    guess: of it.
    reference: pieces of the summary, 0 = no word, -1 = padding.
  """
  text = _compare(ids)
  flat = ids.reshape(len(ids), -1)
  word = (reference > 0)[:, None]
  here = (flat[..., None] == reference[:, None]) & word
  count = here.sum(axis=-1)
  next_here = jnp.pad(here[:, 1:, 1:], ((0, 0), (0, 1), (0, 1)))
  has_pair = (here & next_here).any(axis=-1)
  already = jnp.arange(guess.times.shape[-1])[None, None]
  wanted = count[..., None] > already
  errors = _cross_entropy(guess.times, wanted).sum(axis=-1)
  pair_errors = _cross_entropy(guess.pairs, has_pair)
  return _mean(errors, text.real) + _mean(pair_errors, text.pair)


def _cross_entropy(
  logits: Float[Array, '...'], wanted: Bool[Array, '...']
) -> Float[Array, '...']:
  return -jax.nn.log_sigmoid(jnp.where(wanted, logits, -logits))


def _mean(
  values: Float[Array, 'batch length'], real: Bool[Array, 'batch length']
) -> Float[Array, ' batch']:
  return jnp.where(real, values, 0).sum(1) / jnp.maximum(real.sum(1), 1)


class PlanWords(nn.Module):
  """Guesses the words of a summary, and what sets share with them."""

  width: int

  @nn.compact
  def __call__(
    self,
    text: PoolText,
    units: Float[Array, 'batch pool inputs'],
    document: Float[Array, 'batch embed'],
    sets: Float[Array, 'sets pool'],
    drop: nn.Module,
  ) -> tuple[Guess, Float[Array, 'batch sets features']]:
    """Guesses, and numbers of every set that follow from them.

    Args:
      text: of the units that sets are made of.
      units: what is known of each unit.
      document: what is known of the document.
      sets: 1 for the units of a set.
      drop: a layer of dropout.
    """
    states = self._read(text, units, document, drop)
    guess = Guess(
      self._guess_times(states, text.features, _compare(text.ids).same),
      self._guess_pairs(states),
    )
    times, pairs = nn.sigmoid(guess.times), nn.sigmoid(guess.pairs)
    hits, pair_hits = expected_hits(text.ids, times, pairs, sets)
    length = (text.ids > 0).sum(axis=-1).astype(jnp.float32)
    described = _describe(
      hits, pair_hits, jnp.einsum('sp,bp->bs', sets, length)
    )
    return guess, described

  def _read(
    self,
    text: PoolText,
    units: Float[Array, 'batch pool inputs'],
    document: Float[Array, 'batch embed'],
    drop: nn.Module,
  ) -> Float[Array, 'batch length width']:
    """A piece in its sentence, its unit and its document."""
    states = dense(drop(text.states), self.width, 'piece')
    states += dense(text.features, self.width, 'place')
    states += dense(units, self.width, 'unit')[:, :, None]
    states += dense(drop(document), self.width, 'document')[:, None, None]
    return nn.gelu(states).reshape(len(states), -1, self.width)

  def _guess_times(
    self,
    states: Float[Array, 'batch length width'],
    features: Float[Array, 'batch pool pieces features'],
    same: Bool[Array, 'batch length length'],
  ) -> Float[Array, 'batch length times']:
    """Places of the same piece are asked together."""
    equal = same.astype(jnp.float32)
    count = equal.sum(axis=-1, keepdims=True)
    mean = jnp.einsum('btu,buw->btw', equal, states) / jnp.maximum(count, 1)
    about = features.reshape(*states.shape[:2], -1)
    joined = jnp.concatenate([mean, about, jnp.log1p(count)], axis=-1)
    hidden = nn.gelu(dense(joined, self.width, 'word'))
    return dense(hidden, _TIMES, 'times')

  def _guess_pairs(
    self, states: Float[Array, 'batch length width']
  ) -> Float[Array, 'batch length']:
    # The last piece has no next one, and no pair is asked of it.
    both = jnp.concatenate([states, jnp.roll(states, -1, axis=1)], axis=-1)
    hidden = nn.gelu(dense(both, self.width, 'next'))
    return dense(hidden, 1, 'pairs')[..., 0]


def _describe(
  hits: Float[Array, 'batch sets'],
  pair_hits: Float[Array, 'batch sets'],
  length: Float[Array, 'batch sets'],
) -> Float[Array, 'batch sets features']:
  """Expected F1 and what it is made of, each about one in size."""
  both = length + _USUAL
  found = [
    10 * hits / both,
    10 * pair_hits / both,
    hits / 30,
    pair_hits / 15,
    length / 80,
    jnp.log1p(length) - 4,
  ]
  return jnp.stack(found, axis=-1)


def dense(
  inputs: Float[Array, '... inputs'], features: int, name: str
) -> Float[Array, '... features']:
  """A layer whose outputs are about as large as its inputs at first."""
  spread = inputs.shape[-1] ** -0.5
  return Dense((features,), ('embed', 'score'), stddev=spread, name=name)(
    inputs
  )
