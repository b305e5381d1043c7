"""The packaged models choose what they chose when they were packaged.

The file of choices is what the packaged summarizer and the bundled planner gave
before decoding had one driver; it is made again, from the root of the
repository, by `python -m tests.test_packaged_models`, which is right only after
a model has been replaced.
"""

import dataclasses
import json
from pathlib import Path

import pytest

from stepwise.checkpoints import load_bundle
from stepwise.documents import make_document
from stepwise.inference import (
  Budget,
  Demands,
  Predictor,
  Reading,
  inference_buckets,
  read_document,
)
from stepwise.planning import Planner, bundled_planner
from stepwise.summarization import default_folder, sample_article
from stepwise.tables import plan_to_json
from tests.rotowire.season import season_game

PATH = Path(__file__).parent / 'testdata' / 'packaged_choices.json'
SAMPLES = {'revised': 16, 'greedy': 0}
DOCUMENT = make_document({'article': sample_article()})
WORDS = Budget(tuple(len(unit.split()) for unit in DOCUMENT.units), 60)


def length(units):
  return Demands(min_units=units, max_units=units)


DEMANDS = {
  'default': Demands(),
  'five': length(5),
  'words': length(8)._replace(budget=WORDS),
  'blocked': length(4),
  'with': Demands(must_include=(6,)),
}


def chosen(name):
  bundle = load_bundle(default_folder(), check=False)
  decode = bundle.decoding.decode
  if name == 'words':
    decode = dataclasses.replace(decode, length_alpha=1.0)
  config = dataclasses.replace(
    bundle.decoding,
    decode=decode,
    trigram_blocking=bundle.decoding.trigram_blocking or name == 'blocked',
    batch_size=1,
  )
  predictor = Predictor(
    bundle.config,
    bundle.variables['params'],
    config,
    inference_buckets(bundle.config),
  )
  record = read_document(DOCUMENT, bundle.tokenizer, bundle.config)
  [found] = predictor.predict([Reading(DOCUMENT, record, DEMANDS[name])])
  return list(found.units)


def planned(name):
  planner = bundled_planner()
  options = dataclasses.replace(planner.options, samples=SAMPLES[name])
  [plan] = Planner(planner.bundle, options)([season_game(0)])
  return json.loads(plan_to_json(plan))['plan']


@pytest.fixture(scope='module')
def expected():
  return json.loads(PATH.read_text())


@pytest.mark.parametrize('name', DEMANDS)
def test_summaries_are_the_same(name, expected):
  assert chosen(name) == expected['summaries'][name]


@pytest.mark.parametrize('name', SAMPLES)
def test_plans_are_the_same(name, expected):
  assert bundled_planner().options.samples == SAMPLES['revised']
  assert planned(name) == expected['plans'][name]


if __name__ == '__main__':
  choices = {
    'summaries': {name: chosen(name) for name in DEMANDS},
    'plans': {name: planned(name) for name in SAMPLES},
  }
  PATH.write_text(json.dumps(choices) + '\n')
