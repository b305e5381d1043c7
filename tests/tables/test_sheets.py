"""Tables from files and frames: the same cells from all of them."""

import gzip
import json

import pandas
import pyarrow
import pytest
from pyarrow import parquet

from stepwise._errors import InputError
from stepwise.tables import make_sheets, read_sheets

ROWS = [
  {'stað': 'Ísey', 'rain (mm)': 3.5, 'days': 4, 'open': 'yes'},
  {'stað': 'Łąka', 'rain (mm)': None, 'days': 11, 'open': 'no'},
]
CELLS = (('Ísey', '3.5', '4', 'yes'), ('Łąka', None, '11', 'no'))
HEADER = ('stað', 'rain (mm)', 'days', 'open')


def separated(delimiter):
  lines = [HEADER, *([c or '' for c in row] for row in CELLS)]
  return '\n'.join(delimiter.join(line) for line in lines) + '\n'


@pytest.mark.parametrize(
  ('name', 'content'),
  [
    ('a.csv', separated(',')),
    ('b.csv', '\ufeff' + separated(';')),
    ('c.tsv', separated('\t')),
    (
      'd.csv',
      separated(',').replace('Ísey', ' "Ísey" ').replace('11,', 'n/a,'),
    ),
    ('e.json', json.dumps(ROWS)),
    ('f.json', json.dumps({k: [r[k] for r in ROWS] for k in HEADER})),
    ('g.jsonl', '\n'.join(map(json.dumps, ROWS))),
  ],
)
def test_files(name, content, tmp_path):
  path = tmp_path / name
  path.write_text(content, encoding='utf-8')
  [sheet] = read_sheets(path)
  assert sheet.name == name[0]
  assert sheet.header == HEADER
  if name == 'd.csv':
    assert sheet.rows[1] == ('Łąka', None, None, 'no')
  else:
    assert sheet.rows == CELLS


def test_compressed_files(tmp_path):
  path = tmp_path / 'a.csv.gz'
  path.write_bytes(gzip.compress(separated(',').encode()))
  assert read_sheets(path)[0].rows == CELLS


def test_frames_and_parquet(tmp_path):
  frame = pyarrow.Table.from_pylist(ROWS)
  parquet.write_table(frame, tmp_path / 'a.parquet')
  for [sheet] in (make_sheets(frame), read_sheets(tmp_path / 'a.parquet')):
    assert (sheet.header, sheet.rows) == (HEADER, CELLS)
  (tmp_path / 'b.parquet').write_text('no')
  with pytest.raises(InputError, match='not a Parquet file'):
    read_sheets(tmp_path / 'b.parquet')


def test_pandas_frames_with_and_without_index():
  frame = pandas.DataFrame(ROWS)
  [sheet] = make_sheets(frame)
  assert (sheet.header, sheet.rows) == (HEADER, CELLS)
  [sheet] = make_sheets(frame.set_index('stað'))
  assert (sheet.header, sheet.rows) == (HEADER, CELLS)
  # An index that only numbers the rows says nothing; others name them.
  assert make_sheets(frame.set_axis(range(4, 4 + len(frame))))[0].rows == CELLS
  named = pandas.Series([3, 4], index=['A', 'B'])
  [sheet] = make_sheets(named)
  assert sheet.header == ('name', 'value')
  assert sheet.rows == (('A', '3'), ('B', '4'))
  days = pandas.date_range('2024-03-04', periods=2)
  [sheet] = make_sheets(pandas.DataFrame({'rain': [3, 4]}, index=days))
  assert sheet.header == ('date', 'rain')
  dated = pandas.DataFrame({'day': pandas.to_datetime(['2024-03-04'])})
  assert make_sheets(dated)[0].rows == (('2024-03-04 00:00:00',),)


def test_several_tables_in_a_file_and_in_a_folder(tmp_path):
  teams, players = [{'team': 'A', 'points': 3}], [{'player': 'B', 'goals': 2}]
  path = tmp_path / 'both.json'
  path.write_text(json.dumps({'teams': teams, 'players': players}))
  assert [sheet.name for sheet in read_sheets(path)] == ['teams', 'players']
  assert read_sheets(path) == make_sheets({'teams': teams, 'players': players})
  folder = tmp_path / 'folder'
  folder.mkdir()
  (folder / 'teams.csv').write_text('team,points\nA,3\n')
  (folder / 'players.csv').write_text('player,goals\nB,2\n')
  (folder / 'notes.txt').write_text('hello')
  assert [sheet.name for sheet in read_sheets(folder)] == ['players', 'teams']


def test_a_column_that_numbers_the_rows_is_left_out(tmp_path):
  path = tmp_path / 'a.csv'
  path.write_text(',name,x\n0,A,3\n1,B,4\n')
  assert read_sheets(path)[0].header == ('name', 'x')


@pytest.mark.parametrize(
  ('name', 'content', 'message'),
  [
    ('a.csv', '', 'the table is empty'),
    ('a.csv', 'name,x\n', r'has a header \(2 columns\) but no rows'),
    ('a.csv', 'name,x\nA,1\nB\n', 'row 2 has 1 cells, the header has 2'),
    ('a.csv', 'name,x\nA,1,2\n', 'row 1 has 3 cells, the header has 2'),
    ('a.csv', 'name,x,x\nA,1,2\n', "two columns are named 'x'"),
    ('a.csv', 'name,,x\nA,1,2\n', 'column 2 has no name'),
    ('a.csv', 'name,x\n"A,1\n', 'line 2: unexpected end of data'),
    ('a.csv', 'name,x\nA,=SUM(B2:B9)\n', "row 1, column 'x': '=SUM.* formula"),
    ('a.csv', b'name,x\n\xff,1\n', 'not UTF-8 text'),
    ('a.json', '{', 'not JSON'),
    ('a.json', '3', 'a table is a frame, a list of objects'),
    ('a.json', '[3]', "row 1 of 'a' is no object of columns"),
    ('a.json', '[{"a": [1]}]', 'is no cell'),
    ('a.json', '{"a": [1], "b": [1, 2]}', 'differ in length'),
    ('a.jsonl', '{"a": 1}\n{', 'line 2: not JSON'),
    ('a.xlsx', 'x', 'save it as one of them'),
  ],
)
def test_bad_files(name, content, message, tmp_path):
  path = tmp_path / name
  path.write_bytes(content if isinstance(content, bytes) else content.encode())
  with pytest.raises(InputError, match=message) as error:
    read_sheets(path)
  assert str(error.value).startswith(str(path))
  assert '\n' not in str(error.value)


def test_files_that_are_not_there(tmp_path):
  with pytest.raises(InputError, match='no such file'):
    read_sheets(tmp_path / 'a.csv')
  with pytest.raises(InputError, match='no table in this folder'):
    read_sheets(tmp_path)
