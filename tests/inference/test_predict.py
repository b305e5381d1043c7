"""One search for all models: equal to the paths it stands for."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import Buckets, Record, pad_batch
from stepwise.decoding import DecodeConfig, trigram_overlap
from stepwise.documents import Document, split_sentences
from stepwise.inference import (
  Budget,
  Demands,
  PredictConfig,
  Predictor,
  Reading,
  decode,
  default_config,
  document_order,
  no_repeats,
  reading_limits,
)
from stepwise.models import (
  NEWS_DECODING,
  Batch,
  find_system,
)
from tests.layers.parameters import draw, quick_jit
from tests.models.documents import make_batch
from tests.models.tiny_models import CONFIGS, RECORDS

# One shape, so that every test compiles once.
BUCKETS = Buckets((48,), (11,))
# ETCSum compiles for long, and to the search all models are alike.
KINDS = ('hibert', 'robertasum')


def reading(record, special=2, demands=Demands(), words=('a',)):
  """A document whose units are numbers, and a record of random tokens."""
  count = int(record['unit_ids'].max()) + 1 - special
  text = '\n\n'.join(f'{" ".join(words)} {i}' for i in range(count))
  spans = tuple(split_sentences(text))
  assert len(spans) == count
  names = ('eot', 'beg')[:special]
  return Reading(
    Document(text, spans),
    Record(
      record['tokens'],
      record['unit_ids'].astype(np.int32),
      ((0, 0),) * special + spans,
      names,
    ),
    demands,
  )


def without_special(record):
  keep = record['unit_ids'] >= 2
  ids = record['unit_ids'][keep] - 2
  return {'tokens': record['tokens'][keep], 'unit_ids': ids}


PLAIN = [without_special(record) for record in RECORDS]


def predictor(kind, *, stepwise=True, **changes):
  config = CONFIGS[kind] if stepwise else CONFIGS[kind].twin()
  model = config.build()
  params = draw(model, make_batch(RECORDS))['params']
  return Predictor(config, params, PredictConfig(**changes), BUCKETS)


def batch_of(records):
  return Batch.of(pad_batch(records, length=48, units=11, steps=4, batch=3))


@pytest.mark.parametrize('kind', KINDS)
def test_a_stepwise_model_is_decoded(kind):
  ours = predictor(kind, batch_size=3)
  readings = [reading(record) for record in RECORDS]
  found = ours.predict(readings)
  variables = {'params': ours.params}
  batch = batch_of(RECORDS)
  theirs = quick_jit(lambda v, b: decode(ours.model, v, b))(variables, batch)
  for row, prediction in enumerate(found):
    plan = theirs.plans[row, 0]
    assert [unit + 2 for unit in prediction.units] == plan[plan >= 0].tolist()
    steps = len(prediction.log_probs)
    np.testing.assert_allclose(
      prediction.log_probs, theirs.log_probs[row, 0, :steps], rtol=1e-4
    )
    np.testing.assert_allclose(
      prediction.rankings,
      theirs.ranking[row, 0, :steps, 2 : readings[row].record.num_units],
      rtol=1e-3,
      atol=1e-4,
    )
    whole = np.exp(prediction.rankings).sum(axis=1) + np.exp(prediction.stops)
    np.testing.assert_allclose(whole, 1, rtol=1e-5)
    assert not prediction.broken
  assert ours(readings) == [list(p.units) for p in found]


@pytest.mark.parametrize('blocking', [False, True])
@pytest.mark.parametrize('kind', KINDS)
def test_other_models_take_the_best_units(kind, blocking):
  ours = predictor(kind, stepwise=False, trigram_blocking=blocking)
  readings = [reading(record, 0, words=('x', 'y')) for record in PLAIN]
  batch = batch_of(PLAIN)
  overlap = None
  if blocking:
    # All units have three words, of which the last differs; so none overlap
    # but with themselves, except the two that are made to.
    text = readings[1].document.text.replace('y 3', 'y 4')
    document = dataclasses.replace(readings[1].document, text=text)
    readings[1] = readings[1]._replace(document=document)
    overlap = np.zeros((3, 11, 11), bool)
    for row, each in enumerate(readings):
      units = each.document.units
      overlap[row, : len(units), : len(units)] = trigram_overlap(units)
    overlap = jnp.asarray(overlap)
  variables = {'params': ours.params}
  best = DecodeConfig(max_units=3)
  theirs = quick_jit(
    lambda v, b: decode(ours.model, v, b, best, no_repeats(b.valid, overlap))
  )(variables, batch)
  theirs = document_order(theirs.plans[:, 0])
  expected = [[int(u) for u in row if u >= 0] for row in theirs]
  assert ours(readings) == expected
  for prediction, units in zip(ours.predict(readings), expected, strict=True):
    assert sorted(prediction.units) == units
    # Of each unit by itself, at every step the same; the best come first.
    assert (prediction.rankings == prediction.rankings[:1]).all()
    chosen = prediction.rankings[0][list(prediction.units)]
    np.testing.assert_allclose(prediction.log_probs, chosen)
    assert np.isneginf(prediction.stops).all()
    if not blocking:
      assert (np.diff(chosen) <= 0).all()


def test_lead_is_a_model_too():
  lead = find_system('lead').model
  ours = Predictor(lead, {}, PredictConfig(top_k=2), BUCKETS)
  assert ours([reading(record, 0) for record in PLAIN]) == [[0, 1]] * 3


@pytest.mark.parametrize('stepwise', [True, False])
def test_demands_hold_for_every_document(stepwise):
  decode = dataclasses.replace(NEWS_DECODING, max_units=5, min_units=5)
  ours = predictor('hibert', stepwise=stepwise, decode=decode, top_k=5)
  records, special = (RECORDS, 2) if stepwise else (PLAIN, 0)
  free = ours.predict([reading(record, special) for record in records])
  costs = (3, 1, 4, 1, 5, 9, 2, 6)
  worst = [int(np.argmin(each.rankings[0])) for each in free]
  demands = [
    Demands(Budget(costs[:3], 7)),
    Demands(Budget(costs, 13), must_include=(worst[1],)),
    Demands(),
  ]
  found = ours.predict(
    [
      reading(record, special, demand)
      for record, demand in zip(records, demands, strict=True)
    ]
  )
  assert sum(costs[unit] for unit in found[0].units) <= 7
  assert sum(costs[unit] for unit in found[1].units) <= 13
  assert worst[1] in found[1].units
  assert found[2].units == free[2].units


def test_the_begin_unit_is_never_chosen():
  with pytest.raises(InputError, match='must have unit 1, the BEG'):
    predictor('hibert', decode=DecodeConfig(max_units=3))


def test_broken_weights_are_told():
  ours = predictor('hibert')
  params = jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.nan), ours.params)
  (found,) = dataclasses.replace(ours, params=params).predict(
    [reading(RECORDS[0])]
  )
  assert found.broken


def test_settings_follow_the_special_units():
  tables = dataclasses.replace(CONFIGS['hibert'], begin_unit=2)
  decode = default_config(tables).decode
  assert (decode.stop_unit, decode.never) == (1, (2,))
  assert default_config(CONFIGS['hibert']).decode == NEWS_DECODING
  assert default_config(CONFIGS['hibert'].twin()) == PredictConfig()
  assert reading_limits(tables).special_units == ('eos', 'eot', 'beg')
  assert tables.limits.plan == 10
  assert no_repeats(jnp.ones((1, 3), bool)).overlap is None


def test_models_that_read_anew_search_in_stages():
  """Which change no result: see the tests of `decode`."""
  plans = [
    Predictor(CONFIGS[kind], {}, PredictConfig(), BUCKETS)._in_stages(
      DecodeConfig(most, stop_unit=0, never=(1,))
    )
    for kind, most in (('etcsum', 4), ('etcsum', 1), ('hibert', 4))
  ]
  assert [plan.stages for plan in plans] == [2, 1, 1]
