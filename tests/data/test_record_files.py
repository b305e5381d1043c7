"""Files of records: round trips, atomic writing, clear errors."""

import dataclasses

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import load_records, make_record, save_records, wordpiece
from stepwise.documents import make_document


@pytest.fixture
def labelled():
  articles = ['One. Two words. Three.', 'Ça va? Oui, 東京.']
  documents = [
    make_document({'article': article, 'id': f'id {i}'})
    for i, article in enumerate(articles)
  ]
  records = [
    make_record(document, wordpiece(), max_units=4) for document in documents
  ]
  return list(zip(records, [(0, 2), ()], strict=True))


@pytest.mark.parametrize('name', ['a.jsonl', 'a.jsonl.gz', 'a.jsonl.zst'])
def test_round_trip(tmp_path, labelled, name):
  assert save_records(tmp_path / name, labelled) == 2
  loaded = list(load_records(tmp_path / name, tokenizer='wordpiece'))
  for (record, oracle), (expected, expected_oracle) in zip(
    loaded, labelled, strict=True
  ):
    assert oracle == expected_oracle
    for field in dataclasses.fields(expected):
      np.testing.assert_array_equal(
        getattr(record, field.name), getattr(expected, field.name)
      )
    assert record.tokens.dtype == record.unit_ids.dtype == np.int32


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, labelled):
  path = tmp_path / 'a.jsonl'
  save_records(path, labelled)
  before = path.read_bytes()

  def failing():
    yield labelled[0]
    raise RuntimeError('power cut')

  with pytest.raises(RuntimeError, match='power cut'):
    save_records(path, failing())
  assert path.read_bytes() == before
  assert list(tmp_path.iterdir()) == [path]


def test_equal_records_give_equal_files(tmp_path, labelled):
  for name in ('a.jsonl.gz', 'b.jsonl.gz'):
    save_records(tmp_path / name, labelled)
  first, second = (path.read_bytes() for path in tmp_path.iterdir())
  assert first == second


def test_another_tokenizer_is_refused(tmp_path, labelled):
  save_records(tmp_path / 'a.jsonl', labelled)
  with pytest.raises(InputError, match="made with the tokeniser 'wordpiece'"):
    list(load_records(tmp_path / 'a.jsonl', tokenizer='byte_level_bpe'))


@pytest.mark.parametrize(
  ('old', 'new', 'message'),
  [
    ('"tokens":[', '"tokens":[7,', '`lengths` do not add up'),
    ('"spans":[', '"spans":[[0,0],', '`spans` and `lengths` differ'),
    ('"tokens"', '"pieces"', "a.jsonl:1: not a record .'tokens'"),
    ('{', '', 'a.jsonl:1: not a record .*written by `stepwise data build`'),
  ],
)
def test_damaged_records_are_named_by_line(
  tmp_path, labelled, old, new, message
):
  path = tmp_path / 'a.jsonl'
  save_records(path, labelled)
  path.write_text(path.read_text().replace(old, new))
  with pytest.raises(InputError, match=message):
    list(load_records(path))


def test_a_missing_folder_is_named(tmp_path, labelled):
  with pytest.raises(InputError, match='no such folder'):
    save_records(tmp_path / 'nowhere' / 'a.jsonl', labelled)


def test_a_folder_is_not_a_file_of_records(tmp_path):
  with pytest.raises(InputError, match=f'{tmp_path}: Is a directory'):
    list(load_records(tmp_path))
