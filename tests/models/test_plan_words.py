"""Guessed words of summaries: what sets are expected to share with them."""

import collections
import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.models import (
  Guess,
  HiBERTConfig,
  PlanValue,
  PlanValueConfig,
  Pool,
  PoolText,
  expected_hits,
  unit_sets,
  word_error,
)
from stepwise.models._batch import unit_spans
from stepwise.models._plan_words import pool_text
from stepwise.training import ValuedPools, ValueTraining, fit_plan_value
from tests.models.test_hibert import SMALL, WINDOWED

CONFIG = PlanValueConfig(width=16, pool=5, sizes=(1, 2, 3), pieces=6)
SETS = unit_sets(CONFIG)


def draw_texts(rng, documents=1, vocab=11):
  """Ids of every unit, its first ones real, and of a summary."""
  shape = (documents, CONFIG.pool, CONFIG.pieces)
  ids = rng.integers(1, vocab, shape)
  lengths = rng.integers(1, CONFIG.pieces + 1, shape[:2])
  ids = np.where(np.arange(CONFIG.pieces) < lengths[..., None], ids, 0)
  return ids, rng.integers(0, vocab, (documents, 13))


def known_words(ids, reference):
  """What is known of the pieces once the summary is: a certain guess."""
  flat = ids.reshape(-1)
  has = collections.Counter(int(r) for r in reference if r > 0)
  pairs = {(int(a), int(b)) for a, b in itertools.pairwise(reference) if a > 0}
  times = np.array([[has[int(i)] > n for n in range(3)] for i in flat])
  following = np.pad(ids[:, 1:], ((0, 0), (0, 1))).reshape(-1)
  both = [
    (int(a), int(b)) in pairs and b > 0
    for a, b in zip(flat, following, strict=True)
  ]
  return times, np.array(both)


def plain_hits(ids, reference, members):
  """Pieces at most three times each, pairs once."""
  texts = [[int(i) for i in unit if i > 0] for unit in ids[members]]
  found = collections.Counter(i for text in texts for i in text)
  has = collections.Counter(int(r) for r in reference if r > 0)
  hits = sum(min(count, has[item], 3) for item, count in found.items())
  mine = {pair for text in texts for pair in itertools.pairwise(text)}
  wanted = {
    (int(a), int(b))
    for a, b in itertools.pairwise(reference)
    if a > 0 and b > 0
  }
  return hits, len(mine & wanted)


@pytest.mark.parametrize('seed', range(5))
def test_who_knows_the_summary_expects_what_sets_share_with_it(seed):
  (ids,), (reference,) = draw_texts(np.random.default_rng(seed))
  times, pairs = known_words(ids, reference)
  found = expected_hits(
    jnp.asarray(ids)[None],
    jnp.asarray(times, jnp.float32)[None],
    jnp.asarray(pairs, jnp.float32)[None],
    jnp.asarray(SETS, jnp.float32),
  )
  wanted = [plain_hits(ids, reference, members) for members in SETS]
  np.testing.assert_allclose(np.stack(found)[:, 0].T, wanted, rtol=1e-6)


def test_the_error_is_least_where_the_summary_is_known():
  """And equals a cross entropy that is counted place by place."""
  ids, reference = draw_texts(np.random.default_rng(1), documents=3)
  known = [known_words(*row) for row in zip(ids, reference, strict=True)]
  sure = [
    np.where(np.stack(part), 9.0, -9.0) for part in zip(*known, strict=True)
  ]
  rng = np.random.default_rng(2)
  vague = [rng.normal(size=part.shape) for part in sure]

  def error(guess):
    return word_error(
      jnp.asarray(ids), Guess(*map(jnp.asarray, guess)), jnp.asarray(reference)
    )

  assert np.all(error(sure) < 0.01)
  wanted = np.zeros(3)
  for row, (times, pairs) in enumerate(known):
    real = (ids[row] > 0).reshape(-1)
    both = (ids[row] > 0) & np.pad(ids[row, :, 1:] > 0, ((0, 0), (0, 1)))
    for part, truth, places in (
      (vague[0][row], times, real),
      (vague[1][row], pairs, both.reshape(-1)),
    ):
      losses = np.log1p(np.exp(np.where(truth, -part, part)))
      wanted[row] += losses[places].sum() / max(places.sum(), 1)
  np.testing.assert_allclose(error(vague), wanted, rtol=1e-5)
  # Padding of summaries is no word.
  padded = np.pad(reference, ((0, 0), (0, 2)), constant_values=-1)
  again = word_error(
    jnp.asarray(ids), Guess(*map(jnp.asarray, vague)), jnp.asarray(padded)
  )
  np.testing.assert_allclose(again, wanted, rtol=1e-5)


def test_the_text_of_units_and_where_else_it_stands():
  tokens = jnp.array([[1, 2, 7, 8, 7, 9, 5, 7, 0]])
  unit_ids = jnp.array([[0, 1, 2, 2, 2, 2, 3, 4, -1]])
  states = jnp.arange(9.0)[None, :, None]
  spans = jax.tree.map(lambda x: x[:, 2:5], unit_spans(unit_ids, 5))
  spans = spans._replace(length=spans.length * jnp.array([[1, 0, 1]]))
  text = pool_text(tokens, unit_ids, states, spans, 3, 2)
  # Three pieces of a unit at most; a unit that is not real has none.
  assert text.ids[0].tolist() == [[7, 8, 7], [0, 0, 0], [7, 0, 0]]
  assert text.states[0, ..., 0].tolist() == [[2, 3, 4], [0, 0, 0], [7, 0, 0]]
  count, place, early = np.moveaxis(np.asarray(text.features[0]), -1, 0)
  np.testing.assert_allclose(np.expm1(count)[0], [3, 1, 3], rtol=1e-6)
  np.testing.assert_allclose(place[[0, 2], 0], [0, 0])
  assert early[0].tolist() == [1, 1, 1]
  assert not np.asarray(text.features)[0, 1].any()


def make_pools(rng, documents, vocab=23):
  """Summaries have the pieces whose ids are even: only the text tells."""
  ids, _ = draw_texts(rng, documents, vocab)
  states = np.where(ids % 2, -1.0, 1.0)[..., None] * (ids > 0)[..., None]
  states = np.concatenate([states, rng.normal(size=states.shape)], axis=-1)
  reference = np.tile(np.arange(2, vocab, 2), (documents, 1))
  # Places of a summary are apart: it has no pairs.
  reference = np.stack([reference, 0 * reference], -1).reshape(documents, -1)
  hits = np.array(
    [
      [plain_hits(text, row, members)[0] for members in SETS]
      for text, row in zip(ids, reference, strict=True)
    ]
  )
  sizes = np.einsum('sp,np->ns', SETS, (ids > 0).sum(-1))
  pool = Pool(
    np.tile(np.arange(CONFIG.pool) + 2, (documents, 1)),
    np.ones(ids.shape[:2], bool),
    np.zeros((*ids.shape[:2], 3), np.float32),
    np.zeros((*ids.shape[:2], 5), np.float32),
    np.zeros((documents, 3), np.float32),
    PoolText(
      ids.astype(np.int32),
      states.astype(np.float32),
      np.zeros((*ids.shape, 3), np.float32),
    ),
  )
  rouge = (2 * hits / (sizes + 11)).astype(np.float32)
  pools = ValuedPools(pool, rouge, reference.astype(np.int32))
  return jax.tree.map(jnp.asarray, pools)


def test_sets_are_told_apart_by_their_words_alone():
  rng = np.random.default_rng(4)
  pools, others = make_pools(rng, 600), make_pools(rng, 100)
  training = ValueTraining(epochs=10, dropout=0.0, learning_rate=1e-2)

  def lost(config):
    params = fit_plan_value(config, pools, training)
    judged = PlanValue(config).apply({'params': params}, others.pool)
    values, rouge = np.asarray(judged.values), np.asarray(others.rouge)
    chosen = np.take_along_axis(rouge, values.argmax(1)[:, None], axis=1)[:, 0]
    possible = rouge.max(1) - rouge.mean(1)
    return (rouge.max(1) - chosen).mean() / possible.mean()

  assert lost(CONFIG) < 0.15
  # What a unit is is not known without its words.
  assert lost(dataclasses.replace(CONFIG, pieces=0)) > 0.5


def test_words_are_guessed_in_running_text():
  words = PlanValueConfig(pieces=4)
  with pytest.raises(InputError, match=r'words are guessed in running text'):
    dataclasses.replace(SMALL, plan_value=words)
  assert dataclasses.replace(WINDOWED, plan_value=words).guesses_words
  # A value that is made for a model guesses words if the model can.
  valued: list[HiBERTConfig] = [SMALL.with_value(), WINDOWED.with_value()]
  assert [config.guesses_words for config in valued] == [False, True]
  with pytest.raises(InputError, match='pieces is -1; 0 or more'):
    PlanValueConfig(pieces=-1)
