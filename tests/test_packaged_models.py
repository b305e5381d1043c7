"""The packaged models choose what they chose when they were packaged.

The file of choices is what `stepwise.summarize` of the sample article and the
bundled planner gave before decoding had one driver; it is made again, from the
root of the repository, by `python -m tests.test_packaged_models`, which is
right only after a model has been replaced.
"""

import dataclasses
import json
from pathlib import Path

import pytest

from stepwise.planning import Planner, bundled_planner
from stepwise.summarization import Options, load_summarizer, sample_article
from stepwise.tables import plan_to_json
from tests.rotowire.season import season_game

PATH = Path(__file__).parent / 'testdata' / 'packaged_choices.json'
OPTIONS = {
  'default': Options(),
  'five': Options(sentences=5),
  'words': Options(words=60),
  'blocked': Options(sentences=4, trigram_blocking=True),
  'with': Options(must_include=(6,)),
  'ratio': Options(ratio=0.3),
}
SAMPLES = {'revised': 16, 'greedy': 0}


def chosen(name):
  summary = load_summarizer()(sample_article(), OPTIONS[name])
  return [step.index for step in summary.steps if step.index is not None]


def planned(name):
  planner = bundled_planner()
  options = dataclasses.replace(planner.options, samples=SAMPLES[name])
  [plan] = Planner(planner.bundle, options)([season_game(0)])
  return json.loads(plan_to_json(plan))['plan']


@pytest.fixture(scope='module')
def expected():
  return json.loads(PATH.read_text())


@pytest.mark.parametrize('name', OPTIONS)
def test_summaries_are_the_same(name, expected):
  assert chosen(name) == expected['summaries'][name]


@pytest.mark.parametrize('name', SAMPLES)
def test_plans_are_the_same(name, expected):
  assert bundled_planner().options.samples == SAMPLES['revised']
  assert planned(name) == expected['plans'][name]


if __name__ == '__main__':
  choices = {
    'summaries': {name: chosen(name) for name in OPTIONS},
    'plans': {name: planned(name) for name in SAMPLES},
  }
  PATH.write_text(json.dumps(choices) + '\n')
