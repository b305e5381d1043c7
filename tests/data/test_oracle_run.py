"""Oracles of a file: in order, with bad lines reported, in one or more runs."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.data import (
  OracleOptions,
  document_oracle,
  document_oracles,
  find_oracle,
  write_oracles,
)
from stepwise.documents import Document, make_document, read_documents

WORDS = ['rain', 'wind', 'snow', 'fog', 'sun', 'hail', 'frost']


def record(index):
  """An article of seven sentences whose summary is two of them."""
  units = [f'There was {word} on day {index}.' for word in WORDS]
  chosen = [units[index % 3], units[3 + index % 4]]
  return {'id': f'd{index}', 'article': units, 'highlights': chosen}


def write_source(path, count=5):
  path.write_text(
    ''.join(f'{json.dumps(record(index))}\n' for index in range(count))
  )
  return path


def read_lines(path):
  return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize('processes', [1, 2])
def test_one_line_per_document_in_order(tmp_path, processes):
  source, target = write_source(tmp_path / 'in.jsonl'), tmp_path / 'out.jsonl'
  done = []
  bad = write_oracles(
    source,
    target,
    OracleOptions(),
    processes=processes,
    on_progress=done.append,
  )
  assert bad == []
  assert sum(done) == 5
  lines = read_lines(target)
  assert [line['id'] for line in lines] == ['d0', 'd1', 'd2', 'd3', 'd4']
  assert [line['line'] for line in lines] == [1, 2, 3, 4, 5]
  assert [line['oracle'] for line in lines] == [
    [0, 3],
    [1, 4],
    [2, 5],
    [0, 6],
    [1, 3],
  ]
  assert all(line['rouge']['rougeLsum'] == 1 for line in lines)
  assert {path.name for path in tmp_path.iterdir()} == {'in.jsonl', 'out.jsonl'}


def test_bad_lines_are_skipped_and_listed(tmp_path):
  source, target = (
    write_source(tmp_path / 'in.jsonl', 2),
    tmp_path / 'out.jsonl',
  )
  with source.open('a') as stream:
    stream.write('{"article": "No sum')
    stream.write('\n\n{"article": "No summary."}\n{"article": []}\n')
    stream.write(json.dumps(record(2)) + '\n')
  bad = write_oracles(source, target, OracleOptions())
  assert [line['line'] for line in read_lines(target)] == [1, 2, 7]
  assert [line.line for line in bad] == [3, 5, 6]
  errors = read_lines(tmp_path / 'out.jsonl.errors.jsonl')
  assert [error['line'] for error in errors] == [3, 5, 6]
  assert 'not JSON' in errors[0]['error']
  assert 'no summary' in errors[1]['error']


class Interrupted(Exception):
  pass


def interrupt_after(limit):
  """A progress callback that ends the run once `limit` items are done."""
  done = 0

  def on_progress(items):
    nonlocal done
    done += items
    if done >= limit:
      raise Interrupted

  return on_progress


def test_an_interrupted_run_continues(tmp_path):
  source = write_source(tmp_path / 'in.jsonl', 70)
  lines = source.read_text().splitlines()
  lines[3] = 'not JSON'
  source.write_text('\n'.join(lines))
  target, whole = tmp_path / 'out.jsonl', tmp_path / 'whole.jsonl'
  expected = write_oracles(source, whole, OracleOptions())
  with pytest.raises(Interrupted):
    write_oracles(
      source, target, OracleOptions(), on_progress=interrupt_after(40)
    )
  assert not target.exists()
  done = []
  bad = write_oracles(source, target, OracleOptions(), on_progress=done.append)
  # Two chunks of 32 were there, but for the bad line, which comes again.
  assert done[0] == 63
  assert bad == expected
  assert target.read_bytes() == whole.read_bytes()


def test_another_input_does_not_continue_it(tmp_path):
  source, target = write_source(tmp_path / 'in.jsonl', 40), tmp_path / 'out'
  with pytest.raises(Interrupted):
    write_oracles(
      source, target, OracleOptions(), on_progress=interrupt_after(32)
    )
  write_source(source, 41)
  with pytest.raises(InputError, match='begun with another input'):
    write_oracles(source, target, OracleOptions())
  options = OracleOptions(method='combination')
  write_source(source, 40)
  with pytest.raises(InputError, match='begun with another options'):
    write_oracles(source, target, options)


def test_a_folder_of_stories_is_numbered_by_file(tmp_path):
  for name in 'ab':
    (tmp_path / f'{name}.story').write_text(
      f'It rained on {name}.\n\n@highlight\n\nIt rained on {name}\n'
    )
  target = tmp_path / 'out.jsonl'
  write_oracles(tmp_path, target, OracleOptions())
  lines = read_lines(target)
  assert [line['line'] for line in lines] == [1, 2]
  assert [line['id'] for line in lines] == ['a', 'b']
  assert [line['oracle'] for line in lines] == [[0], [0]]


def test_a_missing_or_empty_input_is_an_error(tmp_path):
  with pytest.raises(InputError, match=r'none\.jsonl: no such file'):
    write_oracles(tmp_path / 'none.jsonl', tmp_path / 'out', OracleOptions())
  (tmp_path / 'empty.jsonl').write_text('\n')
  for source in (tmp_path / 'empty.jsonl', tmp_path):
    with pytest.raises(InputError, match='empty; at least one document'):
      write_oracles(source, tmp_path / 'out', OracleOptions())
  assert [path.name for path in tmp_path.iterdir()] == ['empty.jsonl']


def test_ids_are_those_of_the_reader(tmp_path):
  source, target = tmp_path / 'in.jsonl', tmp_path / 'out.jsonl'
  rows = [record(0), {**record(1), 'id': 7}, record(2)]
  del rows[2]['id']
  source.write_text('\n'.join(map(json.dumps, rows)))
  write_oracles(source, target, OracleOptions())
  expected = [document.id for document in read_documents(source)]
  assert [line['id'] for line in read_lines(target)] == expected


def test_only_units_within_the_tokens_are_chosen():
  document = make_document(record(0))
  # "There was rain on day 0 ." is seven word pieces.
  oracle = document_oracle(document, OracleOptions(max_tokens=27))
  assert max(oracle.indices) < 3
  oracle = document_oracle(document, OracleOptions(max_tokens=28))
  assert oracle.indices == [0, 3]


@pytest.mark.parametrize('processes', [1, 2])
def test_oracles_of_documents(processes):
  documents = [make_document(record(index)) for index in range(3)]
  documents.append(Document('', ()))
  options = OracleOptions(method='combination', order='selection')
  oracles = list(document_oracles(documents, options, processes=processes))
  assert oracles == [
    find_oracle(d.units, d.summary, method='combination', order='selection')
    for d in documents
  ]
