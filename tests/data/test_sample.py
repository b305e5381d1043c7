"""Random parts of a file: disjoint, in order, decided by the seed."""

import pytest

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.data import sample_lines


@pytest.fixture
def source(tmp_path):
  path = tmp_path / 'in.jsonl'
  # The last line has no end: in a part it is a line like any other.
  path.write_text('\n'.join(f'{{"n": {n}}}' for n in range(23)))
  return path


def draw(source, folder, seed=0):
  sizes = {folder / 'a.jsonl': 7, folder / 'b.jsonl': 13}
  sample_lines(source, sizes, seed=seed)
  return [path.read_text().splitlines() for path in sizes]


def test_parts_are_disjoint_and_in_order(source, tmp_path):
  first, second = draw(source, tmp_path)
  lines = source.read_text().splitlines()
  assert (len(first), len(second)) == (7, 13)
  assert not set(first) & set(second)
  for part in (first, second):
    assert part == sorted(part, key=lines.index)


def test_the_seed_decides(source, tmp_path):
  assert draw(source, tmp_path, 1) == draw(source, tmp_path, 1)
  assert draw(source, tmp_path, 1) != draw(source, tmp_path, 2)


def test_more_lines_than_there_are(source, tmp_path):
  with pytest.raises(InputError, match='has 23 lines, but 24 are asked for'):
    sample_lines(source, {tmp_path / 'a': 24}, seed=0)
  assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
  ('parts', 'message'),
  [
    (['a.jsonl'], "'a.jsonl' is not FILE:N"),
    (['a.jsonl:0'], "'a.jsonl:0' is not FILE:N"),
    (['a:1', 'a:2'], 'a:1 a:2 name a file twice'),
  ],
)
def test_bad_parts_on_the_command_line(source, parts, message):
  with pytest.raises(InputError, match=message):
    app(['data', 'sample', str(source), *parts], standalone_mode=False)
