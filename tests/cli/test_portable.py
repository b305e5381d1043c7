"""The command line where Linux, UTF-8 and English cannot be taken for granted.

A process without `fcntl` and `os.sched_getaffinity`, whose streams are those of
an old Windows and whose locale is German, in a folder with a difficult name.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stepwise
from stepwise.rotowire import parse_game
from tests.realization.usual_plans import plan_game
from tests.rotowire.games import game_fields

ROOT = Path(stepwise.__file__).parent
# Not in cp1252: an arrow, a letter and a sign beyond the first plane.
ARTICLE = 'Regen → Łódź \N{CLOUD WITH RAIN}. Ça va bien à Köln. Then it ended.'
DRIVER = """
import json, locale, os, sys, warnings
sys.modules['fcntl'] = None
del os.sched_getaffinity
locale.setlocale(locale.LC_ALL, '')
from stepwise.cli.main import main
codes = {}
with warnings.catch_warnings(record=True) as caught:
  warnings.simplefilter('always')
  for name, arguments in json.loads(sys.argv[1]).items():
    sys.argv = ['stepwise', *arguments]
    try:
      main()
    except SystemExit as ended:
      codes[name] = ended.code
    print(f'<end of {name}>')
ours = [
  f'{each.filename}:{each.lineno}'
  for each in caught
  if issubclass(each.category, EncodingWarning)
  and os.sep + 'stepwise' + os.sep in each.filename
]
print(json.dumps({'codes': codes, 'without encoding': sorted(set(ours))}))
"""


@pytest.fixture(scope='module')
def german(tmp_path_factory):
  """Variables of a German locale, made here: few machines have one."""
  folder = tmp_path_factory.mktemp('locales')
  made = shutil.which('localedef') and subprocess.run(
    ['localedef', '-i', 'de_DE', '-f', 'UTF-8', folder / 'de_DE.UTF-8'],
    capture_output=True,
  )
  if not made or made.returncode:
    pytest.skip('no localedef with the sources of de_DE (Debian: locales)')
  return {'LOCPATH': str(folder), 'LC_ALL': 'de_DE.UTF-8'}


@pytest.fixture(scope='module')
def run(german, tmp_path_factory):
  """Exit codes, what every verb printed, and the folder."""
  folder = tmp_path_factory.mktemp('portable') / 'Mein Ördner → 1'
  folder.mkdir()
  document = {'id': 'é', 'article': ARTICLE, 'highlights': ['Then it ended.']}
  (folder / 'a.jsonl').write_bytes((json.dumps(document) + '\n').encode())
  (folder / 'ß.txt').write_bytes(ARTICLE.encode())
  (folder / 'game.json').write_text(json.dumps([game_fields()]))
  plan = plan_game(parse_game(game_fields()))
  (folder / 'plan.json').write_text(json.dumps(plan))
  lead = ('--model', 'lead', '-n', '1')
  calls = {
    'text': ['summarize', 'ß.txt', *lead, '--html', 'Seite ü.html'],
    'json': ['summarize', 'a.jsonl', *lead, '--json'],
    'check': ['data', 'check', 'a.jsonl', '--json'],
    'oracle': ['oracle', 'a.jsonl', 'Orakel.jsonl', '--processes', '1'],
    'build': ['data', 'build', 'a.jsonl', 'b.jsonl', '--processes', '1'],
    'evaluate': [
      *('evaluate', 'lead:1', 'a.jsonl', 'oracle', '--processes', '1'),
      *('--save-json', 'Zahlen.json', '--html', 'scores.html'),
    ],
    'report': [
      'report',
      'game.json',
      '--plan',
      'plan.json',
      '--html',
      'r.html',
    ],
    'absent': ['summarize', 'nicht da →.txt', *lead],
  }
  done = subprocess.run(
    [sys.executable, '-c', DRIVER, json.dumps(calls)],
    capture_output=True,
    cwd=folder,
    env={
      **os.environ,
      **german,
      'PYTHONIOENCODING': 'cp1252',
      'PYTHONWARNDEFAULTENCODING': '1',
      'PYTHONPATH': str(ROOT.parent),
    },
  )
  assert not done.returncode, done.stderr.decode('cp1252')
  *printed, last = done.stdout.decode('cp1252').splitlines()
  outputs, lines = {}, []
  for line in printed:
    if line.startswith('<end of '):
      outputs[line[8:-1]], lines = '\n'.join(lines), []
    else:
      lines.append(line)
  return json.loads(last), outputs, folder


def test_every_verb_works(run):
  report, _, folder = run
  codes = report['codes']
  assert codes.pop('absent') == 2
  assert set(codes.values()) == {0}, codes
  assert len((folder / 'Orakel.jsonl').read_text().splitlines()) == 1
  assert {path.name for path in folder.iterdir()} == {
    *('a.jsonl', 'ß.txt', 'game.json', 'plan.json', 'Seite ü.html', 'r.html'),
    *('Orakel.jsonl', 'b.jsonl', 'Zahlen.json', 'scores.html'),
  }


def test_what_the_console_lacks_is_written_otherwise(run):
  _, outputs, folder = run
  assert (
    outputs['text']
    == r'Regen \u2192 \u0141ódź'.replace('ź', r'\u017a') + r' \U0001f327.'
  )
  # JSON stays JSON.
  sentence = json.loads(outputs['json'])['sentences'][0]['text']
  assert sentence == ARTICLE.partition('.')[0] + '.'
  assert sentence in (folder / 'Seite ü.html').read_text(encoding='utf-8')


def test_days_are_english(run):
  """The template names the day of the game."""
  _, outputs, _ = run
  assert ' on Friday.' in outputs['report']


def test_every_file_has_an_encoding(run):
  report, _, _ = run
  assert report['without encoding'] == []


def names(tree):
  for node in ast.walk(tree):
    if isinstance(node, ast.Import | ast.ImportFrom):
      module = getattr(node, 'module', None)
      yield from [module] if module else [a.name for a in node.names]
    elif isinstance(node, ast.Attribute):
      yield node.attr


def test_nothing_of_one_system_or_one_locale_is_used():
  """Beside what the process above happens to run through."""
  odd = {'fcntl', 'termios', 'resource', 'pwd', 'locale', 'strftime', 'fork'}
  odd |= {'getloadavg', 'nl_langinfo', 'setlocale', 'killpg', 'SIGKILL'}
  found = {
    (path.relative_to(ROOT).as_posix(), name)
    for path in ROOT.rglob('*.py')
    for name in names(ast.parse(path.read_text(encoding='utf-8')))
    if name in odd
  }
  assert found == set()
  guarded = {
    path.name
    for path in ROOT.rglob('*.py')
    if 'sched_getaffinity' in path.read_text(encoding='utf-8')
  }
  assert guarded == {'_parallel.py'}
