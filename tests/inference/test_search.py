"""Searches without steps against a loop over the ranking; drawn plans."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise.decoding import DecodeConfig
from stepwise.inference import Reader, document_order, no_repeats, search

BATCH, UNITS, K = 3, 11, 5


@functools.partial(jax.jit, static_argnames='k')
def select(logits, valid, k, overlap=None):
  """The best units, as a model that is not stepwise takes them."""
  single = jnp.where(valid, jax.nn.log_sigmoid(logits), -jnp.inf)
  reader = Reader(lambda logits, plan: logits, logits, single=single)
  constraints = no_repeats(valid, overlap)
  config = DecodeConfig(max_units=k, min_units=0)
  return document_order(search(reader, valid, config, constraints).plans[:, 0])


def ranked(logits, valid, k, overlap):
  """Walks down the ranking, as BERTSum does, and sorts what it took."""
  ranking = sorted(np.flatnonzero(valid), key=lambda unit: -logits[unit])
  taken = []
  for unit in ranking:
    if len(taken) < k and not any(overlap[unit, other] for other in taken):
      taken.append(int(unit))
  return sorted(taken) + [-1] * (k - len(taken))


@pytest.mark.parametrize('blocking', [False, True])
@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_equals_a_walk_down_the_ranking(blocking, seed):
  rng = np.random.default_rng(seed)
  # Few distinct values, so that ties occur.
  logits = rng.integers(-4, 5, size=(BATCH, UNITS)).astype(np.float32)
  valid = rng.random((BATCH, UNITS)) < 0.7
  overlap = rng.random((BATCH, UNITS, UNITS)) < 0.2 * blocking
  overlap |= overlap.transpose(0, 2, 1)
  given = jnp.asarray(overlap) if blocking else None
  selected = select(jnp.asarray(logits), jnp.asarray(valid), K, given)
  for row in range(BATCH):
    expected = ranked(logits[row], valid[row], K, overlap[row])
    assert selected[row].tolist() == expected


def test_document_order_and_fewer_units_than_k():
  logits = jnp.array([[0.1, 0.9, 0.5, 0.7]])
  valid = jnp.array([[True, True, True, False]])
  assert select(logits, valid, 2).tolist() == [[1, 2]]
  assert select(logits, valid, 5).tolist() == [[0, 1, 2, -1, -1]]


def test_nan_and_minus_infinity_are_never_selected():
  logits = jnp.array([[jnp.nan, 0.9, -jnp.inf, 0.7]])
  assert select(logits, jnp.ones((1, 4), bool), 4).tolist() == [[1, 3, -1, -1]]
