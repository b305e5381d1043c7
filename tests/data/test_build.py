"""Building records: oracles found or given, cuts counted, nothing silent."""

import json

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import (
  RecordOptions,
  build_records,
  find_oracle,
  greedy_oracle,
  load_records,
  read_oracles,
  stepwise_examples,
  wordpiece,
)
from stepwise.documents import read_documents

ROWS = [
  {
    'id': 'boat',
    'article': 'It rained. The boat sank at noon. Fish swam. All were saved.',
    'highlights': ['The boat sank.', 'All were saved.'],
  },
  {'id': 'quiet', 'article': 'Nothing happened.'},
  {
    'id': 'late',
    'article': 'A long day began. Ducks flew. The train was late.',
    'highlights': ['The train was late.'],
  },
]


@pytest.fixture
def source(tmp_path):
  path = tmp_path / 'in.jsonl'
  lines = [json.dumps(row) for row in ROWS]
  path.write_text('\n'.join([*lines, '{']) + '\n')
  return path


def test_oracles_are_searched(source, tmp_path):
  report = build_records(source, tmp_path / 'out.jsonl', wordpiece())
  loaded = list(load_records(tmp_path / 'out.jsonl'))
  bad = []
  documents = [
    document
    for document in read_documents(source, on_error=bad.append)
    if document.summary
  ]
  assert [record.id for record, _ in loaded] == ['boat', 'late']
  assert [list(oracle) for _, oracle in loaded] == [
    greedy_oracle(document.units, document.summary) for document in documents
  ]
  assert [oracle for _, oracle in loaded] == [(1, 3), (2,)]
  assert (report.records, report.without_summary) == (2, 1)
  assert report.bad_lines == bad


def test_oracles_are_searched_among_the_units_that_are_left(source, tmp_path):
  seen = []
  report = build_records(
    source,
    tmp_path / 'out.jsonl',
    wordpiece(),
    RecordOptions(max_units=2 + 2, max_unit_tokens=4),
    on_progress=seen.append,
  )
  loaded = list(load_records(tmp_path / 'out.jsonl'))
  assert [oracle for _, oracle in loaded] == [(1,), ()]
  assert (report.documents_cut, report.units_cut) == (2, 3)
  assert report.units_shortened == 2
  assert sum(seen) == report.records == 2


def test_given_oracles_are_stored(source, tmp_path):
  oracles = tmp_path / 'oracle.jsonl'
  rows = [('boat', [0]), ('quiet', []), ('late', [2, 1])]
  oracles.write_text(
    ''.join(json.dumps({'id': i, 'oracle': o}) + '\n' for i, o in rows)
  )
  report = build_records(
    source,
    tmp_path / 'out.jsonl',
    wordpiece(),
    RecordOptions(special_units=()),
    oracles=read_oracles(oracles),
  )
  loaded = list(load_records(tmp_path / 'out.jsonl'))
  assert [oracle for _, oracle in loaded] == [(0,), (), (2, 1)]
  assert {record.special for record, _ in loaded} == {0}
  assert report.without_summary == 0


@pytest.mark.parametrize(
  ('oracles', 'message'),
  [
    ({}, "no oracle is given for document 'boat'"),
    ({'boat': [4]}, "oracle_units has 4; document 'boat' has 4 units"),
  ],
)
def test_wrong_oracles_are_named_and_nothing_is_written(
  source, tmp_path, oracles, message
):
  target = tmp_path / 'out.jsonl'
  with pytest.raises(InputError, match=message):
    build_records(source, target, wordpiece(), oracles=oracles)
  assert not target.exists()


@pytest.mark.parametrize(
  ('text', 'message'),
  [
    ('{"id": "a"}', ':1: needs `id` and `oracle`'),
    ('[1]', ':1: needs `id` and `oracle`'),
    (
      '{"id": "a", "oracle": [1]}\n{"id": "a", "oracle": [2]}',
      ":2: another oracle for id 'a'",
    ),
  ],
)
def test_bad_oracle_files(tmp_path, text, message):
  path = tmp_path / 'oracle.jsonl'
  path.write_text(text)
  with pytest.raises(InputError, match=message):
    read_oracles(path)


@pytest.mark.parametrize('method', ['greedy', 'drawn'])
def test_gains_are_kept_in_the_order_of_choice(source, tmp_path, method):
  target = tmp_path / 'out.jsonl'
  build_records(source, target, wordpiece(), gains=True, method=method)
  documents = read_documents(source, on_error=lambda bad: None)
  documents = [document for document in documents if document.summary]
  for document, (record, oracle) in zip(
    documents, load_records(target), strict=True
  ):
    expected = find_oracle(
      document.units,
      document.summary,
      method=method,
      order='selection',
      gains=True,
    )
    assert list(oracle) == expected.indices
    assert record.gains is not None
    assert not record.gains[:, :2].any()
    np.testing.assert_allclose(record.gains[:, 2:], expected.gains, atol=6e-5)
    [example] = stepwise_examples(record, oracle)
    assert example['gains'].shape == (len(example['targets']), record.num_units)
    for step, single in enumerate(stepwise_examples(record, oracle, 'steps')):
      np.testing.assert_array_equal(single['gains'][0], record.gains[step])


def test_gains_need_the_search(source, tmp_path):
  with pytest.raises(InputError, match='gains are measured with the oracle'):
    build_records(
      source, tmp_path / 'out.jsonl', wordpiece(), oracles={}, gains=True
    )


def test_gains_of_other_units_are_refused(source, tmp_path):
  target = tmp_path / 'out.jsonl'
  build_records(source, target, wordpiece(), gains=True)
  rows = [json.loads(line) for line in target.read_text().splitlines()]
  rows[0]['gains'] = [[1, 2]]
  target.write_text(json.dumps(rows[0]))
  with pytest.raises(InputError, match='`gains` and `lengths` differ'):
    list(load_records(target))


def test_references_are_kept_without_what_is_no_word(source, tmp_path):
  target = tmp_path / 'out.jsonl'
  build_records(source, target, wordpiece(), RecordOptions(reference=True))
  (boat, oracle), (late, _) = load_records(target)
  ids = [
    piece
    for unit in wordpiece().encode_units(ROWS[0]['highlights'])
    for piece in unit
  ]
  stop = wordpiece().encode_units(['.'])[0][0]
  assert boat.reference.tolist() == [0 if i == stop else i for i in ids]
  assert late.reference[-1] == 0
  for example in stepwise_examples(boat, oracle, 'steps'):
    np.testing.assert_array_equal(example['reference'], boat.reference)
  build_records(source, target, wordpiece())
  assert next(iter(load_records(target)))[0].reference is None
