"""BERTSum on the device equals a plain Python assembly of its input."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.layers import TransformerEncoder
from stepwise.models import BERTSum, BERTSumConfig, find_config
from stepwise.models._bertsum import BERTSumMemory, flatten_units
from tests.layers.parameters import draw, run
from tests.models.documents import make_batch, plans, random_record
from tests.models.tiny_models import CONFIGS

CONFIG = CONFIGS['robertasum']
assert isinstance(CONFIG, BERTSumConfig)
SLOTS = CONFIG.encoder.positions
SIZES = {'length': 71, 'units': 16, 'steps': 5}


def plain_input(record, plan, config):
  """Tokens and where each kept unit begins, for one document."""
  unit_ids = record['unit_ids']
  framed = [
    [config.cls, *record['tokens'][unit_ids == unit], config.sep]
    for unit in range(unit_ids.max() + 1)
  ]
  slots = config.encoder.positions
  chosen = [] if config.begin_unit is None else [config.begin_unit, *plan]
  summary = fitting([framed[unit] for unit in chosen], slots)
  document = fitting(framed, slots - sum(map(len, summary)))
  starts = np.cumsum([0, *map(len, document)])[:-1]
  return [token for unit in document + summary for token in unit], starts


def fitting(units, room):
  kept = []
  for unit in units:
    room -= len(unit)
    if room < 0:
      break
    kept.append(unit)
  return kept


def plain_logits(record, plan, config, params):
  tokens, starts = plain_input(record, plan, config)
  slots = config.encoder.positions
  padded = np.pad(tokens, (0, slots - len(tokens)), constant_values=17)
  states = run(
    TransformerEncoder(config.encoder),
    {'params': params['encoder']},
    jnp.asarray(padded)[None],
    jnp.arange(slots)[None] < len(tokens),
  )
  dense = params['scorer']['dense']
  vectors = np.asarray(states)[0, starts]
  return vectors @ np.asarray(dense['kernel'])[:, 0] + np.asarray(dense['bias'])


def logits(model, variables, batch, plan):
  memory = run(model, variables, batch, method='encode')
  return np.asarray(run(model, variables, memory, plan, method='score'))


def assert_kept(ours, theirs):
  np.testing.assert_allclose(ours[: len(theirs)], theirs, atol=2e-5)
  assert (ours[len(theirs) :] == -np.inf).all()


@st.composite
def cases(draw):
  """Documents of up to 71 tokens: with their frames often too long."""
  rng = np.random.default_rng(draw(st.integers(0, 2**31)))
  record = random_record(rng, draw(st.integers(1, 14)), max_tokens=5)
  last = int(record['unit_ids'].max())
  return record, draw(st.lists(st.integers(0, last), max_size=5))


@pytest.fixture(scope='module')
def stepwise_model():
  model = BERTSum(CONFIG)
  return model, draw(model, make_batch([random_record(RNG, 3)]))


RNG = np.random.default_rng(0)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(case=cases())
def test_scores_equal_a_plain_assembly(stepwise_model, case):
  record, plan = case
  model, variables = stepwise_model
  batch = make_batch([record], **SIZES)
  ours = logits(model, variables, batch, plans(plan, steps=5))[0]
  assert_kept(ours, plain_logits(record, plan, CONFIG, variables['params']))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(case=cases())
def test_the_twin_reads_the_document_only(stepwise_model, case):
  record, _ = case
  config, (_, variables) = CONFIG.twin(), stepwise_model
  batch = make_batch([record], **SIZES)
  ours = logits(BERTSum(config), variables, batch, None)[0]
  assert_kept(ours, plain_logits(record, [], config, variables['params']))


def test_the_document_loses_its_tail_as_the_plan_grows(stepwise_model):
  model, variables = stepwise_model
  units = [np.full(4, 20 + unit) for unit in range(12)]
  tokens = np.concatenate([[10], [11], *units])
  unit_ids = np.concatenate([[0, 1], np.repeat(np.arange(2, 14), 4)])
  record = {'tokens': tokens.astype(np.int32), 'unit_ids': unit_ids}
  batch = make_batch([record])
  kept = [
    np.isfinite(logits(model, variables, batch, plans(range(2, 2 + size)))[0])
    for size in range(5)
  ]
  # 73 slots: EOT and twice BEG take 9; every other unit takes 6.
  assert [row.sum() for row in kept] == [12, 11, 10, 9, 8]
  assert all((np.sort(row)[::-1] == row).all() for row in kept)


def test_the_published_models_read_512_tokens():
  config = find_config('stepwise_robertasum_base')
  assert isinstance(config, BERTSumConfig)
  record = random_record(RNG, 90, max_tokens=30, vocab=50000)
  batch = make_batch([record])
  memory = BERTSumMemory(batch.tokens, batch.unit_ids, batch.valid)
  for plan in ([], [5, 3, 80, 40]):
    inputs = flatten_units(memory, plans(plan), config)
    tokens, starts = plain_input(record, plan, config)
    assert inputs.tokens.shape == (1, 512)
    real = int(inputs.real.sum())
    assert inputs.tokens[0, :real].tolist() == tokens
    assert inputs.kept[0].sum() == len(starts)
    np.testing.assert_array_equal(inputs.unit_starts[0, : len(starts)], starts)


RECORDS = [random_record(RNG, count, max_tokens=4) for count in (1, 7, 4)]
PLANS = plans([2], [3, 5, 2], [])


@pytest.mark.parametrize(
  'sizes', [{'length': 61}, {'units': 13}, {'batch': 5}, {'steps': 6}]
)
def test_padding_never_changes_a_score(stepwise_model, sizes):
  plain = logits(*stepwise_model, make_batch(RECORDS), PLANS)
  steps, rows = sizes.get('steps', 4) - 4, sizes.get('batch', 3) - 3
  plan = jnp.pad(PLANS, ((0, rows), (0, steps)), constant_values=-1)
  padded = logits(*stepwise_model, make_batch(RECORDS, **sizes), plan)
  np.testing.assert_allclose(padded[:3, : plain.shape[1]], plain, atol=1e-5)


def test_what_padding_contains_never_matters(stepwise_model):
  batch = make_batch(RECORDS)
  other = jnp.where(batch.unit_ids < 0, 33, batch.tokens)
  np.testing.assert_array_equal(
    logits(*stepwise_model, batch._replace(tokens=other), PLANS),
    logits(*stepwise_model, batch, PLANS),
  )


def test_the_order_of_the_plan_matters(stepwise_model):
  batch = make_batch(RECORDS[1:2])
  first, second = (
    logits(*stepwise_model, batch, plans(plan)) for plan in ([3, 4], [4, 3])
  )
  assert np.abs(first - second).max() > 1e-4


def test_a_plan_belongs_to_stepwise_models_only(stepwise_model):
  model, variables = stepwise_model
  batch = make_batch(RECORDS)
  with pytest.raises(InputError, match='plan is missing but begin_unit is 1'):
    logits(model, variables, batch, None)
  alone = BERTSum(dataclasses.replace(CONFIG, begin_unit=None))
  with pytest.raises(InputError, match='plan is given but begin_unit is None'):
    logits(alone, variables, batch, PLANS)
