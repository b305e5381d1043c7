"""The trace of a plan is the model's own; the page shows all of it."""

import dataclasses

import jax
import numpy as np
import pytest

from stepwise.data import pad_batch, wordpiece
from stepwise.models import Batch
from stepwise.planning import PlanTrace, plan_page
from stepwise.rotowire import read_table
from stepwise.tables import plan_from_units, table_record
from tests.layers.parameters import draw, quick_jit
from tests.planning.test_planner import (
  CONFIG,
  GAMES,
  OPTIONS,
  planner,
  training_batch,
)

EOS, EOT, BEG = 0, 1, 2
SHORT = dataclasses.replace(OPTIONS, max_steps=6)


@pytest.fixture(scope='module')
def params():
  return draw(CONFIG.build(), training_batch())['params']


@pytest.fixture(scope='module')
def trace(params):
  return planner(params, SHORT).trace(GAMES[0])


def test_a_trace_is_the_plan_that_is_made(params, trace):
  [plan] = planner(params, SHORT)(GAMES[:1])
  assert plan_from_units(np.array(trace.units), trace.table) == plan
  assert len(trace.units) == 6
  assert trace.table == read_table(GAMES[0], 'paper', 160)


def test_probabilities_are_those_of_the_prefix(params, trace):
  limits = {'max_unit_tokens': CONFIG.max_unit_tokens - 1}
  record = table_record(trace.table, wordpiece(), **limits)
  batch = Batch.of(
    pad_batch([record], length=5000, units=170, steps=1, batch=1)
  )
  model = CONFIG.build()

  @quick_jit
  def logits(plan):
    memory = model.apply({'params': params}, batch, method='encode')
    return model.apply({'params': params}, memory, plan, method='score')[0]

  assert trace.probabilities.shape == (7, record.num_units)
  for step in (0, 1, 6):
    plan = np.full((1, 7), -1, np.int32)
    plan[0, :step] = trace.units[:step]
    scores = np.array(logits(plan))[: record.num_units]
    scores[BEG] = -np.inf
    np.testing.assert_allclose(
      trace.probabilities[step], jax.nn.softmax(scores), atol=1e-5
    )


def test_a_plan_longer_than_the_model_reads_has_fewer_probabilities(params):
  config = dataclasses.replace(CONFIG, plan_positions=4)
  table = params['plan_position']['embedding'][:4]
  short = params | {'plan_position': {'embedding': table}}
  options = dataclasses.replace(OPTIONS, max_steps=3)
  assert len(planner(short, options, config).trace(GAMES[0]).probabilities) == 4


def test_the_page_has_a_row_for_every_sentence(trace):
  units = [5, EOS, 3, 5, EOS]
  probabilities = trace.probabilities[:4]
  page = plan_page(PlanTrace(trace.table, units, probabilities), 'A game')
  assert [step.unit for step in page.steps] == [2, None, 0, 2, None, None]
  groups = [step.group for step in page.steps]
  first, second = 'Sentence 1', 'Sentence 2'
  assert groups == [first, first, second, second, second, '']
  assert page.steps[0].probability == pytest.approx(probabilities[0, 5])
  assert page.steps[1].probability == pytest.approx(probabilities[1, EOS])
  assert page.steps[2].stop == pytest.approx(probabilities[2, EOT])
  assert len(page.steps[0].probabilities) == len(page.units)
  # Further than the model reads.
  assert page.steps[4].probability is None
  assert page.steps[4].probabilities == ()
  assert page.lead.startswith('The planner chose 2 of ')
  assert page.lead.endswith(' entries, for 2 sentences.')
