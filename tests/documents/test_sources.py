"""Whatever people have, named as they name it."""

import base64
import gzip
import io
import json
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from stepwise import _files
from stepwise._errors import InputError
from stepwise.documents import (
  PROSE,
  Document,
  ReadOptions,
  fetch_document,
  has_many,
  read_items,
)
from tests.documents import files
from tests.documents.files import FIRST, SECOND, SENTENCES, story_files


def chosen(document: Document) -> tuple[str, ...]:
  """Units that may be chosen, on one line each."""
  may = document.of_kinds(PROSE)
  return tuple(
    ' '.join(unit.split())
    for unit, allowed in zip(document.units, may, strict=True)
    if allowed
  )


def one(path, options=ReadOptions(), **streams) -> Document:
  (item,) = read_items([str(path)], options, **streams)
  if isinstance(item.content, InputError):
    raise item.content
  return item.content


@pytest.mark.parametrize('name', story_files())
def test_every_kind_of_file_gives_its_sentences(tmp_path, name):
  path = tmp_path / name
  path.write_bytes(story_files()[name])
  document = one(path)
  assert chosen(document) == SENTENCES
  assert document.language == 'en'
  position = 0
  for start, end in document.spans:
    assert not document.text[position:start].strip('>-*# \n\t0123456789.)')
    position = end


@pytest.mark.parametrize('name', ['a.txt', 'a.pdf', 'a.html', 'a.jsonl'])
@pytest.mark.parametrize('pack', [gzip.compress, zstandard.compress])
def test_compressed_files_and_standard_input(tmp_path, name, pack):
  data = pack(story_files()[name])
  ending = {gzip.compress: '.gz', zstandard.compress: '.zst'}[pack]
  path = tmp_path / f'{name}{ending}'
  path.write_bytes(data)
  assert chosen(one(path)) == SENTENCES
  assert chosen(one('-', stdin=io.BytesIO(data))) == SENTENCES


SHOWN = {
  name: data for name, data in story_files().items() if name != 'a.md'
} | {
  'message.eml': b'MIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n'
  + base64.encodebytes(f'{FIRST} {SECOND}\n'.encode())
}


@pytest.mark.parametrize('name', SHOWN)
def test_what_has_no_name_is_told_by_its_bytes(tmp_path, name):
  data = SHOWN[name]
  assert chosen(one('-', stdin=io.BytesIO(data))) == SENTENCES
  for nameless in ('noname', 'a.txt'):
    (tmp_path / nameless).write_bytes(data)
    assert chosen(one(tmp_path / nameless)) == SENTENCES


def test_rows_without_a_name():
  rows = [{'id': 'x', 'text': FIRST}, {'id': 'y', 'words': SECOND}]
  stream = io.BytesIO(json.dumps(rows, indent=2).encode())
  good, bad = read_items(['-'], stdin=stream)
  assert good.place == {'line': 1, 'id': 'x'}
  assert isinstance(bad.content, InputError)
  stream = io.BytesIO(b'text,id\ncaf\xe9,x\n')
  with pytest.raises(InputError, match=r"^standard input:1: .*can't decode"):
    one('-', stdin=stream)


@pytest.mark.parametrize(
  'text',
  [
    'text, and more\nof it',
    '[1] is what he said. "{" is a mark.',
    'Note: it rained.\nMessage-ID: a header',
  ],
)
def test_prose_is_prose(text):
  document = one('-', stdin=io.BytesIO(f'{text}\n'.encode()))
  assert document.text == f'{text}\n'


def test_parquet(tmp_path):
  path = tmp_path / 'a.parquet'
  rows = [{'words': ' '.join(SENTENCES), 'vector': [0.5]}]
  pq.write_table(pa.Table.from_pylist(rows), path)
  assert chosen(one(path, ReadOptions(text_key='words'))) == SENTENCES
  with pytest.raises(InputError, match=r"no 'article' or .*found \['wo"):
    one(path)


def test_the_highlights_of_a_story_are_its_summary(tmp_path):
  path = tmp_path / 'a.story'
  path.write_text(files.STORY)
  document = one(path)
  assert 'Harbour is open' not in document.text
  assert '@highlight' not in document.text
  assert document.summary == ('Harbour is open',)


def test_lines_of_standard_input_are_rows():
  lines = [json.dumps({'id': 'x', 'text': FIRST}), '{"text": ', '']
  lines.append(json.dumps({'article': [SECOND]}))
  stream = io.BytesIO('\n'.join(lines).encode())
  items = list(read_items(['-'], stdin=stream))
  assert [item.place for item in items] == [
    {'line': 1, 'id': 'x'},
    {'line': 2},
    {'line': 4, 'id': '-:4'},
  ]
  assert isinstance(items[1].content, InputError)


def test_a_folder_and_several_files(tmp_path):
  for name in ('b.txt', 'a.md'):
    (tmp_path / name).write_text(files.PLAIN)
  (tmp_path / 'c.png').write_bytes(b'\0')
  skipped = []
  items = list(read_items([str(tmp_path)], on_skip=skipped.append))
  assert [item.place['file'] for item in items] == ['a.md', 'b.txt']
  assert skipped == [f'{tmp_path}: not read, as no documents: c.png.']
  both = [str(tmp_path / 'b.txt'), str(tmp_path / 'none.txt')]
  assert has_many(both)
  with pytest.raises(InputError, match=r'none\.txt does not exist'):
    list(read_items(both))
  assert not has_many(both[:1])
  assert has_many([str(tmp_path)])
  assert has_many(['rows.jsonl.gz'])


REFUSED = {
  'a.bin': (b'\x7fELF', "unknown format '.bin'"),
  'a.py': (b'print(1)\n', "unknown format '.py'"),
  'a.txt': (b'\x7fELF\0\0', 'a.txt: binary file; UTF-8 text is needed'),
  'b.txt': ('caf\xe9'.encode('latin-1'), 'not UTF-8 text: byte 0xe9'),
  'c.txt': (b' \n', 'there is no text in it'),
  'a.pdf': (b'%PDF-1.4 nothing', 'not a readable PDF file'),
  'empty.pdf': (files.pdf([[]]), 'the PDF file has no text'),
  'a.docx': (b'PK\x03\x04 nothing', 'not a readable Word file'),
  'a.html': (b'<html><body></body></html>', 'the page has no article'),
  'b.html': (b'\0\1\2', 'binary file; a web page is needed'),
  'a.eml': (b'\0', 'binary file; an e-mail is needed'),
  'a.json': (b'{"a": ', 'not JSON'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_what_is_no_document_is_refused(tmp_path, name):
  data, message = REFUSED[name]
  path = tmp_path / name
  path.write_bytes(data)
  with pytest.raises(InputError, match=message):
    one(path)


def test_nothing_grows_without_bound(tmp_path, monkeypatch):
  monkeypatch.setattr(_files, 'MAX_BYTES', 2**20)
  for name in ('_formats', '_docx', '_sources'):
    module = sys.modules[f'stepwise.documents.{name}']
    monkeypatch.setattr(module, 'MAX_BYTES', 2**20)
  bomb = b'a' * 2**22
  cases = {
    'a.txt.gz': gzip.compress(bomb),
    'a.txt.zst': zstandard.compress(bomb),
    'a.jsonl.gz': gzip.compress(bomb),
    'a.json.gz': gzip.compress(bomb),
    'a.docx': files.docx([('Normal', bomb.decode())]),
  }
  for name, data in cases.items():
    path = tmp_path / name
    path.write_bytes(data)
    assert len(data) < 2**15
    with pytest.raises(InputError, match='too large: a document may have 1 MB'):
      one(path)
  with pytest.raises(InputError, match='standard input is too large'):
    one('-', stdin=io.BytesIO(cases['a.txt.gz']))


def test_a_word_file_with_a_document_type(tmp_path):
  path = tmp_path / 'a.docx'
  with zipfile.ZipFile(path, 'w') as archive:
    archive.writestr('word/document.xml', '<!DOCTYPE a [<!ENTITY b "c">]><a/>')
  with pytest.raises(InputError, match='it declares a document type'):
    one(path)


@pytest.mark.parametrize(
  ('name', 'package'),
  [('a.html', 'trafilatura'), ('a.pdf', 'pypdf')],
)
def test_missing_libraries_are_named(tmp_path, monkeypatch, name, package):
  path = tmp_path / name
  path.write_bytes(story_files()[name])
  monkeypatch.setitem(sys.modules, package, None)
  advice = rf"needs {package}: pip install 'stepwise\[files\]'"
  with pytest.raises(InputError, match=advice):
    one(path)


class _Pages(BaseHTTPRequestHandler):
  def do_GET(self):
    match self.path:
      case '/page':
        self._answer(200, 'text/html', files.PAGE.encode())
      case '/away':
        self._answer(302, 'text/html', b'', Location='/page')
      case '/file':
        self._answer(302, 'text/html', b'', Location='file:///etc/passwd')
      case '/ftp':
        self._answer(302, 'text/html', b'', Location='ftp://127.0.0.1/x')
      case '/picture':
        self._answer(200, 'image/png', b'\x89PNG')
      case '/large':
        self._answer(200, 'text/plain', b'a ' * 2**20)
      case _:
        self._answer(404, 'text/html', b'')

  def _answer(self, code, kind, data, **headers):
    self.send_response(code)
    for name, value in ({'Content-Type': kind} | headers).items():
      self.send_header(name, value)
    self.end_headers()
    self.wfile.write(data)

  def log_message(self, *_):
    pass


@pytest.fixture(scope='module')
def server():
  with HTTPServer(('127.0.0.1', 0), _Pages) as pages:
    thread = threading.Thread(target=pages.serve_forever)
    thread.start()
    yield f'http://127.0.0.1:{pages.server_port}'
    pages.shutdown()
    thread.join()


def test_addresses(server, monkeypatch):
  monkeypatch.setenv('no_proxy', '*')
  for path in ('/page', '/away'):
    document = one(f'{server}{path}')
    assert chosen(document) == SENTENCES
    assert document.id == f'{server}{path}'
  with pytest.raises(InputError, match=r'redirects to file:///etc/passwd'):
    one(f'{server}/file')
  with pytest.raises(InputError, match=r'redirects to ftp://127\.0\.0\.1/x'):
    one(f'{server}/ftp')
  with pytest.raises(InputError, match='is of the type image/png'):
    one(f'{server}/picture')
  with pytest.raises(InputError, match='/none answers 404'):
    one(f'{server}/none')
  with pytest.raises(InputError, match='not an address of http or https'):
    fetch_document('file:///etc/passwd')
  monkeypatch.setattr(_files, 'MAX_BYTES', 2**20)
  with pytest.raises(InputError, match='/large is too large'):
    one(f'{server}/large')


def test_lists_of_sentences_stay_as_given(tmp_path):
  given = [f'Sentence {n} was cut by somebody , yet .' for n in range(11)]
  given.append('We saw Mr. X. Then we left .')
  path = tmp_path / 'a.jsonl'
  path.write_text(json.dumps({'article': given}))
  assert one(path).units == tuple(given)
  paragraphs = [f'{FIRST} {SECOND}', FIRST]
  path.write_text(json.dumps({'article': paragraphs}))
  assert one(path).units == (FIRST, SECOND, FIRST)
  assert one(path, ReadOptions(split='never')).units == tuple(paragraphs)
  assert one(path, ReadOptions(split='paragraphs')).units == tuple(paragraphs)
  path.write_text(json.dumps({'text': f'{FIRST}\n{SECOND}\n\n{FIRST}'}))
  lines = one(path, ReadOptions(split='never')).units
  assert lines == (FIRST, SECOND, FIRST)
  blocks = one(path, ReadOptions(split='paragraphs')).units
  assert blocks == (f'{FIRST}\n{SECOND}', FIRST)
  with pytest.raises(InputError, match="split is 'words', must be one of auto"):
    ReadOptions(split='words')
  with pytest.raises(InputError, match="language is 'German', must be a code"):
    ReadOptions(language='German')
