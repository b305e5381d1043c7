import json

import numpy as np
import pytest
import seqio

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.extraction import oracle_plan
from stepwise.rotowire import PlanRecordOptions, parse_game, role_table
from stepwise.tables import plan_units
from stepwise.tasks import (
  GameReading,
  PlannedUnits,
  plan_metric,
  register_game_tasks,
)
from tests.rotowire.season import season_fields

FIELDS = [season_fields(seed) for seed in range(2)]
GAMES = [parse_game(fields) for fields in FIELDS]
READING = GameReading(wordpiece, PlanRecordOptions('roles'))


@pytest.fixture
def tasks(tmp_path):
  path = tmp_path / 'games.json'
  path.write_text(json.dumps(FIELDS))
  files = {'train': str(path), 'validation': str(path)}
  return register_game_tasks('invented', files, READING)


def examples(task, split):
  dataset = seqio.TaskRegistry.get(task).get_dataset(None, split, shuffle=False)
  return list(dataset.as_numpy_iterator())


def targets_of(game):
  return plan_units(oracle_plan(game), role_table(game)).tolist()


def test_a_step_is_an_example_in_training(tasks):
  found = examples(tasks[0], 'train')
  wanted = [
    (targets[:j], targets[j : j + 1])
    for targets in map(targets_of, GAMES)
    for j in range(len(targets))
  ]
  assert [(e['plan'].tolist(), e['targets'].tolist()) for e in found] == wanted


def test_a_game_is_an_example_otherwise(tasks):
  for task, split in ((tasks[0], 'validation'), (tasks[2], 'train')):
    found = examples(task, split)
    assert [e['targets'].tolist() for e in found] == [*map(targets_of, GAMES)]
    assert all(e['plan'].size == 0 for e in found)
    # EOS, EOT, BEG first.
    assert found[0]['tokens'][:3].tolist() == [12, 10, 11]


def test_plans_are_compared_without_names(tasks):
  example = examples(tasks[0], 'validation')[0]
  post = PlannedUnits()
  truth = post(example['targets'], example=example, is_target=True)
  table = role_table(GAMES[0])
  types = [table.entries[unit - 3].relation.type for unit in truth]
  assert types and not any('NAME' in t or 'CITY' in t for t in types)
  padded = np.append(example['oracle'], [4, -1])
  assert post(padded, example=example) == truth
  scores = plan_metric([truth, truth], [truth, truth[:1]])
  assert scores['cs_precision'] == 100
  assert scores['co'] < 100
  assert plan_metric([truth], [truth])['cs_f1'] == 100


def test_the_tasks_of_the_dataset_are_registered():
  assert {
    'rotowire_stepwise',
    'rotowire_stepwise_sampled',
    'rotowire_stepwise_all_bpe',
    'rotowire_stepwise_roles',
  } <= {*seqio.TaskRegistry.names()}


def test_an_unknown_extractor_is_named():
  with pytest.raises(InputError, match="extractor is 'magic'; known ones"):
    register_game_tasks(
      'x', {'train': 'x'}, GameReading(wordpiece, extractor='magic')
    )
