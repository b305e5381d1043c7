"""Many tables: in order, one at a time, and on where a run was stopped."""

import gzip
import json

import pytest

from stepwise._errors import InputError
from stepwise.tables import (
  holds_many,
  read_tables,
  report_table,
  tabulate,
  write_tables,
)

ROWS = [{'shop': 'Quay', 'staff': 4}, {'shop': 'Mill', 'staff': 7}]
LINES = [
  {'id': 'one', 'table': ROWS, 'text': 'Mill has 7 staff.'},
  {'table': {'shop': ['A', 'B', 'C'], 'price': ['$3', '$4', '$9']}},
  {'table': 'nothing'},
  {'id': 'four', 'table': {'shops': ROWS, 'towns': [{'t': 'X', 'area': 3}]}},
]


@pytest.fixture
def lines(tmp_path):
  path = tmp_path / 'many.jsonl'
  path.write_text(''.join(json.dumps(line) + '\n' for line in LINES) + '{\n')
  return path


def write(items):
  """Reports, as the command writes them."""
  rows = []
  for item in items:
    if isinstance(item.sheets, InputError):
      rows.append({'error': str(item.sheets)})
    else:
      rows.append({'text': report_table(tabulate(item.sheets)).text})
  return rows


def test_a_table_a_line(lines, tmp_path):
  items = list(read_tables(lines))
  assert [item.number for item in items] == [1, 2, 3, 4, 5]
  assert [item.id for item in items[:2]] == ['one', 'many.jsonl:2']
  assert items[0].text == 'Mill has 7 staff.'
  good = [i for i in items if not isinstance(i.sheets, InputError)]
  assert [len(item.sheets) for item in good] == [1, 1, 2]
  assert 'this is str' in str(items[2].sheets)
  assert 'not JSON' in str(items[4].sheets)
  packed = tmp_path / 'many.jsonl.gz'
  packed.write_bytes(gzip.compress(lines.read_bytes()))
  assert [i.number for i in read_tables(packed)] == [1, 2, 3, 4, 5]


def test_rows_of_one_table_are_not_many(tmp_path):
  path = tmp_path / 'rows.jsonl'
  path.write_text(''.join(json.dumps(row) + '\n' for row in ROWS))
  assert not holds_many(path)
  with pytest.raises(InputError, match='many tables are a folder, or'):
    list(read_tables(path))


def test_every_file_of_a_folder_with_the_text_beside_it(tmp_path):
  (tmp_path / 'b.csv').write_text('shop,staff\nQuay,4\nMill,7\n')
  (tmp_path / 'a.json').write_text(json.dumps(ROWS))
  (tmp_path / 'b.txt').write_text('Mill has 7 staff.')
  (tmp_path / 'c.csv').write_text('shop,staff\n')
  first, second, third = read_tables(tmp_path)
  assert [(i.id, i.text) for i in (first, second)] == [
    ('a', ''),
    ('b', 'Mill has 7 staff.'),
  ]
  assert first.sheets[0].rows == second.sheets[0].rows
  assert 'no rows' in str(third.sheets)


def test_lines_are_written_in_order_and_errors_counted(lines, tmp_path):
  target = tmp_path / 'out.jsonl'
  done = write_tables(lines, target, write, {}, batch_size=2)
  assert done == (3, 2)
  rows = [json.loads(line) for line in target.read_text().splitlines()]
  assert [row['line'] for row in rows] == [1, 2, 3, 4, 5]
  assert rows[0]['text'].endswith('Mill has staff of 7, more than Quay (4).')


def test_a_stopped_run_goes_on_and_only_with_the_same(lines, tmp_path):
  target, seen = tmp_path / 'out.jsonl', []

  def stopped(items):
    seen.append(items[0].number)
    if items[0].number == 3:
      raise KeyboardInterrupt
    return write(items)

  with pytest.raises(KeyboardInterrupt):
    write_tables(lines, target, stopped, {'wishes': '3'})
  assert not target.exists()
  with pytest.raises(InputError, match='begun with another wishes'):
    write_tables(lines, target, write, {'wishes': '4'})

  def rest(items):
    seen.append(items[0].number)
    return write(items)

  write_tables(lines, target, rest, {'wishes': '3'})
  assert seen == [1, 2, 3, 3, 4, 5]
  whole = tmp_path / 'whole.jsonl'
  write_tables(lines, whole, write, {'wishes': '3'}, batch_size=5)
  assert target.read_bytes() == whole.read_bytes()
