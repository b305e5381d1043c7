import logging
import re
from dataclasses import replace

import pytest

from stepwise._errors import InputError
from stepwise.documents import read_documents
from stepwise.tasks import DocumentFiles
from stepwise.tasks._documents import document_from_features
from tests.tasks.stories import STORIES, write_stories


def test_files_give_documents_marked_by_split(tmp_path):
  path = write_stories(tmp_path / 'a.jsonl')
  source = DocumentFiles({'train': path, 'test': path})
  documents = [
    replace(document, kinds=(), language='')
    for document in read_documents(path)
  ]
  for split in ('train', 'test'):
    rows = list(source.get_dataset(split, False).as_numpy_iterator())
    assert [row.pop('training') for row in rows] == [split == 'train'] * 4
    found = [document_from_features(**_named(row)) for row in rows]
    assert found == documents


def test_patterns_and_variables_are_expanded_late(tmp_path, monkeypatch):
  source = DocumentFiles({'train': '$STORIES/part-*.jsonl'})
  files = [write_stories(tmp_path / f'part-{i}.jsonl') for i in range(3)]
  monkeypatch.setenv('STORIES', str(tmp_path))
  assert source.list_shards('train') == files
  assert len(list(source.get_dataset('train', False))) == 3 * len(STORIES)


def test_bad_lines_are_logged_and_left_out(tmp_path, caplog):
  bad = [
    {'id': 'no key', 'highlights': 'A summary.'},
    {'id': 'empty', 'article': ' ', 'highlights': 'A summary.'},
    {'id': 'no summary', 'article': 'A text.'},
  ]
  path = write_stories(tmp_path / 'a.jsonl', [*bad, *STORIES])
  source = DocumentFiles({'train': path})
  with caplog.at_level(logging.WARNING):
    rows = list(source.get_dataset('train', False).as_numpy_iterator())
  assert [row['id'].decode() for row in rows] == [s['id'] for s in STORIES]
  ours = [r for r in caplog.records if r.name.startswith('stepwise')]
  assert [record.getMessage() for record in ours] == [
    f"{path}:1: no 'article' or 'document' or 'text' or 'content' or 'body'; "
    "found ['highlights'].",
    f"{path}:2: 'article' has no text.",
    f'{path}: no summary: no summary.',
    f'{path}: documents left out: 3.',
  ]


@pytest.mark.parametrize('name', ['none.jsonl', 'none-*.jsonl'])
def test_a_missing_file_is_named(tmp_path, name):
  source = DocumentFiles({'train': str(tmp_path / name)})
  with pytest.raises(InputError, match=f'train.*{re.escape(name)}: no such'):
    source.get_dataset('train')


def test_a_source_needs_a_split():
  with pytest.raises(InputError, match='at least one split'):
    DocumentFiles({})


def _named(row):
  return {
    'text': row['inputs_pretokenized'],
    'spans': row['spans'],
    'summary': row['targets_pretokenized'],
    'name': row['id'],
  }
