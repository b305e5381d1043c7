"""Scores of planners: seeds are averaged, games resampled, pairs compared."""

import json

import numpy as np
import pytest

from benchmarks import planners
from stepwise._errors import InputError
from stepwise.extraction import strict_counts, strict_scores
from stepwise.models import count_params
from stepwise.rotowire import game_table, read_games, sample_game
from stepwise.tables import plan_to_json

RNG = np.random.default_rng(7)
SEEDS, GAMES = 3, 11


def random_counts(rate):
  wanted = RNG.integers(10, 30, (SEEDS, GAMES))
  stated = RNG.integers(10, 30, (SEEDS, GAMES))
  shared = np.round(np.minimum(stated, wanted) * rate)
  order = RNG.uniform(0, 100, (SEEDS, GAMES))
  return np.stack([shared, stated, wanted, order], axis=-1)


def test_scores_are_those_of_all_games_together():
  (game,) = read_games(sample_game())
  numbers = [e.relation for e in game_table(game).entries if e.rank]
  texts, truths = [numbers[:7], numbers[3:5]], [numbers[2:13], numbers[4:9]]
  expected = strict_scores(texts, truths)
  counts = strict_counts(texts, truths)
  found = planners.scores(counts.mean(axis=0))
  cs = expected.cs
  np.testing.assert_allclose(
    found, [cs.precision, cs.recall, cs.f1, expected.co, 4.5]
  )


def test_means_are_over_seeds_and_intervals_hold_them():
  counts = random_counts(0.5)
  row = planners.describe({'a': counts})['a']
  for column in planners.COLUMNS:
    by_seed = row[column]['seeds']
    assert len(by_seed) == SEEDS
    np.testing.assert_allclose(row[column]['mean'], np.mean(by_seed))
    assert row[column]['low'] < row[column]['mean'] < row[column]['high']


def test_pairs_are_compared_on_the_same_games():
  counts = random_counts(0.5)
  better = counts.copy()
  better[..., 0] = np.minimum(better[..., 0] + 2, counts[..., 1:3].min(-1))
  same, gain = (
    planners.compare({'a': counts, 'b': counts.copy()}),
    (planners.compare({'better': better, 'a': counts})),
  )
  nothing = {'mean': 0.0, 'low': 0.0, 'high': 0.0, 'differs': False}
  assert same[0]['CS F1'] == nothing
  assert gain[0]['CS F1']['differs'] and gain[0]['CS F1']['low'] > 0


def run_config(seed=0, **changes):
  return {
    'model': {'name': 'hibert_tiny'},
    'steps': 7,
    'input': {'batch_size': 3},
    'optimizer': {'learning_rate': 0.5},
    'drawn_steps': 2,
    'stop_odds': 1.0,
    'rest_share': 0.25,
    'seed': seed,
    **changes,
  }


def test_runs_of_a_system_differ_in_their_seeds_alone():
  found = planners.training([run_config(4), run_config(5)])
  assert found['seeds'] == [4, 5] and found['updates'] == 7
  assert found['parameters'] == count_params('hibert_tiny')
  with pytest.raises(InputError, match='runs of one system are not alike'):
    planners.training([run_config(), run_config(steps=8)])


def test_files_of_plans_become_a_report(tmp_path):
  (game,) = read_games(sample_game())
  entries = [e.relation for e in game_table(game).entries if e.rank]
  for name, plan in (('first', entries[:6]), ('second', entries[3:8])):
    line = plan_to_json((tuple(plan),), game.id)
    (tmp_path / f'{name}.jsonl').write_text(line + '\n')
  first, second = (str(tmp_path / f'{n}.jsonl') for n in ('first', 'second'))
  target, run = tmp_path / 'report.json', tmp_path / 'run'
  run.mkdir()
  (run / 'config.json').write_text(json.dumps(run_config()))
  planners.main(
    [
      *(str(sample_game()), '--references', first, '--json', str(target)),
      *(f'same={first},{first}', f'other={second}', '--runs', f'same={run}'),
    ]
  )
  report = json.loads(target.read_text())
  assert report['systems']['same']['CS F1']['seeds'] == [100.0, 100.0]
  assert report['systems']['other']['CS F1']['mean'] < 100
  assert report['training']['same']['seeds'] == [0]
  assert 'same=first.jsonl,first.jsonl' in report['command']
  assert str(tmp_path) not in report['command']


def test_a_system_without_files():
  with pytest.raises(InputError, match='is not NAME=FILE'):
    planners.main(['games.json', 'nothing', '--references', 'x'])
