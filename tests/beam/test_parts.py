"""Parts of files: together they are what readers of whole files give."""

import json
import pickle

import pytest

from stepwise._errors import InputError
from stepwise._files import compress
from stepwise.beam._parts import (
  Documents,
  find_sources,
  read_part,
  split_file,
  split_sources,
)
from stepwise.documents import find_format, parse_item
from tests.beam.sources import SCHEME, write_input

STORY = 'It rained on day {0}. We stayed in.\n\n@highlight\n\nRain on day {0}\n'


def all_parts(source, size):
  whole, others = split_sources(find_sources(str(source)), size)
  parts = whole + [part for file in others for part in split_file(file, size)]
  return sorted(parts, key=lambda part: part.name)


def whole_file(path):
  """Items of a file, numbered, by its reader."""
  return list(find_format(path).items(path))


def other_form(path, form):
  """The same articles in a file of another form."""
  target = path.with_name(f'in{form}')
  text = path.read_text()
  if form not in ('.jsonl.gz', '.jsonl.zst'):
    rows = [json.loads(line) for line in text.splitlines()]
  if form == '.csv':
    lines = [f'{row["id"]},"{" ".join(row["article"])}"' for row in rows]
    target.write_text('\n'.join(['id,article', *lines]) + '\n')
  elif form == '.parquet':
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), target)
  elif form == '.json':
    target.write_text(json.dumps(rows))
  else:
    target.write_bytes(compress(form, text.encode()))
  return target


@pytest.mark.parametrize('size', [1, 4, 5, 100])
def test_parts_of_lines_are_the_file(size, tmp_path):
  path = write_input(tmp_path / 'in.jsonl')
  parts = all_parts(path, size)
  found = [(item.number, item.raw) for p in parts for item in read_part(p)]
  assert found == whole_file(path)
  assert {part.items for part in parts[:-1]} <= {size}
  # Workers go to the place of their part.
  assert len({part.offset for part in parts}) == len(parts)


@pytest.mark.parametrize(
  'form', ['.jsonl.gz', '.jsonl.zst', '.json', '.csv', '.parquet']
)
def test_parts_of_other_files_are_the_file(form, tmp_path):
  path = write_input(tmp_path / 'in.jsonl', bad=False)
  path = other_form(path, form)
  parts = all_parts(path, 3)
  found = [(item.number, item.raw) for p in parts for item in read_part(p)]
  assert found == whole_file(path)
  assert [part.items for part in parts] == [3, 3, 3, 2]


def test_files_of_a_pattern_are_read_one_after_another(tmp_path):
  first = write_input(tmp_path / 'a-1.jsonl', 4, bad=False)
  second = write_input(tmp_path / 'a-2.jsonl', 3, bad=False)
  parts = all_parts(f'{tmp_path}/a-*.jsonl', 2)
  found = [(item.file, item.number) for p in parts for item in read_part(p)]
  assert found == [
    *((str(first), number) for number in (1, 2, 3, 4)),
    *((str(second), number) for number in (1, 2, 3)),
  ]
  assert [part.items for part in parts] == [2, 2, 2, 1]


def test_stories_of_a_folder_are_numbered_by_file(tmp_path):
  for number in range(5):
    (tmp_path / f's{number}.story').write_text(STORY.format(number))
  parts = all_parts(tmp_path, 2)
  lines = [line for part in parts for line in Documents(part).lines]
  assert [line.number for line in lines] == [1, 2, 3, 4, 5]
  assert [line.content.id for line in lines] == [f's{i}' for i in range(5)]
  assert [len(part.files) for part in parts] == [2, 2, 1]


def test_documents_of_a_part_keep_the_place_of_bad_lines(tmp_path):
  path = write_input(tmp_path / 'in.jsonl')
  [part] = all_parts(path, 100)
  documents = Documents(part)
  numbers = [line.number for line in documents.lines]
  assert numbers == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]
  assert [(bad.path, bad.line) for bad in documents.bad] == [
    (str(path), 3),
    (str(path), 7),
  ]
  # Other machines read it themselves.
  sent = pickle.dumps(documents)
  assert len(sent) < 1000
  again = pickle.loads(sent)
  assert [line.number for line in again.lines] == numbers
  good = documents.lines[0]
  form = find_format(path)
  assert good.content == parse_item(form, path, *whole_file(path)[0])


@pytest.mark.parametrize('form', ['.jsonl', '.jsonl.gz'])
def test_any_file_system_of_beam_is_read(form, tmp_path):
  path = write_input(tmp_path / 'in.jsonl')
  if form != '.jsonl':
    path = other_form(path, form)
  parts = all_parts(f'{SCHEME}{tmp_path}/*{form}', 4)
  found = [(item.number, item.raw) for p in parts for item in read_part(p)]
  assert found == whole_file(path)
  [line, *_] = Documents(parts[0]).lines
  assert line.file == f'{SCHEME}{path}'


def test_what_cannot_be_read_is_named(tmp_path):
  with pytest.raises(InputError, match=r'absent\.jsonl: no such file'):
    find_sources(f'{tmp_path}/absent.jsonl')
  (tmp_path / 'a.xyz').touch()
  with pytest.raises(InputError, match=r"unknown format '\.xyz'"):
    find_sources(f'{tmp_path}/a.xyz')
  (tmp_path / 'b.jsonl').write_bytes(b'a\0b\n')
  with pytest.raises(InputError, match='binary file'):
    all_parts(tmp_path / 'b.jsonl', 2)
