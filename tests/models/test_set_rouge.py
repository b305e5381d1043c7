"""ROUGE of sets equals a plain count with dictionaries."""

import collections
import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise.models import PlanValueConfig, unit_sets
from stepwise.models._set_rouge import set_rouge

CONFIG = PlanValueConfig(pool=5, sizes=(1, 2, 3))


def draw(seed: int, vocab: int = 11, units: int = 7):
  rng = np.random.default_rng(seed)
  lengths = rng.integers(1, 6, units)
  unit_ids = np.repeat(np.arange(units), lengths)
  tokens = rng.integers(1, vocab, len(unit_ids))
  reference = rng.integers(0, vocab, 13)
  pool = np.sort(rng.choice(units, CONFIG.pool, replace=False))
  return tokens, unit_ids, reference, pool


def plain_f1(found, wanted, given, size) -> float:
  hits = sum(min(count, found[item]) for item, count in wanted.items())
  return 2 * hits / max(given + size, 1)


def plain_score(tokens, unit_ids, reference, chosen) -> float:
  texts = [tokens[unit_ids == unit] for unit in chosen]
  pieces = collections.Counter(int(t) for text in texts for t in text)
  pairs = collections.Counter(
    (int(a), int(b)) for text in texts for a, b in itertools.pairwise(text)
  )
  wanted = collections.Counter(int(r) for r in reference if r > 0)
  wanted_pairs = collections.Counter(
    (int(a), int(b))
    for a, b in itertools.pairwise(reference)
    if a > 0 and b > 0
  )
  given, size = sum(map(len, texts)), len(reference)
  return (
    2 * plain_f1(pieces, wanted, given, size)
    + plain_f1(pairs, wanted_pairs, given - 1, size - 1)
  ) / 3


@pytest.mark.parametrize('seed', range(5))
def test_equals_a_count_with_dictionaries(seed):
  tokens, unit_ids, reference, pool = draw(seed)
  sets = unit_sets(CONFIG)
  # Padding of documents and of references never counts.
  found = set_rouge(
    jnp.asarray([[*tokens, 0, 0, 0]]),
    jnp.asarray([[*unit_ids, -1, -1, -1]]),
    jnp.asarray([[*reference, -1, -1]]),
    jnp.asarray([pool]),
    jnp.asarray(sets),
  )
  wanted = [
    plain_score(tokens, unit_ids, reference, pool[members]) for members in sets
  ]
  np.testing.assert_allclose(found[0], wanted, rtol=1e-5)


def test_a_copy_of_the_reference_is_worth_most():
  found = set_rouge(
    jnp.asarray([[5, 6, 7, 8, 5, 9]]),
    jnp.asarray([[0, 0, 0, 1, 1, 1]]),
    jnp.asarray([[5, 6, 7]]),
    jnp.asarray([[0, 1]]),
    jnp.asarray([[True, False], [False, True]]),
  )
  np.testing.assert_allclose(found[0], [1.0, 2 / 9], rtol=1e-6)
