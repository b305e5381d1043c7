"""Verbs about games: plan, rotowire, data rotowire, train-extractor."""

import json

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.cli.train import _planner_file
from stepwise.models import find_config
from stepwise.planning import OPTIONS_FILE, PlannerOptions
from tests.rotowire.season import season_fields


def run(*arguments):
  result = CliRunner().invoke(app, [*map(str, arguments)])
  if isinstance(result.exception, InputError):
    raise result.exception
  assert result.exit_code == 0, result.output
  return result.stdout


@pytest.fixture
def games(tmp_path):
  path = tmp_path / 'games.json'
  path.write_text(json.dumps([season_fields(seed) for seed in range(3)]))
  return path


def test_statistics_name_the_paper_and_the_extractor(games, tmp_path):
  other = tmp_path / 'other.json'
  other.write_text(json.dumps([season_fields(1)]))
  lines = run('rotowire', 'stats', games, other).splitlines()
  assert 'entries (paper 59.24)' in lines[0]
  assert 'sentences (paper 12.72)' in lines[0]
  assert lines[0].endswith('extractor lookup')
  assert '1 games of other.json are in games.json' in lines
  content = json.loads(run('rotowire', 'stats', games, other, '--json'))
  assert content['extractor'] == 'lookup'
  assert content['files']['games.json']['games'] == 3


def test_every_number_names_its_extractor(games, tmp_path):
  texts = tmp_path / 'texts.txt'
  summaries = [' '.join(season_fields(seed)['summary']) for seed in range(3)]
  texts.write_text('\n'.join(summaries) + '\n')
  for name in ('conv', 'ensemble'):
    run(
      *('evaluate-rotowire', texts, games, '--extractor', name),
      *('--save-json', tmp_path / 'scores.json'),
    )
    scores = json.loads((tmp_path / 'scores.json').read_text())
    assert (scores['extractor'], scores['reference_extractor']) == (name, name)
    # Summaries against themselves.
    assert (scores['cs']['f1'], scores['co']) == (100, 100)
    assert scores['rg']['count'] > 0


def test_baselines_are_scored_like_plans(games, tmp_path):
  training = tmp_path / 'training.json'
  training.write_text(json.dumps([season_fields(s) for s in (0, 7, 8)]))
  for name in ('frequent', 'nearest'):
    plans = tmp_path / f'{name}.jsonl'
    plans.write_text(run('rotowire', 'baseline', name, training, games))
    run(
      'evaluate-rotowire', plans, games, '--save-json', tmp_path / 'scores.json'
    )
    scores = json.loads((tmp_path / 'scores.json').read_text())
    found = scores['kind'], scores['reference_extractor']
    assert found == ('plan', 'ensemble')
    assert scores['cs']['f1'] > 0


def test_records_of_games(games, tmp_path):
  said = run(
    *('data', 'rotowire', games, tmp_path / 'records.jsonl'),
    *('--reading', 'roles', '--exclude', games, '--max-steps', 200),
  )
  assert '0 records' in said
  assert '3 excluded' in said
  said = run('data', 'rotowire', games, tmp_path / 'records.jsonl')
  assert '3 records' in said
  assert 'extractor lookup' in said


def test_a_planner_of_games_reads_as_much_as_it_learnt_from(games, tmp_path):
  records = tmp_path / 'records.jsonl'
  run(
    *('data', 'rotowire', games, records, '--reading', 'short'),
    *('--max-units', 23),
  )
  files = _planner_file(find_config('hibert_rotowire_tiny'), str(records))
  options = PlannerOptions(**json.loads(files[OPTIONS_FILE]))
  assert (options.table, options.max_units) == ('short', 23)


def test_records_that_say_every_entry_once(games, tmp_path):
  for name, options in (('twice', ()), ('once', ('--once',))):
    run(
      *('data', 'rotowire', games, tmp_path / f'{name}.jsonl'),
      *('--reading', 'terse', *options),
    )
  twice, once = (
    [
      json.loads(line)['oracle']
      for line in (tmp_path / f'{name}.jsonl').read_text().splitlines()
    ]
    for name in ('twice', 'once')
  )
  assert len(once) == len(twice) == 3
  for plan in once:
    # Special units are negative; the sentence break comes again.
    said = [unit for unit in plan if unit >= 0]
    assert len(said) == len(set(said))
  assert sum(map(len, once)) < sum(map(len, twice))


@pytest.mark.parametrize(
  ('arguments', 'message'),
  [
    (('rotowire', 'stats', 'GAMES', '--extractor', 'x'), "extractor is 'x'"),
    (('rotowire', 'baseline', 'x', 'GAMES', 'GAMES'), "is named 'x'"),
    (
      ('rotowire', 'baseline', 'nearest', 'GAMES', 'GAMES', '--roles', 'x'),
      "--roles is 'x'",
    ),
    (('data', 'rotowire', 'GAMES', 'OUT', '--reading', 'x'), "table is 'x'"),
    (('plan', 'GAMES', '--json', '--table'), 'choose one of them'),
    (('plan', 'GAMES', '--model', 'OUT'), 'no such folder'),
    (('plan', 'OUT'), 'no such file'),
    (('plan', 'GAMES', '--html', 'OUT'), '--html shows one game; .* 3 games'),
    (('plan', 'GAMES', '--html', 'out/out/x.html'), 'no such folder: out/out'),
    (
      ('train-extractor', 'GAMES', 'OUT', '--models', 'lstm'),
      'conv must come first',
    ),
  ],
)
def test_mistakes_are_named(arguments, message, games, tmp_path):
  places = {'GAMES': games, 'OUT': tmp_path / 'out'}
  with pytest.raises(InputError, match=message):
    run(*(places.get(argument, argument) for argument in arguments))


def test_the_bundled_planner_prints_plans(games, tmp_path):
  lines = run('plan', games).splitlines()
  assert lines[0] == 'Port Vale Comets at Easton Herons, 2016-03-01'
  assert lines[1].startswith(' 1. ')
  assert 'TEAM-NAME(Easton Herons)=Herons' in ' '.join(lines)
  plans = tmp_path / 'plans.jsonl'
  plans.write_text(run('plan', games, '--json'))
  run('evaluate-rotowire', plans, games)
  table = run('plan', games, '--table', '--max-steps', 9)
  assert 'sentence' in table
  assert 'Port Vale Comets at Easton Herons' in table


def test_a_page_of_the_plan(games, tmp_path):
  one, page = tmp_path / 'one.json', tmp_path / 'plan.html'
  one.write_text(json.dumps(json.loads(games.read_text())[:1]))
  options = ('--greedy', '--max-steps', 9)
  assert run('plan', one, '--html', page, *options) == run(
    'plan', one, *options
  )
  html = page.read_text()
  assert 'Port Vale Comets at Easton Herons, 2016-03-01</h1>' in html
  assert html.count('class="step"') == 10  # The end is a step, too.
  assert 'Names of players and teams are added' in html
  assert 'revised' not in html
  assert not list(tmp_path.glob('*.partial'))


def test_an_extractor_is_trained_by_one_command(games, tmp_path):
  said = run(
    *('train-extractor', games, tmp_path / 'mine', '--models', 'conv'),
    *('--least-count', 1, '--save-json', tmp_path / 'report.json'),
  )
  assert 'stepwise train-extractor games.json mine --models conv' in said
  report = json.loads((tmp_path / 'report.json').read_text())
  assert report['training_games'] == 3
  assert (tmp_path / 'mine' / 'words.txt').read_text().splitlines()
