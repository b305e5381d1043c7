"""The file check: counts, distributions, duplicates, bad lines."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.data import check_files


def _write(path, *rows) -> str:
  lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
  path.write_text('\n'.join(lines) + '\n')
  return str(path)


def test_counts_and_distributions(tmp_path):
  path = _write(
    tmp_path / 'a.jsonl',
    {'article': 'One two. Three.', 'highlights': ['S.', 'T.']},
    {'article': 'One.', 'highlights': []},
    {'article': 'One two. ' * 7},
  )
  [report] = check_files([path])
  assert (report.documents, report.without_summary) == (3, 2)
  assert report.units is not None
  assert (report.units.smallest, report.units.largest) == (1, 7)
  assert report.units.mean == pytest.approx(10 / 3)
  assert report.units.median == 2
  assert report.units.percentile_95 == pytest.approx(2 + 0.9 * 5)
  assert report.words is not None
  assert (report.words.smallest, report.words.largest) == (1, 14)
  assert report.summary_units is not None
  assert report.summary_units.mean == 2
  assert report.bad_lines == report.duplicates == ()


def test_duplicates_within_and_across_files(tmp_path):
  train = _write(
    tmp_path / 'train.jsonl',
    {'id': 'a', 'article': 'It rained. We left.'},
    {'id': 'b', 'article': 'It snowed.'},
    {'id': 'a', 'article': 'it  rained.\nWe left.'},
  )
  test = _write(
    tmp_path / 'test.jsonl',
    {'id': 'c', 'article': ['It snowed.']},
    {'id': 'd', 'article': 'It hailed.'},
  )
  first, second = check_files([train, test])
  [within] = first.duplicates
  assert (within.id, within.first_path, within.first_id) == ('a', train, 'a')
  [across] = second.duplicates
  assert (across.id, across.first_path, across.first_id) == ('c', train, 'b')


def test_every_bad_line_is_listed(tmp_path):
  path = _write(tmp_path / 'a.jsonl', '{', {'article': 'Good.'}, '', '[]')
  [report] = check_files([path])
  assert [bad.line for bad in report.bad_lines] == [1, 4]
  assert report.documents == 1


def test_a_file_of_bad_lines_has_no_distributions(tmp_path):
  [report] = check_files([_write(tmp_path / 'a.jsonl', '{')])
  assert report.units is report.words is report.summary_units is None


def test_an_unusable_file_is_an_error(tmp_path):
  with pytest.raises(InputError, match='no such file'):
    check_files([tmp_path / 'a.jsonl'])
