"""Readers: every format gives the same documents, every mistake a sentence."""

import csv
import gzip
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from stepwise._errors import InputError
from stepwise.documents import BadLine, make_document, read_documents

ROWS = [
  {
    'id': 'storm',
    'article': 'The storm hit at 9 a.m. on Monday.\nNo one was hurt.',
    'highlights': 'A storm hit.\nAll are safe.',
  },
  {
    'id': 'harbour',
    'article': 'The harbour is shut. Ferries wait outside.',
    'highlights': 'Harbour shut',
  },
]
UNITS = [
  ('The storm hit at 9 a.m. on Monday.', 'No one was hurt.'),
  ('The harbour is shut.', 'Ferries wait outside.'),
]
SUMMARIES = [('A storm hit.', 'All are safe.'), ('Harbour shut',)]


def _json_lines(rows=ROWS) -> bytes:
  return ''.join(json.dumps(row) + '\n' for row in rows).encode()


def _write_table(path, delimiter):
  with path.open('w', newline='') as stream:
    writer = csv.DictWriter(stream, list(ROWS[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(ROWS)


WRITERS = {
  'a.jsonl': lambda path: path.write_bytes(_json_lines()),
  'a.JSONL': lambda path: path.write_bytes(b'\xef\xbb\xbf' + _json_lines()),
  'a.json.gz': lambda path: path.write_bytes(gzip.compress(_json_lines())),
  'a.b.jsonl.zst': lambda path: path.write_bytes(
    zstandard.compress(_json_lines(ROWS[:1]))
    + zstandard.compress(_json_lines(ROWS[1:]))
  ),
  'a.csv': lambda path: _write_table(path, ','),
  'a.tsv': lambda path: _write_table(path, '\t'),
  'a.parquet': lambda path: pq.write_table(pa.Table.from_pylist(ROWS), path),
}


@pytest.mark.parametrize('name', WRITERS)
def test_all_formats_give_the_same_documents(tmp_path, name):
  WRITERS[name](tmp_path / name)
  documents = list(read_documents(tmp_path / name))
  assert [document.units for document in documents] == UNITS
  assert [document.summary for document in documents] == SUMMARIES
  assert [document.id for document in documents] == ['storm', 'harbour']
  assert [document.text for document in documents] == [
    row['article'] for row in ROWS
  ]


def test_lists_and_the_other_names_of_keys(tmp_path):
  row = {
    'document': ['One. Two.', ' ', 'Three'],
    'summary': ['First. Still first.', ''],
  }
  path = tmp_path / 'a.parquet'
  pq.write_table(pa.Table.from_pylist([row]), path)
  [document] = read_documents(path)
  assert document.units == ('One.', 'Two.', 'Three')
  assert document.text == 'One. Two.\n\nThree'
  assert document.summary == ('First. Still first.',)
  assert document.id == 'a.parquet:1'


def test_a_single_line_of_summary_is_split():
  document = make_document({'article': 'Text.', 'highlights': 'One. Two.\n'})
  assert document.summary == ('One.', 'Two.')


def test_a_summary_is_optional():
  assert make_document({'article': 'Text.'}).summary == ()


def test_wrapped_paragraphs_are_mended_but_lists_are_not():
  article = [
    'It happened in the',
    'parking garage. Nobody',
    'was hurt',
    'Caption here',
    'a) first',
    'b) second',
  ]
  assert make_document({'article': article}).units == (
    'It happened in the\nparking garage.',
    'Nobody\nwas hurt',
    'Caption here',
    'a) first',
    'b) second',
  )


def test_lower_cased_paragraphs_are_left_alone():
  article = ['the first of three', 'the second', 'the third']
  assert make_document({'article': article}).units == tuple(article)


STORY = """Storm hits coast

(CNN) -- A storm hit. No one
was hurt.

@highlight

A storm
hit

@highlight

All are safe
"""


@pytest.mark.parametrize('newline', ['\n', '\r\n'])
def test_a_folder_of_stories(tmp_path, newline):
  for name in ('b', 'a'):
    text = STORY.replace('Storm hits', f'Storm {name} hits')
    (tmp_path / f'{name}.story').write_bytes(
      text.replace('\n', newline).encode()
    )
  (tmp_path / 'notes.txt').write_text('Ignored.')
  first, second = read_documents(tmp_path)
  assert first.units == (
    'Storm a hits coast',
    '(CNN) -- A storm hit.',
    'No one\nwas hurt.',
  )
  assert first.summary == ('A storm hit', 'All are safe')
  assert (first.id, second.id) == ('a', 'b')
  assert second.units[0] == 'Storm b hits coast'


def test_plain_text_is_one_document(tmp_path):
  path = tmp_path / 'note.txt'
  path.write_text('Title\n\nOne. Two.\n', 'utf-8')
  [document] = read_documents(path)
  assert document.units == ('Title', 'One.', 'Two.')
  assert document.text == 'Title\n\nOne. Two.\n'
  assert document.id == 'note'


def test_a_megabyte_on_one_line(tmp_path):
  path = tmp_path / 'a.jsonl'
  path.write_text(
    json.dumps({'article': 'Some more words are here to read. ' * 30_000})
  )
  [document] = read_documents(path)
  assert len(document.spans) == 30_000
  wide = tmp_path / 'a.csv'
  wide.write_text('article\n' + 'word ' * 200_000 + '\n')
  [document] = read_documents(wide)
  assert len(document.text) == 1_000_000


def test_a_splitter_of_the_user(tmp_path):
  def halves(text):
    middle = len(text) // 2
    return [(0, middle), (middle, len(text))]

  path = tmp_path / 'a.jsonl'
  path.write_text('{"article": ["abcd", "efgh"]}')
  [document] = read_documents(path, splitter=halves)
  assert document.units == ('ab', 'cd', 'ef', 'gh')


@pytest.mark.parametrize('spans', [[(2, 2)], [(0, 9)], [(2, 4), (0, 2)]])
def test_a_bad_splitter_is_named(spans):
  with pytest.raises(InputError, match=r'splitter returned the span \('):
    make_document({'article': 'abcd'}, lambda text: spans)


BAD_LINES = {
  b'{"article": "Cut o\n': 'not JSON: Unterminated string',
  b'[1]\n': 'a JSON object is needed, not list',
  b'{"prose": "Hi."}\n': r"no 'article' or .* 'body'; found \['prose'\]",
  b'{"article": null}\n': "no 'article' or 'document'",
  b'{"article": 5}\n': "'article' must be a string or a list of strings, not",
  b'{"article": ["a", {}]}\n': 'list of strings, not dict',
  b'{"article": "A.", "summary": 1}\n': "'summary' must be a string",
  b'{"article": " "}\n': "'article' has no text",
  b'{"article": []}\n': "'article' has no text",
  b'{"article": "caf\xe9"}\n': 'not UTF-8 text: byte 0xe9 at offset 16',
  b'{"article": "\\ud800."}\n': "'article' has half a surrogate pair",
  b'[' * 200_000 + b'\n': 'nested too deeply',
}


@pytest.mark.parametrize('line', BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_reported_by_number_and_skipped(tmp_path, line):
  good = b'{"article": "Good."}\n'
  path = tmp_path / 'a.jsonl'
  path.write_bytes(good + b'\n' + line + good)
  with pytest.raises(InputError, match=rf'a\.jsonl:3: .*{BAD_LINES[line]}'):
    list(read_documents(path))
  bad: list[BadLine] = []
  documents = list(read_documents(path, on_error=bad.append))
  assert [document.id for document in documents] == ['a.jsonl:1', 'a.jsonl:4']
  assert [(line.path, line.line) for line in bad] == [(str(path), 3)]


def test_table_rows_of_wrong_width(tmp_path):
  path = tmp_path / 'a.csv'
  path.write_text('highlights,article\nS.,"A\nb."\nshort\n1,2,3\n')
  bad: list[BadLine] = []
  assert len(list(read_documents(path, on_error=bad.append))) == 1
  assert [line.line for line in bad] == [4, 5]
  assert "no 'article'" in bad[0].message
  assert bad[1].message == 'more cells than the header has.'


UNUSABLE = {
  'missing.jsonl': (None, 'no such file'),
  'missing.parquet': (None, 'no such file'),
  'empty.jsonl': (b'', 'empty; at least one document is needed'),
  'blank.jsonl': (b'\n \n', 'empty; at least one document is needed'),
  'header.csv': (b'article\n', 'empty; at least one document is needed'),
  'empty.txt': (b'', 'there is no text in it'),
  'binary.jsonl': (b'{"a\0', 'binary file; UTF-8 text is needed'),
  'binary.txt': (bytes(9), 'binary file; UTF-8 text is needed'),
  'latin.txt': (b'caf\xe9', 'latin.txt: not UTF-8 text: byte 0xe9 at offset 3'),
  'latin.csv': (b'article\ncaf\xe9\n', 'latin.csv:.*can.t decode byte 0xe9'),
  'text.parquet': (b'article', 'not a Parquet file'),
  'text.jsonl.gz': (b'article', r'damaged \.gz file'),
  'cut.jsonl.gz': (gzip.compress(_json_lines() * 99)[:-20], r'damaged \.gz'),
  'text.jsonl.zst': (b'article', r'damaged \.zst file'),
  'what.xyz': (b'text', r"unknown format '\.xyz'; the name must end in"),
  'noname': (bytes(9), 'binary file; UTF-8 text is needed'),
  'a.rtf': (b'{\\rtf1 text}', r"unknown format '\.rtf'"),
  'rich.txt': (b'{\\rtf1 text}', r'rich text \(RTF\) is not read'),
  'a.xlsx': (b'PK\x03\x04', r"unknown format '\.xlsx'"),
}


@pytest.mark.parametrize('name', UNUSABLE)
def test_unusable_files(tmp_path, name):
  data, message = UNUSABLE[name]
  if data is not None:
    (tmp_path / name).write_bytes(data)
  with pytest.raises(InputError, match=message):
    list(read_documents(tmp_path / name))


def test_a_folder_without_stories(tmp_path):
  with pytest.raises(InputError, match=r'no \.story files in this folder'):
    list(read_documents(tmp_path))


@pytest.mark.parametrize(
  ('name', 'package', 'advice'),
  [
    ('a.parquet', 'pyarrow', r"pip install 'stepwise\[tables\]'"),
    ('a.jsonl.zst', 'zstandard', r"pip install 'stepwise\[files\]'"),
  ],
)
def test_missing_packages_are_named(
  tmp_path, monkeypatch, name, package, advice
):
  WRITERS['a.jsonl'](tmp_path / name)
  monkeypatch.setitem(sys.modules, package, None)
  with pytest.raises(InputError, match=f'needs {package}: {advice}'):
    list(read_documents(tmp_path / name))
