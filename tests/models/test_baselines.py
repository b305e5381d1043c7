"""Lead takes what comes first, Oracle what it is told."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.decoding import DecodeConfig
from stepwise.inference import decode, document_order, reading_limits
from stepwise.models import (
  BEG,
  EOT,
  LeadChooser,
  OracleChooser,
  find_system,
)
from tests.layers.parameters import quick_jit
from tests.models.documents import make_batch, random_record

RNG = np.random.default_rng(5)


LEAD, ORACLE = find_system('lead').model, find_system('oracle').model


def choose(name, batch):
  # As many units as the oracle has, not as many as models may choose.
  steps = batch.targets.shape[1] if name != 'lead' else 3
  config = DecodeConfig(max_units=steps, stop_unit=EOT, never=(BEG,))
  model = find_system(name).model
  found = quick_jit(functools.partial(decode, model, {}, config=config))(batch)
  plans = found.plans[:, 0]
  return plans if model.stepwise else document_order(plans)


def oracle_plans(batch):
  return quick_jit(functools.partial(decode, ORACLE, {}))(batch)


def records(*targets):
  return [
    random_record(RNG, 9, max_tokens=2) | {'targets': list(target)}
    for target in targets
  ]


def test_lead_takes_the_first_three_units():
  sizes = (7, 2, 3)
  batch = make_batch([random_record(RNG, n, special=()) for n in sizes])
  assert choose('lead', batch).tolist() == [[0, 1, 2], [0, 1, -1], [0, 1, 2]]


@pytest.mark.parametrize('name', ['oracle', 'oracle_512'])
def test_oracle_takes_its_targets_in_order(name):
  """More than the four units that models may choose, too."""
  targets = [(5, EOT), (9, 3, 4, 2, 8, 6, EOT), (3, 2, EOT)]
  batch = make_batch(records(*targets), steps=7)
  chosen = choose(name, batch).tolist()
  assert [[u for u in row if u >= 0] for row in chosen] == [
    list(target[:-1]) for target in targets
  ]


def test_oracle_ends_without_a_stop_too():
  batch = make_batch(records((4, 2)), steps=5)
  assert choose('oracle', batch).tolist() == [[4, 2, -1, -1, -1]]


def test_an_empty_oracle_is_an_empty_plan():
  batch = make_batch(records((EOT,), ()), batch=3)
  result = oracle_plans(batch)
  assert (np.asarray(result.plans[:, 0]) == -1).all()
  assert result.scores[:, 0].tolist() == [0, 0, 0]


def test_oracle_is_certain():
  result = oracle_plans(make_batch(records((4, 2, EOT))))
  assert result.plans[0, 0].tolist() == [4, 2, -1, -1]
  assert result.scores[0].tolist() == [0, -np.inf, -np.inf]


def test_calls_are_both_methods_at_once():
  batch = make_batch(records((4, EOT)))
  assert LeadChooser().apply({}, batch)[0, :3].tolist() == [0, -1, -2]
  logits = OracleChooser().apply({}, batch)
  assert jnp.isfinite(logits[0]).nonzero()[0].tolist() == [4]


def test_lead_of_a_batch_without_units_is_empty():
  batch = make_batch(records(()), batch=2)
  assert choose('lead', batch)[1].tolist() == [-1, -1, -1]


def test_no_targets_no_oracle():
  batch = make_batch(records((4, EOT)))._replace(targets=None)
  with pytest.raises(InputError, match='without targets has no oracle'):
    decode(ORACLE, {}, batch)


def test_an_oracle_of_512_tokens_reads_no_more():
  assert reading_limits(find_system('oracle_512').model).max_tokens == 512
  assert reading_limits(ORACLE).max_tokens is None


def test_baselines_need_no_weights():
  assert not any(model.needs_weights for model in (LEAD, ORACLE))
  assert [model.needs_targets for model in (LEAD, ORACLE)] == [False, True]
