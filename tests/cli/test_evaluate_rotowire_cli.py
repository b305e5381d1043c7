"""`stepwise evaluate-rotowire` on texts, plans and extracted relations."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.extraction import oracle_plan
from stepwise.rotowire import parse_game
from stepwise.tables import plan_to_json
from tests.rotowire.games import SUMMARY, game_fields


@pytest.fixture
def games(tmp_path):
  path = tmp_path / 'games.json'
  path.write_text(json.dumps([game_fields()]))
  return path


def run(*arguments):
  return CliRunner().invoke(app, ['evaluate-rotowire', *map(str, arguments)])


def test_texts(games, tmp_path):
  texts, out = tmp_path / 'out.txt', tmp_path / 'scores.json'
  texts.write_text(SUMMARY + '\n')
  result = run(texts, games, '--save-json', out)
  assert result.exit_code == 0, result.output
  assert 'out.txt: text on 1 games' in result.stdout
  assert 'extractor of predictions: ensemble' in ' '.join(result.stdout.split())
  scores = json.loads(out.read_text())
  assert scores['cs'] == {'precision': 100, 'recall': 100, 'f1': 100}
  assert scores['co'] == 100
  assert scores['extractor'] == 'ensemble'
  assert scores['bleu']['score'] == pytest.approx(100)


def test_plans(games, tmp_path):
  plans = tmp_path / 'plans.jsonl'
  plans.write_text(plan_to_json(oracle_plan(parse_game(game_fields()))) + '\n')
  result = run(plans, games)
  assert result.exit_code == 0, result.output
  assert 'plan on 1 games' in result.stdout
  assert 'none: a plan' in result.stdout
  # Neither RG nor BLEU.
  rows = {
    line.split()[1]: line
    for line in result.stdout.splitlines()
    if ' - ' in line
  }
  assert rows.keys() == {'strict', 'raw', 'table'}
  assert all(row.count(' - ') == 3 for row in rows.values())
  assert rows['table'].count('100.00') == 4


def test_games_at_the_beginning_can_be_left_out(games, tmp_path):
  """The first text is wrong; without it the scores are perfect."""
  games.write_text(json.dumps([game_fields(), game_fields()]))
  texts, out = tmp_path / 'out.txt', tmp_path / 'scores.json'
  texts.write_text(f'Nothing happened .\n{SUMMARY}\n')
  result = run(
    texts, games, '--references', texts, '--skip', 1, '--save-json', out
  )
  assert result.exit_code == 0, result.output
  scores = json.loads(out.read_text())
  assert (scores['games'], scores['cs']['f1']) == (1, 100)
  assert run(texts, games, '--save-json', out).exit_code == 0
  assert json.loads(out.read_text())['cs']['recall'] == 50
  result = run(texts, games, '--skip', 2)
  assert isinstance(result.exception, InputError)
  assert '--skip is 2, but' in str(result.exception)


def test_relations_against_themselves(games, tmp_path):
  tuples = tmp_path / 'gold-tuples.txt'
  tuples.write_text('\nHerons|104|TEAM-PTS\nQuist|twenty-six|PLAYER-PTS\n')
  out = tmp_path / 'scores.json'
  result = run(tuples, games, '--references', tuples, '--save-json', out)
  assert result.exit_code == 0, result.output
  scores = json.loads(out.read_text())
  assert (scores['cs']['f1'], scores['co']) == (100, 100)
  assert scores['rg'] == {'count': 2, 'precision': 100}
  assert scores['extractor'] == scores['reference_extractor']


def test_mistakes_before_the_work(games, tmp_path):
  texts = tmp_path / 'out.txt'
  texts.write_text(SUMMARY)
  refused = run(texts, games, '--save-json', tmp_path / 'no' / 'scores.json')
  assert isinstance(refused.exception, InputError)
  assert 'no such folder' in str(refused.exception)
  unknown = run(texts, games, '--extractor', 'magic')
  assert "extractor is 'magic'" in str(unknown.exception)
