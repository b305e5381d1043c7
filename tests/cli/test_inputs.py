"""What people have, and what `stepwise summarize` makes of it: one table."""

import gzip
import json

import pytest
import zstandard
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from tests.documents import files
from tests.documents.files import FIRST, SECOND, story_files

TEXT = f'{FIRST}\n{SECOND}\n'
ROWS = b'{"id": "a", "text": "It rained."}\n{"id": \n{"text": " "}\n'
GOOD = {
  **story_files(),
  'a.txt.gz': gzip.compress(files.PLAIN.encode()),
  'a.pdf.zst': zstandard.compress(story_files()['a.pdf']),
  'a.jsonl.gz': gzip.compress(story_files()['a.jsonl']),
  'README': files.PLAIN.encode(),
  'A.HTML': files.PAGE.encode(),
}
# The name decides only where the bytes say nothing.
NAMED = {'a.md'}
BAD = {
  'empty.txt': (b'', 'there is no text in it'),
  'blank.md': (b' \n\t\n', 'there is no text in it'),
  'program.txt': (b'\x7fELF\x02\0', 'binary file; UTF-8 text is needed'),
  'latin.txt': ('café'.encode('latin-1'), 'not UTF-8 text: byte 0xe9'),
  'rich.txt': (b'{\\rtf1 It rained.}', r'rich text (RTF) is not read'),
  'hollow.html': (b'<html><body></body></html>', 'the page has no article'),
  'torn.pdf': (b'%PDF-1.4 and no more', 'not a readable PDF file'),
  'scan.pdf': (files.pdf([[]]), 'the PDF file has no text'),
  'torn.docx': (b'PK\x03\x04', 'not a readable Word file'),
  'torn.txt.gz': (gzip.compress(b'It rained.')[:-9], 'damaged .gz'),
}
# By their names alone: what is in them is not looked at.
UNKNOWN = ('a.xlsx', 'a.pptx', 'a.rtf', 'a.py', 'a.png', 'a.zip')


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
  monkeypatch.setenv('STEPWISE_CACHE', 'off')


def summarize(*arguments, data=None):
  command = ['summarize', *map(str, arguments), '--model', 'lead', '-n', '2']
  return CliRunner().invoke(app, command, input=data)


def written(folder, name, data):
  path = folder / name
  path.write_bytes(data)
  return path


def summaries(done):
  """Of text that was printed, or of its lines of JSON."""
  if not done.stdout.startswith('{'):
    return done.stdout
  rows = map(json.loads, done.stdout.splitlines())
  return ''.join(''.join(f'{s}\n' for s in row['summary']) for row in rows)


@pytest.mark.parametrize('name', GOOD)
def test_what_is_read(tmp_path, name):
  ways = [(written(tmp_path, name, GOOD[name]), None)]
  if name not in NAMED:
    ways.append(('-', GOOD[name]))
  for source, data in ways:
    done = summarize(source, data=data)
    assert done.exit_code == 0, done.exception
    assert summaries(done) == TEXT
    assert done.stderr == ''


@pytest.mark.parametrize('name', BAD)
def test_what_is_refused(tmp_path, name):
  data, message = BAD[name]
  for source in (written(tmp_path, name, data), '-'):
    done = summarize(source, data=data)
    assert isinstance(done.exception, InputError)
    told = str(done.exception)
    assert message in told and '\n' not in told
    assert told.startswith(('standard input: ', str(tmp_path)))
    assert done.stdout == ''


@pytest.mark.parametrize('name', UNKNOWN)
def test_what_is_not_known(tmp_path, name):
  done = summarize(written(tmp_path, name, files.PLAIN.encode()))
  assert isinstance(done.exception, InputError)
  assert 'unknown format' in str(done.exception)


def test_rows_that_cannot_be_read_are_errors_in_their_place(tmp_path):
  for source in (written(tmp_path, 'a.jsonl', ROWS), '-'):
    done = summarize(source, data=ROWS)
    assert done.exit_code == 1
    good, broken, empty = map(json.loads, done.stdout.splitlines())
    assert (good['line'], good['id']) == (1, 'a')
    assert good['summary'] == ['It rained.']
    assert (broken['line'], empty['line']) == (2, 3)
    assert 'not JSON' in broken['error']
    assert 'has no text' in empty['error']


def test_all_of_a_folder(tmp_path):
  """One bad file of a folder does not end it."""
  for name, data in GOOD.items():
    written(tmp_path, name, data)
  for name, (data, _) in BAD.items():
    written(tmp_path, name, data)
  for name in UNKNOWN:
    written(tmp_path, name, b'')
  done = summarize(tmp_path, '--json')
  assert done.exit_code == 1
  rows = {row['file']: row for row in map(json.loads, done.stdout.splitlines())}
  # What has no ending is no document of a folder.
  assert rows.keys() == (GOOD.keys() | BAD.keys()) - {'README', 'noname'}
  assert {name for name, row in rows.items() if 'error' in row} == set(BAD)
  assert all(name in done.stderr for name in ('README', *UNKNOWN))
