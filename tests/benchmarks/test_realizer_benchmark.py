"""The realizer's benchmark on an invented game."""

import json

import pytest

from benchmarks import realizer
from stepwise.extraction import Outputs, evaluate_outputs, oracle_plan
from stepwise.realization import known_entries
from stepwise.rotowire import parse_game
from stepwise.tables import plan_to_json
from tests.rotowire.games import SUMMARY, game_fields

OTHER = 'Quist had 26 points . The Herons won 104 - 92 on Friday .'


@pytest.fixture
def games(tmp_path):
  path = tmp_path / 'games.json'
  path.write_text(json.dumps([game_fields(), game_fields(OTHER)]))
  return path


def test_scores_are_those_of_evaluate_rotowire():
  games = [parse_game(game_fields(text)) for text in (SUMMARY, OTHER)]
  texts = ['Lund had 31 points . Quist had 20 points .', OTHER]
  found = realizer.evaluate(texts, games)
  expected = evaluate_outputs(Outputs('text', texts=tuple(texts)), games)
  rg, cs = expected.rg, expected.cs
  assert [found[name]['mean'] for name in realizer.COLUMNS] == [
    *(rg.count, rg.precision, cs.precision, cs.recall, cs.f1),
    *(expected.co, expected.bleu.score),
  ]
  for name in realizer.COLUMNS:
    score = found[name]
    assert score['low'] <= score['mean'] + 1e-9
    assert score['high'] >= score['mean'] - 1e-9


def test_the_command(games, tmp_path, capsys):
  out = tmp_path / 'out.json'
  realizer.main([str(games), '--json', str(out)])
  report = json.loads(out.read_text())
  assert report['systems']['template']['RG P']['mean'] == 100
  assert report['plans'] == 'oracle (lookup)'
  assert str(tmp_path) not in report['command']
  assert capsys.readouterr().out.startswith('template: RG #')


def test_given_plans(games, tmp_path, monkeypatch):
  fields = (game_fields(), game_fields(OTHER))
  parsed = [parse_game(game) for game in fields]
  plans = [known_entries(oracle_plan(game), game) for game in parsed]
  path, out = tmp_path / 'plans.jsonl', tmp_path / 'out.json'
  path.write_text('\n'.join(map(plan_to_json, plans)))

  def measured(*arguments):
    realizer.main([str(games), *arguments, '--json', str(out)])
    return json.loads(out.read_text())

  fuller = measured('--plans', str(path))
  monkeypatch.setattr(realizer, 'fuller_plan', lambda plan, game: plan)
  given, oracle = measured('--plans', str(path)), measured()
  assert given['plans'] == 'plans.jsonl'
  said = [r['systems']['template']['RG #']['mean'] for r in (fuller, given)]
  assert said[0] > said[1]
  for name in realizer.COLUMNS:
    scores = (r['systems']['template'][name] for r in (given, oracle))
    assert len({json.dumps(score) for score in scores}) == 1
