"""What a whole plan is worth: which units make the best summary together.

A search adds one unit after another and never takes one back. Of a few units
that the model likes, all sets can be valued at once, by what the model has read
of them (in the spirit of Zhong et al., 2020) and by the words that a summary
should have (`PlanWords`); the search then orders the best.
"""

import dataclasses
import functools
import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.models._batch import Spans, take
from stepwise.models._plan_words import (
  Guess,
  PlanWords,
  PoolText,
  dense,
  word_error,
)

# Differences of ROUGE between sets are a few hundredths: too small to learn.
_SCALE = 20.0


@dataclasses.dataclass(frozen=True)
class PlanValueConfig:
  """Sizes.

  Attributes:
    width: of its hidden states.
    pool: units that sets are made of, those that the model likes most.
    sizes: units of a set.
    weight: of a set's error, beside the loss of a step, where the model learns
      both (`stepwise data build --reference`).
    pieces: of a unit whose words are guessed; 0 = no words are.
  """

  width: int = 128
  pool: int = 8
  sizes: tuple[int, ...] = (2, 3, 4)
  weight: float = 4.0
  pieces: int = 0

  def __post_init__(self) -> None:
    if self.pieces < 0:
      raise InputError(f'pieces is {self.pieces}; 0 or more are possible.')
    if not self.sizes or not 0 < min(self.sizes) <= max(self.sizes) < self.pool:
      raise InputError(
        f'sizes of sets are {self.sizes}: from 1 to below {self.pool}, the pool'
        ' that they are drawn from, are possible.'
      )


@functools.cache
def unit_sets(config: PlanValueConfig) -> Bool[np.ndarray, 'sets pool']:
  """Which units of the pool each set has.

  >>> unit_sets(PlanValueConfig(pool=3, sizes=(2,))).astype(int).tolist()
  [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
  """
  chosen = [
    members
    for size in config.sizes
    for members in itertools.combinations(range(config.pool), size)
  ]
  sets = np.zeros((len(chosen), config.pool), bool)
  for row, members in zip(sets, chosen, strict=True):
    row[list(members)] = True
  return sets


class Pool(NamedTuple):
  """The units of documents that sets are made of, and how the model sees them.

  Attributes:
    units: in the order of the document.
    real: False where a document has fewer.
    states: of each unit, before and after reading the document.
    features: numbers of each unit, see `_features`.
    document: means of the states over the document.
    text: their pieces, for a value that guesses words.
  """

  units: Int[Array, 'batch pool']
  real: Bool[Array, 'batch pool']
  states: Float[Array, 'batch pool embed']
  features: Float[Array, 'batch pool features']
  document: Float[Array, 'batch embed']
  text: PoolText | None = None


def pool_units(
  config: PlanValueConfig,
  states: Float[Array, 'batch units embed'],
  logits: Float[Array, 'batch units'],
  lengths: Int[Array, 'batch units'],
  valid: Bool[Array, 'batch units'],
  may: Bool[Array, 'batch units'],
  first: int,
) -> Pool:
  """The units that the model likes most.

  Args:
    config: how many.
    states: of all units.
    logits: of the first step.
    lengths: tokens of every unit.
    valid: the real units.
    may: those that may be in a set.
    first: the first unit of the document; those before are special.
  """
  count = min(config.pool, may.shape[1])
  valid &= jnp.arange(valid.shape[1])[None] >= first
  may &= valid
  liking = jnp.where(may, logits.astype(jnp.float32), -jnp.inf)
  _, units = jax.lax.top_k(liking, count)
  units = jnp.sort(units, axis=1)
  # Not -inf: a row of padding has no unit at all, and must stay a number.
  least = jnp.finfo(jnp.float32).min
  log_probs = jax.nn.log_softmax(jnp.where(valid, logits, least), axis=1)
  # A value is told of the liking, and must not change it.
  features = jax.lax.stop_gradient(
    _features(take(log_probs, units), take(lengths, units), units, first)
  )
  wide = states.astype(jnp.float32)
  total = jnp.sum(jnp.where(valid[..., None], wide, 0), axis=1)
  document = total / jnp.maximum(valid.sum(axis=1, keepdims=True), 1)
  pool = Pool(units, take(may, units), take(wide, units), features, document)
  return _filled(pool, config.pool - count)


def _features(
  log_probs: Float[Array, 'batch pool'],
  lengths: Int[Array, 'batch pool'],
  units: Int[Array, 'batch pool'],
  first: int,
) -> Float[Array, 'batch pool features']:
  """Liking, length and place of units, each about one in size."""
  place = units - first
  found = [
    jnp.clip(log_probs, -12, 0) / 3,
    lengths / 30,
    place / 20,
    place == 0,
    place < 3,
  ]
  return jnp.stack([part.astype(jnp.float32) for part in found], axis=-1)


def _filled(pool: Pool, missing: int) -> Pool:
  """With slots that are not real, as short documents need them."""
  document = pool.document
  slots = jax.tree.map(
    lambda x: jnp.pad(x, [(0, 0), (0, missing), *[(0, 0)] * (x.ndim - 2)]),
    pool._replace(document=document[:, None]),
  )
  return slots._replace(document=document)


def pool_spans(pool: Pool, spans: Spans) -> Spans:
  """Where the units of a pool stand; those that are not real have no length."""
  length = jnp.where(pool.real, take(spans.length, pool.units), 0)
  return Spans(take(spans.start, pool.units), length)


class Judgement(NamedTuple):
  """What is thought of the sets of documents.

  Attributes:
    values: of two sets of a document the higher one is better.
    guess: of the words of its summary, where these are guessed.
  """

  values: Float[Array, 'batch sets']
  guess: Guess | None = None


class PlanValue(nn.Module):
  """A number for every set; of two sets the higher one is better.

  It is learnt as ROUGE of the set minus the mean over all sets of a document.
  """

  config: PlanValueConfig

  @nn.compact
  def __call__(
    self, pool: Pool, deterministic: bool = True, dropout: float = 0.0
  ) -> Judgement:
    width = self.config.width
    sets = jnp.asarray(unit_sets(self.config), jnp.float32)
    drop = nn.Dropout(dropout, deterministic=deterministic)
    read = jnp.concatenate([drop(pool.states), pool.features], axis=-1)
    states = nn.gelu(dense(read, width, 'read'))
    states += self._attend(states, pool.real)
    states = nn.gelu(dense(drop(states), width, 'unit'))
    together = jnp.einsum('sp,bpd->bsd', sets, states)
    about = dense(drop(pool.document), width, 'document')
    described = jnp.einsum('sp,bpf->bsf', sets, pool.features)
    size = jnp.broadcast_to(
      sets.sum(-1)[None, :, None] / 3, together[..., :1].shape
    )
    known = [together, together * about[:, None], described, size]
    values, guess = self._pairs(states, sets), None
    if self.config.pieces:
      assert pool.text is not None, 'PlanValueConfig.pieces'
      guess, words = PlanWords(width, name='words')(
        pool.text, read, pool.document, sets, drop
      )
      known.append(words)
      values += dense(words, 1, 'expected')[..., 0]
    hidden = nn.gelu(dense(jnp.concatenate(known, axis=-1), width, 'set'))
    return Judgement(values + dense(hidden, 1, 'value')[..., 0], guess)

  def _attend(
    self,
    states: Float[Array, 'batch pool width'],
    real: Bool[Array, 'batch pool'],
  ) -> Float[Array, 'batch pool width']:
    width = self.config.width
    query, key, value = (
      dense(states, width, name) for name in ('query', 'key', 'content')
    )
    scores = jnp.einsum('bpd,bqd->bpq', query, key) * width**-0.5
    scores = jnp.where(real[:, None], scores, jnp.finfo(scores.dtype).min)
    return jnp.einsum('bpq,bqd->bpd', nn.softmax(scores), value)

  def _pairs(
    self,
    states: Float[Array, 'batch pool width'],
    sets: Float[Array, 'sets pool'],
  ) -> Float[Array, 'batch sets']:
    """What two units are worth together, such as nothing if they repeat."""
    left, right = (
      dense(states, self.config.width // 4, name) for name in ('left', 'right')
    )
    pairs = jnp.einsum('bpd,bqd->bpq', left, right)
    pairs *= 1 - jnp.eye(sets.shape[1])[None]
    return jnp.einsum('sp,bpq,sq->bs', sets, pairs, sets) / 10


def judgement_error(
  judged: Judgement,
  pool: Pool,
  rouge: Float[Array, 'batch sets'],
  known: Bool[Array, 'batch sets'],
  reference: Int[Array, 'batch pieces'],
) -> Float[Array, '']:
  """Sum over documents of the mean error of values, and that of words.

  Args:
    judged: the sets of the pool.
    pool: what was judged.
    rouge: of the sets.
    known: of which sets it is.
    reference: pieces of the summaries, 0 = no word, -1 = padding.
  """
  count = jnp.maximum(known.sum(axis=1), 1)
  error = (value_errors(judged.values, rouge, known) / count).sum()
  if judged.guess is None or pool.text is None:
    return error
  words = word_error(pool.text.ids, judged.guess, reference)
  return error + jnp.where(known.any(axis=1), words, 0).sum()


def value_errors(
  values: Float[Array, 'batch sets'],
  rouge: Float[Array, 'batch sets'],
  known: Bool[Array, 'batch sets'],
) -> Float[Array, ' batch']:
  """Sums of the squared errors of differences between the sets of a document.

  How good all of them are is not asked for: a choice does not depend on it.
  """
  wanted = jnp.where(known, rouge, 0) * _SCALE
  errors = _centred(values, known) - _centred(wanted, known)
  return jnp.sum(errors**2, axis=1)


def _centred(
  values: Float[Array, 'batch sets'], known: Bool[Array, 'batch sets']
) -> Float[Array, 'batch sets']:
  count = jnp.maximum(known.sum(axis=1, keepdims=True), 1)
  mean = jnp.where(known, values, 0).sum(axis=1, keepdims=True) / count
  return jnp.where(known, values - mean, 0)
