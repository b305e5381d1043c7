"""Searching with real models: batches, buckets, caches, mistakes."""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.data import Buckets, batches, pad_batch, restore_order
from stepwise.decoding import DecodeConfig, beam_search, check_result
from stepwise.inference import decode, longest_unit, no_repeats
from stepwise.models import (
  BEG,
  EOT,
  NEWS_DECODING,
  Batch,
  ETCSum,
)
from stepwise.models._etcsum import assemble
from tests.layers.parameters import quick_jit
from tests.models.documents import make_batch, random_record
from tests.models.tiny_models import CONFIGS, KINDS, RECORDS, drawn

BUCKETS = Buckets(lengths=(13, 40), units=(12,))


@functools.cache
def searcher(kind):
  """A compiled search, its variables, and a list of its traces."""
  _, variables = drawn(kind)
  traces = []

  def search(variables, batch):
    traces.append(batch.tokens.shape)
    return decode(CONFIGS[kind], variables, batch)

  return quick_jit(search), variables, traces


def search(kind, batch):
  run, variables, _ = searcher(kind)
  return jax.tree.map(np.asarray, run(variables, batch))


def in_bucket(record):
  length, units = BUCKETS.bucket(
    len(record['tokens']), int(record['unit_ids'][-1]) + 1
  )
  return make_batch([record], length=length, units=units)


def assert_same(result, row, other):
  """The first row of `other` is the same search as `row` of `result`."""
  np.testing.assert_array_equal(result.plans[row], other.plans[0])
  np.testing.assert_allclose(result.scores[row], other.scores[0], atol=1e-4)
  np.testing.assert_array_equal(result.stopped[row], other.stopped[0])


@pytest.mark.parametrize('kind', KINDS)
def test_batched_equals_one_by_one_in_any_bucket(kind):
  together = search(kind, make_batch(RECORDS, batch=4))
  for row, record in enumerate(RECORDS):
    assert_same(together, row, search(kind, in_bucket(record)))
  assert (together.plans[3] == -1).all()
  assert together.scores[3, 0] == 0
  assert np.isfinite(together.scores[:3, 0]).all()
  assert len(set(map(tuple, together.plans[:3, 0].tolist()))) > 1


@pytest.mark.parametrize('kind', KINDS)
def test_steady_state_compiles_nothing(kind):
  rng = np.random.default_rng(2)
  records = [
    random_record(rng, rng.integers(2, 6), max_tokens=3) for _ in range(23)
  ]
  *_, traces = searcher(kind)

  def stream(records):
    outputs = []
    for batch in batches(records, BUCKETS, steps=4, batch_size=1):
      plans = search(kind, Batch.of(batch.arrays)).plans[:, 0]
      outputs.append((batch.index, plans.tolist()))
    return restore_order(outputs)

  first = stream(records)
  warm = len(traces)
  assert stream(records[::-1])[::-1] == first
  assert len(traces) == warm


class WithoutCache(nn.Module):
  """A model that remembers the document only and encodes it at every step."""

  model: nn.Module

  def encode(self, batch, deterministic=True):
    return batch

  def score(self, memory, plan, deterministic=True):
    return self.model.score(self.model.encode(memory), plan)


def test_hibert_with_its_cache_equals_without():
  model, variables = drawn('hibert')
  batch = make_batch(RECORDS)
  inner = {'params': {'model': variables['params']}}
  plain = quick_jit(
    functools.partial(decode, CONFIGS['hibert'], module=WithoutCache(model))
  )(inner, batch)
  cached = search('hibert', batch)
  np.testing.assert_array_equal(cached.plans, plain.plans)
  np.testing.assert_allclose(cached.scores, plain.scores, atol=1e-5)
  np.testing.assert_allclose(cached.ranking, plain.ranking, atol=1e-4)


class Reporting(nn.Module):
  """Tells, while the program runs, when a document is encoded or scored."""

  report: Callable

  def encode(self, batch, deterministic=True):
    jax.debug.callback(self.report, 'encode')
    return batch.valid

  def score(self, memory, plan, deterministic=True):
    jax.debug.callback(self.report, (plan >= 0).sum())
    units = jnp.arange(memory.shape[1], dtype=jnp.float32)
    return jnp.broadcast_to(-units / 3, memory.shape)


@pytest.mark.parametrize('stages', [1, 2, 3])
def test_the_first_step_runs_once_per_document(stages):
  reports = []

  def report(what):
    reports.append(what if isinstance(what, str) else int(what))

  config = dataclasses.replace(NEWS_DECODING, min_units=4, stages=stages)
  run = functools.partial(
    decode, CONFIGS['hibert'], {}, config=config, module=Reporting(report)
  )
  quick_jit(run)(make_batch(RECORDS[1:2]))
  jax.effects_barrier()
  assert reports.count('encode') == 1
  scored = [size for size in reports if size != 'encode']
  # One plan at the first step, then three beams at each of three steps.
  assert sorted(scored) == [0, *[1] * 3, *[2] * 3, *[3] * 3]


@pytest.mark.parametrize('stages', [1, 3])
def test_room_for_the_summary_changes_no_score(stages):
  batch, model = make_batch(RECORDS, batch=4), CONFIGS['etcsum']
  longest = max(np.bincount(r['unit_ids']).max() for r in RECORDS)
  fitted = model.build_for(int(longest))
  assert (model.build().unit_tokens, fitted.unit_tokens) == (None, 4)
  config = dataclasses.replace(NEWS_DECODING, stages=stages)
  wide, (_, variables) = search('etcsum', batch), drawn('etcsum')
  narrow = quick_jit(
    functools.partial(decode, model, config=config, module=fitted)
  )(variables, batch)
  np.testing.assert_array_equal(wide.plans, narrow.plans)
  np.testing.assert_allclose(wide.scores, narrow.scores, atol=1e-5)


def test_room_grows_with_the_slots_of_the_plan():
  config, batch = CONFIGS['etcsum'], make_batch(RECORDS)
  memory = ETCSum(config).bind({}).encode(batch)

  def summary_room(slots, unit_tokens):
    plan = jnp.full((3, slots), -1, jnp.int32)
    inputs = jax.eval_shape(
      lambda plan: assemble(memory, plan, config, unit_tokens), plan
    )
    # CLS, SEP and SEP.
    return inputs.tokens.shape[1] - batch.tokens.shape[1] - 3

  assert [summary_room(slots, 4) for slots in (0, 1, 4)] == [1, 5, 17]
  # Never more than the model has, which is the rule without a bound.
  assert summary_room(9, 4) == summary_room(1, None) == 25


def test_only_etcsum_has_room_for_summaries():
  assert CONFIGS['hibert'].build_for(16) == CONFIGS['hibert'].build()


def test_the_longest_unit_is_rounded_up():
  lengths = [longest_unit(np.zeros((1, size), int)) for size in (1, 16, 17)]
  assert lengths == [16, 16, 32]
  assert longest_unit(np.full((2, 3), -1)) == 16


@pytest.mark.parametrize('kind', KINDS)
def test_stages_change_no_result(kind):
  """Every model takes plans of any number of slots, none included."""
  _, variables = drawn(kind)
  config = dataclasses.replace(NEWS_DECODING, stages=3)
  batch = make_batch(RECORDS, batch=4)
  staged = quick_jit(functools.partial(decode, CONFIGS[kind], config=config))(
    variables, batch
  )
  whole = search(kind, batch)
  np.testing.assert_array_equal(whole.plans, staged.plans)
  np.testing.assert_allclose(whole.scores, staged.scores, atol=1e-5)


def test_a_beam_wider_than_the_candidates():
  """Two units: all four plans that end, and beams that hold nothing."""
  model, (_, variables) = CONFIGS['hibert'], drawn('hibert')
  config = dataclasses.replace(NEWS_DECODING, beam_size=7)
  batch = make_batch([random_record(np.random.default_rng(1), 2)])
  result = quick_jit(functools.partial(decode, model, config=config))(
    variables, batch
  )
  ended = result.scores[0] > -np.inf
  assert ended.tolist() == [True] * 4 + [False] * 3
  found = {tuple(plan) for plan in result.plans[0, :4].tolist()}
  assert found == {
    (2, -1, -1, -1),
    (3, -1, -1, -1),
    (2, 3, -1, -1),
    (3, 2, -1, -1),
  }
  probability = np.exp(result.scores[0, :4]).sum()
  assert 0 < probability < 1


@pytest.mark.parametrize('kind', KINDS)
def test_broken_weights_are_reported(kind):
  _, variables, _ = searcher(kind)
  broken = jax.tree.map(lambda leaf: leaf * jnp.nan, variables)
  run, *_ = searcher(kind)
  result = run(broken, make_batch(RECORDS, batch=4))
  assert result.broken.tolist() == [True] * 3 + [False]
  with pytest.raises(InputError, match='logits of document 0'):
    check_result(result)


def test_a_unit_without_tokens_can_be_scored_or_not():
  """ETCSum and BERTSum cannot choose it, HiBERT reads its delimiter."""
  record = {
    'tokens': np.array([10, 11, 30, 31, 32], np.int32),
    'unit_ids': np.array([0, 1, 2, 4, 4]),  # Unit 3 has no tokens.
  }
  for kind in KINDS:
    result = search(kind, in_bucket(record))
    assert not result.broken.any()
    ranking = result.ranking[0, 0, 0]
    assert np.isfinite(ranking[[EOT, 2, 4]]).all()
    assert np.isfinite(ranking[3]) == (kind == 'hibert')
    assert ranking[BEG] == -np.inf


@pytest.mark.parametrize('kind', KINDS)
def test_documents_without_units(kind):
  """A row without units has an empty plan; a batch without any is an error."""
  _, variables = drawn(kind)
  empty = pad_batch([], length=5, units=0, steps=4, batch=2)
  with pytest.raises(InputError, match='the batch has no units'):
    decode(CONFIGS[kind], variables, Batch.of(empty))


def test_plans_that_name_units_which_do_not_exist():
  record = RECORDS[0] | {'plan': [9]}
  with pytest.raises(InputError, match='plan has unit 9 but the record has 5'):
    make_batch([record])
  batch = make_batch(RECORDS[:1])
  with pytest.raises(InputError, match='plan has unit 9 but units are 0 to 4'):
    beam_search(
      lambda memory, plan: memory,
      jnp.zeros(batch.valid.shape),
      batch.valid,
      NEWS_DECODING,
      plan=jnp.array([[9, -1, -1, -1]]),
      constraints=no_repeats(batch.valid),
    )


def test_units_that_the_batch_does_not_have():
  model, (_, variables) = CONFIGS['robertasum'], drawn('robertasum')
  config = DecodeConfig(max_units=2, stop_unit=30, never=(BEG,))
  with pytest.raises(InputError, match='name unit 30 but valid has 5 units'):
    decode(model, variables, make_batch(RECORDS[:1]), config)
