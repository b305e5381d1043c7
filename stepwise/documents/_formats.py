"""File formats of documents, as rows of plain Python values.

A format reads a file into numbered raw items and parses one item into fields
(`article`, `highlights`, `id`). Parsing is separate so that one bad item does
not end the reading of its file.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise._extras import needs
from stepwise._files import (
  COMPRESSED,
  MAX_BYTES,
  ByteStream,
  check_size,
  open_for_reading,
  read_limited,
)
from stepwise.documents._docx import docx_blocks
from stepwise.documents._html import html_blocks
from stepwise.documents._mail import mail_blocks
from stepwise.documents._markdown import markdown_blocks
from stepwise.documents._pdf import pdf_text

Fields = Mapping[str, Any]

ARTICLE_KEYS = ('article', 'document', 'text', 'content', 'body')
SUMMARY_KEYS = ('highlights', 'summary')

# Of a file that is one document.
NO_TEXT = 'there is no text in it.'

_HIGHLIGHT = re.compile(r'^[ \t]*@highlight[ \t]*$', re.MULTILINE)
_BLANK_LINES = re.compile(r'\n(?:[ \t]*\n)+')
_PAGE = re.compile(
  rb'\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b',
  re.I | re.S,
)
_RICH_TEXT = b'{\\rtf'
_MARKED_HIGHLIGHT = re.compile(_HIGHLIGHT.pattern.encode(), re.MULTILINE)
# A value of JSON, or lines of it; no prose begins so.
_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"')
# Headers of a message, one of which only programs write.
_MESSAGE = re.compile(
  rb'(?:[!-9;-~]+:[ \t].*\n(?:[ \t].*\n)*)*'
  rb'(?:(?:message-id|return-path):\s*<|mime-version:\s*1)',
  re.IGNORECASE,
)
# The header of a table: names alone, and nothing else on its line.
_TABLE_HEADER = re.compile(
  rb'(?:\xef\xbb\xbf)?(?P<names>"?\w+"?(?P<mark>[,;\t])(?:"?\w+"?(?P=mark))*'
  rb'"?\w+"?)\r?\n'
)


@dataclass(frozen=True)
class Format:
  """How to read a file: numbered items, and the fields of one item.

  Attributes:
    items: yields `(number, item)`; numbers are lines, or rows of a table.
    parse: fields of an item; a bad one is an `InputError`.
    whole_file: a file is one document, so numbers say nothing.
  """

  items: Callable[[Path], Iterator[tuple[int, Any]]]
  parse: Callable[[Any], Fields]
  whole_file: bool = False


def find_format(path: Path) -> Format:
  """The format that the name of a file asks for, or its first bytes show."""
  suffix = _suffix(path)
  if suffix in ('', '.txt', '.text') and (shown := sniff(_head(path))):
    return FORMATS[shown]
  if suffix == '' and path.is_file():
    return FORMATS['.txt']
  if suffix not in FORMATS:
    known = ', '.join(FORMATS)
    raise InputError(
      f'{path}: unknown format {suffix!r}; the name must end in one of '
      f'{known}, where text may also be compressed ({", ".join(COMPRESSED)}).'
    )
  return FORMATS[suffix]


def find_suffix(name: str, data: bytes) -> str:
  """The suffix that the first bytes show, or else the name has."""
  suffix = Path(name).suffix.lower()
  if suffix in ('', '.txt', '.text'):
    return sniff(data[:4096]) or '.txt'
  return suffix


def is_known(path: Path) -> bool:
  """Whether the name of a file is that of a document or of many."""
  return _suffix(path) in FORMATS


def sniff(head: bytes) -> str | None:
  """The format that the first bytes of a file show, if they show any."""
  if head.startswith(b'%PDF-'):
    return '.pdf'
  if head.startswith(b'PK\x03\x04'):
    return '.docx'
  if _PAGE.match(head):
    return '.html'
  if _JSON.match(head):
    return '.json'
  if _MESSAGE.match(head):
    return '.eml'
  if _MARKED_HIGHLIGHT.search(head):
    return '.story'
  if header := _TABLE_HEADER.match(head):
    mark = header['mark']
    names = header['names'].lower().replace(b'"', b'').split(mark)
    if {*names} & {key.encode() for key in ARTICLE_KEYS}:
      return '.tsv' if mark == b'\t' else '.csv'
  return None


def _suffix(path: Path) -> str:
  suffixes = [suffix.lower() for suffix in path.suffixes]
  if suffixes and suffixes[-1] in COMPRESSED:
    suffixes.pop()
  return suffixes[-1] if suffixes else ''


def _head(path: Path) -> bytes:
  if not path.is_file():
    return b''
  with open_for_reading(path, binary=True) as stream:
    return stream.read(4096)


def _file(path: Path) -> Iterator[tuple[int, bytes]]:
  with open_for_reading(path, binary=True) as stream:
    data = read_limited(stream, path)
  yield 1, data


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
  with open_for_reading(path) as stream:
    yield from numbered_lines(stream, path)


def numbered_lines(
  stream: ByteStream, name: str | Path
) -> Iterator[tuple[int, bytes]]:
  """Lines that are not blank, none of them larger than a document may be."""
  number = 0
  while line := stream.readline(MAX_BYTES + 1):
    number += 1
    check_size(f'{name}:{number}', len(line))
    if line.strip():
      yield number, line.strip()


def _json_items(path: Path) -> Iterator[tuple[int, Any]]:
  """JSON lines, or one value: a document, or a list of documents."""
  with open_for_reading(path) as stream:
    first = stream.readline(MAX_BYTES + 1)
    if _is_object(first):
      yield 1, first.strip()
      for number, line in numbered_lines(stream, path):
        yield number + 1, line
      return
    data = first + read_limited(stream, path)
  check_size(path, len(data))
  value = _is_json(data)
  if isinstance(value, list) and not all(isinstance(v, str) for v in value):
    yield from enumerate(value, start=1)
  elif value:
    yield 1, {ARTICLE_KEYS[0]: value} if isinstance(value, list) else value
  else:
    yield from numbered_lines(io.BytesIO(data), path)


def _is_object(line: bytes) -> bool:
  return isinstance(_is_json(line), dict)


def _is_json(data: bytes) -> Any:
  try:
    return json.loads(data.decode('utf-8-sig'))
  except (ValueError, RecursionError):
    return None


def _table(delimiter: str) -> Callable[[Path], Iterator[tuple[int, Fields]]]:
  """Rows of a table with a header, numbered by the line they end on."""

  def rows(path: Path) -> Iterator[tuple[int, Fields]]:
    csv.field_size_limit(MAX_BYTES)  # The default is 128 KiB an article.
    with open_for_reading(path) as stream:
      mark = delimiter
      header = stream.peek(4096).partition(b'\n')[0]  # pyright: ignore
      if mark == ',' and header.count(b';') > header.count(b','):
        # Where commas are in numbers, spreadsheets write so.
        mark = ';'
      text = io.TextIOWrapper(stream, 'utf-8-sig', newline='')
      reader = csv.DictReader(text, delimiter=mark)
      try:
        for row in reader:
          yield reader.line_num, row
      except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f'{path}:{reader.line_num + 1}: {error}') from error

  return rows


def _parquet(path: Path) -> Iterator[tuple[int, Fields]]:
  with needs('tables', f'{path}: a Parquet file'):
    from pyarrow import ArrowException, parquet, types
  try:
    table = parquet.ParquetFile(path)
  except FileNotFoundError:
    raise InputError(f'{path}: no such file.') from None
  except ArrowException as error:
    raise InputError(f'{path}: not a Parquet file: {error}') from error

  def is_text(kind: Any) -> bool:
    inner = kind.value_type if types.is_list(kind) else kind
    return types.is_string(inner) or types.is_large_string(inner)

  columns = [
    field.name
    for field in table.schema_arrow
    if is_text(field.type) or field.name == 'id'
  ]
  number = 0
  with table:
    for batch in table.iter_batches(batch_size=256, columns=columns):
      for row in batch.to_pylist():
        number += 1
        yield number, row


def decode_text(data: bytes) -> str:
  """UTF-8, or UTF-16 that says so; what is neither is no text."""
  if data.startswith((b'\xff\xfe', b'\xfe\xff')):
    try:
      return data.decode('utf-16')
    except UnicodeDecodeError:
      raise InputError('not UTF-16 text, though it begins so.') from None
  if b'\0' in data[:4096]:
    raise InputError('binary file; UTF-8 text is needed.')
  if data.startswith(_RICH_TEXT):
    raise InputError('rich text (RTF) is not read; save it as DOCX or text.')
  try:
    return data.decode('utf-8-sig')
  except UnicodeDecodeError as error:
    byte = data[error.start]
    raise InputError(
      f'not UTF-8 text: byte 0x{byte:02x} at offset {error.start}.'
    ) from error


def _parse_text(data: bytes) -> Fields:
  return {'article': decode_text(data)}


def _parse_markdown(data: bytes) -> Fields:
  return {'blocks': markdown_blocks(decode_text(data))}


def _parse_page(data: bytes) -> Fields:
  if b'\0' in data[:4096] and not data.startswith((b'\xff\xfe', b'\xfe\xff')):
    raise InputError('binary file; a web page is needed.')
  return {'blocks': html_blocks(data)}


def _parse_pdf(data: bytes) -> Fields:
  return {'article': pdf_text(data)}


def _parse_docx(data: bytes) -> Fields:
  return {'blocks': docx_blocks(data)}


def _parse_mail(data: bytes) -> Fields:
  if b'\0' in data[:4096]:
    raise InputError('binary file; an e-mail is needed.')
  return {'blocks': mail_blocks(data)}


def _parse_story(data: bytes) -> Fields:
  """Paragraphs, then a block per highlight, as CNN and Daily Mail stories."""
  text = decode_text(data).replace('\r\n', '\n')
  article, *highlights = _HIGHLIGHT.split(text)
  if not article.strip():
    raise InputError(NO_TEXT)
  return {
    'article': _BLANK_LINES.split(article.strip()),
    'highlights': [' '.join(highlight.split()) for highlight in highlights],
  }


def _parse_json(line: Any) -> Fields:
  row = line
  if isinstance(line, bytes):
    try:
      row = json.loads(decode_text(line))
    except json.JSONDecodeError as error:
      raise InputError(
        f'not JSON: {error.msg} at column {error.colno}.'
      ) from error
    except RecursionError as error:
      raise InputError('not a document: nested too deeply.') from error
  if not isinstance(row, dict):
    raise InputError(f'a JSON object is needed, not {type(row).__name__}.')
  return row


def _parse_row(row: Fields) -> Fields:
  if None in row:
    raise InputError('more cells than the header has.')
  return {key: value for key, value in row.items() if value is not None}


def _whole(parse: Callable[[bytes], Fields]) -> Format:
  def parse_filled(data: bytes) -> Fields:
    if not data.strip():
      raise InputError(NO_TEXT)
    return parse(data)

  return Format(_file, parse_filled, whole_file=True)


JSON_LINES = Format(_lines, _parse_json)

FORMATS = {
  '.txt': _whole(_parse_text),
  '.text': _whole(_parse_text),
  '.md': _whole(_parse_markdown),
  '.markdown': _whole(_parse_markdown),
  '.html': _whole(_parse_page),
  '.htm': _whole(_parse_page),
  '.pdf': _whole(_parse_pdf),
  '.docx': _whole(_parse_docx),
  '.eml': _whole(_parse_mail),
  '.story': _whole(_parse_story),
  '.jsonl': JSON_LINES,
  '.ndjson': JSON_LINES,
  '.json': Format(_json_items, _parse_json),
  '.csv': Format(_table(','), _parse_row),
  '.tsv': Format(_table('\t'), _parse_row),
  '.parquet': Format(_parquet, _parse_row),
}
