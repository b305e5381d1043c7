"""`plan`, `report` and `table init` of tables."""

import gzip
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.tables import plan_table, report_table

SALES = """\
region,quarter,sales
North,Q1,"$1,200"
North,Q2,"$1,500"
South,Q1,$900
South,Q2,$700
East,Q1,$400
East,Q2,$410
"""


@pytest.fixture
def sales(tmp_path):
  path = tmp_path / 'sales.csv'
  path.write_text(SALES)
  return path


def invoke(*arguments):
  return CliRunner().invoke(app, [*map(str, arguments)])


def test_report_and_plan_are_those_of_python(sales):
  report, plan = report_table(sales), plan_table(sales)
  assert invoke('report', sales).stdout == f'{report}\n'
  assert invoke('plan', sales).stdout == f'{plan}\n'
  shown = invoke('report', sales, '--json').stdout
  assert json.loads(shown) == json.loads(json.dumps(report.to_dict()))
  assert json.loads(invoke('plan', sales, '--json').stdout)['plan']
  assert invoke('report', sales, '--markdown').stdout.startswith('# Sales')
  assert '**' in invoke('plan', sales, '--markdown').stdout


def test_budgets_and_wishes(sales):
  shown = invoke('report', sales, '--words', 20, '--must-include', 'East')
  assert 'East' in shown.stdout
  assert len(shown.stdout.split()) <= 20
  shown = invoke('plan', sales, '--entries', 2, '--about', 'South', '--json')
  [sentence] = json.loads(shown.stdout)['plan']
  assert [entity for entity, *_ in sentence] == ['South', 'South']


def test_a_page(sales, tmp_path):
  for verb in ('plan', 'report'):
    page = tmp_path / f'{verb}.html'
    result = invoke(verb, sales, '--html', page)
    assert result.exit_code == 0
    assert page.read_text().startswith('<!doctype html>')
    name = {'plan': 'step-1', 'report': 'sentence-1'}[verb]
    assert f'id="{name}"' in page.read_text()


def test_a_draft_changes_nothing_and_can_be_changed(sales, tmp_path):
  target = tmp_path / 'sales.toml'
  draft = invoke('table', 'init', sales).stdout
  invoke('table', 'init', sales, target)
  assert target.read_text() == draft
  plain = invoke('report', sales).stdout
  assert invoke('report', sales, '--templates', target).stdout == plain
  said = 'label = "sales"\nsay = "sold {value}"'
  target.write_text(draft.replace('label = "sales"', said))
  assert (
    'North sold $1500' in invoke('report', sales, '--templates', target).stdout
  )


def test_notes_go_to_standard_error(tmp_path):
  path = tmp_path / 'a.csv'
  path.write_text('name,x,y\nA,1,3\nB,2,4\nC,3,5\nD,4,6\nE,many,9\n')
  result = invoke('report', path)
  assert "column 'x' is read as text" in result.stderr
  assert 'column' not in result.stdout


@pytest.mark.parametrize(
  ('arguments', 'message'),
  [
    (('report', 'absent.csv'), 'absent.csv: no such file'),
    (('report', 'SALES', '--index', '1'), '--index is not for tables'),
    (('report', 'SALES', '--realizer', 'learned'), '--realizer is not for'),
    (('report', 'SALES', '--model', 'x'), 'tables are planned by `salience`'),
    (('plan', 'SALES', '--greedy'), '--greedy is for trained planners'),
    (('plan', 'SALES', '--json', '--markdown'), 'choose one of them'),
    (('report', 'SALES', '--about', 'Mars'), "no entity or column 'Mars'"),
    (('report', 'SALES', '--words', '2'), 'the shortest report of this has'),
    (('table', 'init', 'absent.csv'), 'absent.csv: no such file'),
    (('plan', 'absent.csv', '--entries', '3'), 'absent.csv: no such file'),
    (('report', 'absent.csv', '--words', '30'), 'absent.csv: no such file'),
  ],
)
def test_mistakes(sales, arguments, message):
  given = [sales if part == 'SALES' else part for part in arguments]
  with pytest.raises(InputError, match=message):
    raise invoke(*given).exception


RUN = """
import sys
from stepwise.cli.main import app
app(sys.argv[1:], standalone_mode=False)
print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)
"""


@pytest.mark.parametrize('verb', [('report',), ('plan',), ('table', 'init')])
def test_tables_load_no_jax(sales, verb):
  done = subprocess.run(
    [sys.executable, '-c', RUN, *verb, str(sales)],
    capture_output=True,
    text=True,
    check=True,
  )
  loaded = set(done.stderr.split())
  heavy = {*('jax', 'flax', 'scipy', 'tokenizers', 'pandas', 'pyarrow', 'gin')}
  assert not loaded & heavy


@pytest.fixture
def many(tmp_path):
  folder = tmp_path / 'many'
  folder.mkdir()
  for name, factor in (('a', 1), ('b', 3)):
    rows = f'shop,staff\nQuay,{4 * factor}\nMill,{7 * factor}\nPier,1\n'
    (folder / f'{name}.csv').write_text(rows)
  (folder / 'c.csv').write_text('shop,staff\n')
  return folder


def test_many_tables_are_printed_in_order(many):
  shown = invoke('report', many, '--each')
  texts = [f'{report_table(many / name)}' for name in ('a.csv', 'b.csv')]
  assert shown.stdout == '\n\n'.join(texts) + '\n'
  assert shown.exit_code == 1
  assert 'stepwise: c: ' in shown.stderr
  assert 'but no rows' in shown.stderr
  lines = invoke('plan', many, '--each', '--json').stdout.splitlines()
  assert [json.loads(line)['id'] for line in lines] == ['a', 'b']


def test_many_tables_are_written(many, tmp_path):
  out = tmp_path / 'out.jsonl'
  command = ('report', many, '--each', '--entries', 2, '--lines', out)
  done = invoke(*command)
  assert (done.exit_code, done.stdout) == (1, f'{out}: 2 tables, 1 errors\n')
  rows = [json.loads(line) for line in out.read_text().splitlines()]
  assert [(row['line'], row['id']) for row in rows] == [
    (1, 'a'),
    (2, 'b'),
    (3, 'c'),
  ]
  assert rows[1]['text'] == report_table(many / 'b.csv', entries=2).text


def test_many_tables_of_lines_and_mistakes(many, sales, tmp_path):
  path = tmp_path / 'tables.jsonl'
  rows = [{'shop': 'Quay', 'staff': 4}, {'shop': 'Mill', 'staff': 7}]
  path.write_text(json.dumps({'id': 'x', 'table': rows}) + '\n')
  assert invoke('report', path).stdout == f'{report_table(rows)}\n'
  for arguments, message in (
    ((sales, '--each'), '--each is for folders'),
    ((sales, '--lines', tmp_path / 'o'), '--lines is for many tables'),
    ((path, '--html', tmp_path / 'p.html'), '--html is not for many tables'),
    ((sales, '--model', tmp_path / 'none'), 'tables are planned by `salience`'),
  ):
    with pytest.raises(InputError, match=message):
      raise invoke('report', *arguments).exception


TABS = SALES.replace('"$1,200"', '1200').replace('"$1,500"', '1500')
ROWS = [
  {'city': 'Aba', 'rain': 3},
  {'city': 'Ebo', 'rain': 9},
  {'city': 'Iru', 'rain': 1},
]


@pytest.mark.parametrize(
  ('name', 'content'),
  [
    ('t.csv', SALES),
    ('t.tsv', TABS.replace(',', '\t')),
    ('t.json', json.dumps(ROWS)),
    ('t.json', json.dumps(ROWS, indent=1)),
    ('t.jsonl', '\n'.join(map(json.dumps, ROWS))),
  ],
)
def test_a_table_from_a_pipe(tmp_path, name, content):
  path = tmp_path / name
  path.write_text(content)
  for verb in ('plan', 'report'):
    piped = CliRunner().invoke(app, [verb, '-'], input=content)
    assert piped.exit_code == 0
    assert piped.stdout == invoke(verb, path).stdout


def test_a_table_from_a_pipe_has_no_name():
  wide = 'region,q1,q2\nNorth,10,15\nSouth,20,16\nEast,30,33\n'
  piped = CliRunner().invoke(app, ['report', '-'], input=wide)
  assert 'had a value of 64 together' in piped.stdout


def test_a_compressed_table_from_a_pipe():
  rows = gzip.compress(json.dumps(ROWS).encode())
  piped = CliRunner().invoke(app, ['report', '-'], input=rows)
  assert piped.exit_code == 0
  assert 'Ebo' in piped.stdout


def test_nothing_from_a_pipe():
  with pytest.raises(InputError, match='standard input is empty; a table is'):
    CliRunner().invoke(app, ['report', '-'], input='', catch_exceptions=False)
