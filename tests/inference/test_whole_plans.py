"""Choosing by what whole plans are worth: the best set that is allowed."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise.decoding import DecodeConfig
from stepwise.inference import Budget, Demands, PredictConfig, Predictor
from stepwise.models import PlanValue, PlanValueConfig, unit_sets
from tests.inference.test_predict import BUCKETS, reading
from tests.layers.parameters import draw
from tests.models.documents import make_batch
from tests.models.tiny_models import CONFIGS, RECORDS

VALUE = PlanValueConfig(width=8, pool=4, sizes=(2, 3))
TINY = CONFIGS['hibert']
VALUED = {
  'units': dataclasses.replace(TINY, plan_value=VALUE),
  'words': dataclasses.replace(
    TINY,
    encoder=dataclasses.replace(TINY.encoder, window=7, pooling='mean'),
    plan_value=dataclasses.replace(VALUE, pieces=3),
  ),
}
DECODE = DecodeConfig(3, 2, beam_size=2, stop_unit=0, never=(1,))


@pytest.fixture(scope='module', params=VALUED)
def config(request):
  return VALUED[request.param]


@pytest.fixture(scope='module')
def params(config):
  return draw(config.build(), make_batch(RECORDS))['params']


@pytest.fixture(scope='module')
def predictor(config, params):
  return Predictor(config, params, PredictConfig(DECODE), BUCKETS)


def best(predictor, params, wanted, allowed):
  """The set of highest value among those allowed, as units of the document."""
  (pool,) = predictor.pools([wanted])
  batch = jax.tree.map(lambda part: jnp.asarray(part)[None], pool)
  value = PlanValue(predictor.model.plan_value)
  (values,) = value.apply({'params': params['plan_value']}, batch).values
  units = np.asarray(pool.units) - 2
  found = [
    (float(value), frozenset(units[members].tolist()))
    for value, members in zip(values, unit_sets(VALUE), strict=True)
    if pool.real[members].all() and allowed(set(units[members].tolist()))
  ]
  return max(found)[1]


@pytest.mark.parametrize(('least', 'most'), [(2, 3), (2, 2), (3, 3)])
@pytest.mark.parametrize('row', range(len(RECORDS)))
def test_the_best_set_is_chosen(predictor, params, row, least, most):
  demands = Demands(min_units=least, max_units=most)
  wanted = reading(RECORDS[row], demands=demands)
  (found,) = predictor.predict([wanted])
  expected = best(
    predictor, params, wanted, lambda units: least <= len(units) <= most
  )
  assert set(found.units) == expected
  # Others have their share of the probabilities all the same.
  assert np.isfinite(found.rankings).all()
  (ranked,) = predictor.rank([wanted], [[u + 2 for u in found.units]])
  np.testing.assert_allclose(
    found.rankings, ranked[: len(found.units), 2:], rtol=2e-4, atol=1e-5
  )


def test_constraints_hold(predictor, params):
  wanted = reading(RECORDS[0])
  free = set(predictor.predict([wanted])[0].units)
  first = min(free)
  without = reading(RECORDS[0], demands=Demands(must_exclude=(first,)))
  assert first not in predictor.predict([without])[0].units
  (pool,) = predictor.pools([wanted])
  for unit in np.asarray(pool.units)[pool.real] - 2:
    needed = reading(RECORDS[0], demands=Demands(must_include=(int(unit),)))
    found = set(predictor.predict([needed])[0].units)
    expected = best(predictor, params, needed, lambda s, u=unit: int(u) in s)
    assert found == expected


def test_blocking_leaves_out_sets_that_repeat_words(predictor, params):
  """All units share a trigram: no set is allowed, and the search decides."""
  config = PredictConfig(DECODE, trigram_blocking=True)
  blocking = Predictor(predictor.model, params, config, BUCKETS)
  alike = reading(RECORDS[0], words=('one', 'two', 'three'))
  assert len(blocking.predict([alike])[0].units) == 1
  different = reading(RECORDS[0])
  (found,) = blocking.predict([different])
  assert found.units == predictor.predict([different])[0].units


def test_other_lengths_and_budgets_are_left_to_the_search(predictor, params):
  plain = Predictor(
    predictor.model, params, PredictConfig(DECODE, whole_plans=False), BUCKETS
  )
  count = int(RECORDS[0]['unit_ids'].max()) - 1
  budget = Budget((1,) * count, 2)
  for demands in (
    Demands(min_units=1, max_units=1),
    Demands(budget=budget),
  ):
    wanted = reading(RECORDS[0], demands=demands)
    left, right = (p.predict([wanted])[0] for p in (predictor, plain))
    assert left.units == right.units
    np.testing.assert_allclose(left.rankings, right.rankings, rtol=1e-5)


def test_a_plan_by_itself_is_not_what_steps_add_up_to(predictor, params):
  """Otherwise nothing above would tell the two from each other."""
  plain = Predictor(
    predictor.model, params, PredictConfig(DECODE, whole_plans=False), BUCKETS
  )
  wanted = [reading(record) for record in RECORDS]
  pairs = zip(predictor.predict(wanted), plain.predict(wanted), strict=True)
  assert any(set(left.units) != set(right.units) for left, right in pairs)
