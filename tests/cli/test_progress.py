"""Progress is for people: it never changes what goes to standard output."""

import ast
import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import stepwise
from stepwise.cli._progress import counted
from stepwise.cli.main import main
from tests.summarization.tiny_bundles import tiny_bundle
from tests.training.runs import write_articles


class Terminal:
  """A pseudo terminal that remembers what was written to it."""

  def __enter__(self):
    self._master, self._slave = pty.openpty()
    self.file = open(self._slave, 'w', closefd=False)
    self._read = []
    self._reader = threading.Thread(target=self._drain)
    self._reader.start()
    return self

  def __exit__(self, *error):
    self.file.close()
    os.close(self._slave)
    self._reader.join()
    os.close(self._master)

  @property
  def text(self):
    return b''.join(self._read).decode().replace('\r\n', '\n')

  def fileno(self):
    return self._slave

  def _drain(self):
    try:
      while data := os.read(self._master, 4096):
        self._read.append(data)
    except OSError:  # Linux says so when the other end is closed.
      pass


@pytest.fixture(autouse=True)
def plain(monkeypatch):
  monkeypatch.setenv('STEPWISE_CACHE', 'off')
  monkeypatch.setenv('TERM', 'xterm')
  # Whoever runs the tests may have chosen for all programs.
  for name in ('NO_COLOR', 'FORCE_COLOR', 'TTY_COMPATIBLE'):
    monkeypatch.delenv(name, raising=False)


def run(monkeypatch, out, errors, *arguments):
  """Runs a command with these files as standard output and standard error."""
  monkeypatch.setattr(sys, 'stdout', out)
  monkeypatch.setattr(sys, 'stderr', errors)
  monkeypatch.setattr(sys, 'argv', ['stepwise', *map(str, arguments)])
  with pytest.raises(SystemExit) as ended:
    main()
  out.flush()
  monkeypatch.undo()
  assert not ended.value.code


def everywhere(monkeypatch, folder, *arguments):
  """The output in a file without and with a terminal, and on a terminal.

  Standard error is a file, then a terminal twice: what it showed comes last.
  """
  quiet, shown = folder / 'quiet', folder / 'shown'
  with quiet.open('w') as out, (folder / 'errors').open('w') as errors:
    run(monkeypatch, out, errors, *arguments)
  assert (folder / 'errors').read_text() == ''
  with shown.open('w') as out, Terminal() as terminal:
    run(monkeypatch, out, terminal.file, *arguments)
  with Terminal() as both:
    run(monkeypatch, both.file, both.file, *arguments)
  return quiet.read_text(), shown.read_text(), both.text, terminal.text


@pytest.fixture
def articles(tmp_path):
  return write_articles(tmp_path / 'in.jsonl', 3)


@pytest.mark.parametrize('flags', [(), ('--json',)])
def test_summaries_go_to_the_file(articles, tmp_path, monkeypatch, flags):
  arguments = ('summarize', articles, '--model', 'lead', '-n', 1, *flags)
  quiet, shown, both, progress = everywhere(monkeypatch, tmp_path, *arguments)
  assert [json.loads(line)['line'] for line in quiet.splitlines()] == [1, 2, 3]
  assert quiet == shown == both
  assert 'Summaries of in.jsonl' in progress


def test_summaries_of_a_folder_go_to_the_file(tmp_path, monkeypatch):
  texts = tmp_path / 'texts'
  texts.mkdir()
  (texts / 'a.txt').write_text('It rained. We stayed in.')
  arguments = ('summarize', texts, '--model', 'lead', '-n', 1)
  quiet, shown, both, progress = everywhere(monkeypatch, tmp_path, *arguments)
  assert quiet == '==> a.txt <==\nIt rained.\n\n'
  assert quiet == shown == both
  assert 'Summaries of texts' in progress


@pytest.fixture(scope='module')
def bundle(tmp_path_factory):
  return tiny_bundle(tmp_path_factory.mktemp('bundles') / 'tiny')


@pytest.mark.parametrize(
  ('verb', 'description', 'output'),
  [
    (('oracle',), 'Oracles of in.jsonl', ''),
    (('data', 'build'), 'Records of in.jsonl', 'out: 3 records'),
    (('infer',), 'Summaries of in.jsonl', 'out: 3 summaries, 0 errors'),
  ],
)
def test_verbs_that_write_files_print_the_same(
  articles, bundle, tmp_path, monkeypatch, verb, description, output
):
  out = tmp_path / 'out'
  files = (bundle, articles, out) if verb == ('infer',) else (articles, out)
  arguments = [*verb, *files]
  if verb != ('infer',):
    arguments += ['--processes', 1]
  quiet, shown, both, progress = everywhere(monkeypatch, tmp_path, *arguments)
  assert output in quiet
  assert quiet == shown
  assert both.endswith(quiet)
  assert description in progress
  assert description in both


def test_what_is_printed_meanwhile_goes_where_it_should(tmp_path, monkeypatch):
  path = tmp_path / 'out'
  with path.open('w') as out, Terminal() as terminal:
    monkeypatch.setattr(sys, 'stdout', out)
    monkeypatch.setattr(sys, 'stderr', terminal.file)
    with counted('Training', 5) as advance:
      print('a result')
      print('a warning', file=sys.stderr)
      advance(2, 'Training, loss 0.5')
    monkeypatch.undo()
  assert path.read_text() == 'a result\n'
  assert 'a warning' in terminal.text
  assert 'Training, loss 0.5' in terminal.text
  assert '2/5' in terminal.text


def test_a_shell_gets_the_same(articles, tmp_path):
  """The whole program, as one starts it from a terminal."""
  out = tmp_path / 'out.jsonl'
  command = [sys.executable, '-m', 'stepwise.cli.main', 'summarize']
  with out.open('w') as stdout, Terminal() as terminal:
    done = subprocess.run(
      [*command, str(articles), '--model', 'lead', '--json'],
      stdin=terminal,
      stdout=stdout,
      stderr=terminal,
    )
  assert done.returncode == 0
  rows = [json.loads(line) for line in out.read_text().splitlines()]
  assert [row['id'] for row in rows] == [f'article-{i}' for i in range(3)]


def test_there_is_one_progress_display():
  """So that every verb has what is tested here."""
  importers = set()
  root = Path(stepwise.__file__).parent
  for path in root.rglob('*.py'):
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
      names = [node.module] if isinstance(node, ast.ImportFrom) else []
      if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
      if {'rich.progress', 'rich.live', 'rich.status'} & set(names):
        importers.add(path.relative_to(root).as_posix())
  assert importers == {'cli/_progress.py'}
