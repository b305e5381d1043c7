"""Lines survive an interruption: none lost, none torn, none mixed up."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.data._resumable import ResumableLines

MADE_FROM = {'input': 'abc', 'options': {'method': 'greedy'}}


@pytest.fixture
def target(tmp_path):
  return tmp_path / 'out.jsonl'


def begin(target, *records):
  """An unfinished run: the file is closed but has not got its name."""
  with ResumableLines(target, MADE_FROM, key='line') as lines:
    lines.append(records)


def test_a_finished_file_is_alone(target):
  with ResumableLines(target, MADE_FROM, key='line') as lines:
    assert lines.done == set()
    lines.append([{'line': 1}, {'line': 2, 'id': 'ü\n'}])
    lines.finish()
  records = [json.loads(line) for line in target.read_text().splitlines()]
  assert records == [{'line': 1}, {'line': 2, 'id': 'ü\n'}]
  assert list(target.parent.iterdir()) == [target]


def test_an_unfinished_file_goes_on_after_its_last_line(target):
  begin(target, {'line': 1}, {'line': 2})
  assert not target.exists()
  with ResumableLines(target, MADE_FROM, key='line') as lines:
    assert lines.done == {1, 2}
    lines.append([{'line': 3}])
    lines.finish()
  assert target.read_text() == '{"line": 1}\n{"line": 2}\n{"line": 3}\n'


@pytest.mark.parametrize('kept', range(12))
def test_a_torn_line_is_dropped(target, kept):
  begin(target, {'line': 1}, {'line': 2})
  partial = target.with_name('out.jsonl.partial')
  # Cut anywhere inside the second line, its newline included.
  partial.write_bytes(partial.read_bytes()[: 12 + kept])
  with ResumableLines(target, MADE_FROM, key='line') as lines:
    assert lines.done == {1}
    lines.append([{'line': 2}])
    lines.finish()
  assert target.read_text() == '{"line": 1}\n{"line": 2}\n'


def test_other_options_are_refused_and_nothing_is_lost(target):
  begin(target, {'line': 1})
  other = MADE_FROM | {'options': {'method': 'combination'}}
  with pytest.raises(InputError, match='was begun with another options'):
    ResumableLines(target, other, key='line')
  with ResumableLines(target, MADE_FROM, key='line') as lines:
    assert lines.done == {1}


def test_a_run_that_wrote_nothing_binds_nobody(target):
  begin(target)
  with ResumableLines(
    target, {'input': 'other', 'options': {}}, key='line'
  ) as lines:
    assert lines.done == set()


def test_two_runs_cannot_write_one_file(target):
  with (
    ResumableLines(target, MADE_FROM, key='line'),
    pytest.raises(InputError, match='Another run is writing'),
  ):
    ResumableLines(target, MADE_FROM, key='line')


def test_a_missing_folder_is_refused(tmp_path):
  with pytest.raises(InputError, match='does not exist'):
    ResumableLines(tmp_path / 'none' / 'out.jsonl', MADE_FROM, key='line')
