"""`stepwise report`."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli import report
from stepwise.cli.main import app
from stepwise.realization import TemplateRealizer
from stepwise.rotowire import parse_game
from stepwise.tables import plan_to_json
from tests.realization.usual_plans import plan_game
from tests.rotowire.games import game_fields

FIRST = 'The Easton Herons (12-3) defeated the Port Vale Comets (6-9) 104-92'


@pytest.fixture
def game(tmp_path):
  path = tmp_path / 'game.json'
  path.write_text(json.dumps(game_fields()))
  return path


@pytest.fixture
def usual(tmp_path):
  """A file with a plan of the game."""
  plan = plan_game(parse_game(game_fields(), id='game'))
  path = tmp_path / 'usual.json'
  path.write_text(plan_to_json(plan))
  return path


def invoke(*args):
  return CliRunner().invoke(app, ['report', *map(str, args)])


def test_text(game, usual):
  result = invoke(game, '--plan', usual)
  assert result.exit_code == 0
  assert result.stdout.startswith(FIRST)
  assert result.stdout.count('\n') == 1


class Wrong:
  """Writes a game that was not played."""

  name = 'wrong'

  def realize(self, games, plans):
    return [tuple('Lund had 3 points.' for _ in plan) for plan in plans]


def test_a_wrong_text_is_warned_of(game, usual, monkeypatch):
  """At d5533f8 the text of a learned realizer came without a word."""
  assert invoke(game, '--plan', usual).stderr == ''
  monkeypatch.setattr(report, '_realizer', lambda *_: Wrong())
  result = invoke(game, '--plan', usual, '--realizer', 'learned')
  assert result.exit_code == 0
  assert 'planned entries were not found in what wrong wrote' in result.stderr
  assert 'stepwise' not in result.stdout


HEAVY = {
  *('jax', 'flax', 'gin', 'grain', 'optax', 'orbax', 'tensorflow'),
  *('tokenizers', 'scipy', 'sacrebleu'),
}
RUN = """
import sys
from stepwise.cli import report
from stepwise.cli.main import app
app(sys.argv[1:], standalone_mode=False)
print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)
"""


def loaded_by(*arguments):
  """Top-level packages that a clean process has after a command."""
  done = subprocess.run(
    [sys.executable, '-c', RUN, *map(str, arguments)],
    capture_output=True,
    text=True,
    check=True,
  )
  return set(done.stderr.split())


def test_templates_load_no_jax(game, usual, tmp_path):
  page = tmp_path / 'page.html'
  assert not HEAVY & loaded_by('report', game, '--plan', usual)
  assert not HEAVY & loaded_by('report', game, '--plan', usual, '--html', page)


def test_the_bundled_planner_loads_no_trainer(game):
  loaded = loaded_by('report', game)
  assert 'jax' in loaded
  assert not loaded & {'gin', 'grain', 'optax', 'orbax', 'tensorflow'}


def test_the_bundled_planner_plans(game):
  shown = json.loads(invoke(game, '--json').stdout)
  assert shown['planner'] == 'the bundled planner'
  assert 'Herons' in shown['text']
  entries = [e for s in shown['sentences'] for e in s['entries']]
  assert len(entries) > 5
  assert all(entry['stated'] is not False for entry in entries)


def test_json_is_a_plan_again(game, usual, tmp_path):
  shown = json.loads(invoke(game, '--plan', usual, '--json').stdout)
  assert (shown['planner'], shown['realizer']) == ('usual.json', 'template')
  path = tmp_path / 'plan.json'
  path.write_text(json.dumps(shown))
  again = json.loads(invoke(game, '--plan', path, '--json').stdout)
  assert again == shown | {'planner': 'plan.json'}
  path.write_text(json.dumps(shown['plan'][1:2]))
  assert invoke(game, '--plan', path).stdout == (
    'The Easton Herons were led by J.T. Lund, who finished with a game-high 31 '
    'points, four rebounds and 12 assists in the victory.\n'
  )


class Helped:
  """Leaves all but the first sentence to the templates."""

  name = 'learned'

  def realize(self, games, plans):
    raise AssertionError('who wrote what would be lost')

  def realize_authored(self, games, plans):
    [templates] = TemplateRealizer().realize_authored(games, plans)
    return [[templates[0]._replace(realizer=self.name), *templates[1:]]]


def test_json_says_who_wrote_a_sentence_and_what_is_unsure(
  game, usual, monkeypatch
):
  monkeypatch.setattr(report, '_realizer', lambda *_: Helped())
  shown = json.loads(invoke(game, '--plan', usual, '--json').stdout)
  assert shown['realizer'] == 'learned'
  first, *rest = shown['sentences']
  assert first['realizer'] == 'learned'
  assert {sentence['realizer'] for sentence in rest} == {'template'}
  assert first['text'].endswith(first['added']) and first['added']
  assert all(sentence['unsure'] == [] for sentence in shown['sentences'])
  monkeypatch.setattr(report, '_realizer', lambda *_: Wrong())
  shown = json.loads(invoke(game, '--plan', usual, '--json').stdout)
  assert all(
    'not in the table: J.T. Lund 3 PLAYER-PTS' in sentence['unsure']
    for sentence in shown['sentences']
  )


def test_html(game, usual, tmp_path):
  page = tmp_path / 'page.html'
  result = invoke(game, '--plan', usual, '--html', page)
  assert result.stdout.startswith(FIRST)
  assert page.read_text().startswith('<!doctype html>')
  assert list(tmp_path.glob('*.partial')) == []


@pytest.mark.parametrize(
  ('plan', 'message'),
  [
    ('[]', 'plan.json: the plan is empty'),
    ('{"plan": [[["J.T. Lund", "9", "PLAYER-PTS"]]]}', "is '31' in the game"),
    ('[[["Oslo Elks", "9", "TEAM-PTS"]]]', "no team or player 'Oslo Elks'"),
    ('[["J.T. Lund"]]', "'plan' must be a list of sentences of"),
    ('[[', 'plan.json: Expecting value'),
  ],
)
def test_bad_plans(game, tmp_path, plan, message):
  path = tmp_path / 'plan.json'
  path.write_text(plan)
  error = invoke(game, '--plan', path).exception
  assert isinstance(error, InputError)
  assert message in str(error)


def test_a_missing_team_is_named(tmp_path):
  fields = game_fields()
  del fields['vis_line']
  path = tmp_path / 'game.json'
  path.write_text(json.dumps(fields))
  with pytest.raises(InputError, match="'vis_line' must be an object"):
    raise invoke(path).exception


def test_one_or_all_of_several_games(tmp_path, usual):
  path = tmp_path / 'games.json'
  path.write_text(json.dumps([game_fields(), game_fields()]))
  assert '--index is 2 but' in str(invoke(path, '--index', 2).exception)
  written = invoke(path, '--index', 1, '--plan', usual).stdout
  assert written.startswith(FIRST)
  assert '--plan is of one game' in str(invoke(path, '--plan', usual).exception)
  one = invoke(path, '--index', 1, '--model', 'salience').stdout
  assert invoke(path, '--model', 'salience').stdout == f'{one}\n{one}'
  lines = invoke(path, '--model', 'salience', '--json').stdout.splitlines()
  assert [json.loads(line)['id'] for line in lines] == [
    *('games.json:0', 'games.json:1')
  ]
  page = tmp_path / 'page.html'
  assert '--html shows one game' in str(invoke(path, '--html', page).exception)


def test_salience_plans_a_game_without_jax(game):
  assert not HEAVY & loaded_by('report', game, '--model', 'salience')
  shown = json.loads(invoke(game, '--model', 'salience', '--json').stdout)
  assert shown['planner'] == 'salience'
  assert 'J.T. Lund' in shown['text']


def test_without_an_argument_there_is_a_sample():
  written = invoke('--model', 'salience').stdout
  assert 'J.T. Lund' in written and '31 points' in written
  assert 'Port Vale' in written


def test_bad_options(game, tmp_path):
  error = invoke(game, '--realizer', tmp_path / 'absent').exception
  assert 'neither `template` nor `learned` nor the folder of' in str(error)
  error = invoke(game, '--html', tmp_path / 'absent' / 'page.html').exception
  assert 'no such folder' in str(error)
