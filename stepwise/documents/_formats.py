"""File formats of document collections, as rows of plain Python values.

A format reads a file into numbered raw items and parses one item into fields
(`article`, `highlights`, `id`). Parsing is separate so that one bad item does
not end the reading of its file.
"""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise._files import COMPRESSED, open_for_reading

Fields = Mapping[str, Any]

ARTICLE_KEYS = ('article', 'document')
SUMMARY_KEYS = ('highlights', 'summary')

_HIGHLIGHT = re.compile(r'^[ \t]*@highlight[ \t]*$', re.MULTILINE)
_BLANK_LINES = re.compile(r'\n(?:[ \t]*\n)+')


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
  """The format that the name of a file asks for."""
  suffixes = [suffix.lower() for suffix in path.suffixes]
  if suffixes and suffixes[-1] in COMPRESSED:
    suffixes.pop()
  suffix = suffixes[-1] if suffixes else ''
  if suffix not in FORMATS:
    known = ', '.join(FORMATS)
    raise InputError(
      f'{path}: unknown format {suffix!r}; the name must end in one of '
      f'{known}, where text may also be compressed ({", ".join(COMPRESSED)}).'
    )
  return FORMATS[suffix]


def _file(path: Path) -> Iterator[tuple[int, bytes]]:
  with open_for_reading(path) as stream:
    yield 1, stream.read()


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
  with open_for_reading(path) as stream:
    for number, line in enumerate(stream, start=1):
      if line.strip():
        yield number, line.strip()


def _table(delimiter: str) -> Callable[[Path], Iterator[tuple[int, Fields]]]:
  """Rows of a table with a header, numbered by the line they end on."""

  def rows(path: Path) -> Iterator[tuple[int, Fields]]:
    csv.field_size_limit(sys.maxsize)  # The default is 128 KiB an article.
    with open_for_reading(path) as stream:
      text = io.TextIOWrapper(stream, 'utf-8-sig', newline='')
      reader = csv.DictReader(text, delimiter=delimiter)
      try:
        for row in reader:
          yield reader.line_num, row
      except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f'{path}:{reader.line_num + 1}: {error}') from error

  return rows


def _parquet(path: Path) -> Iterator[tuple[int, Fields]]:
  try:
    from pyarrow import ArrowException, parquet
  except ImportError:
    raise InputError(
      f"{path}: a Parquet file needs pyarrow: pip install 'stepwise[parquet]'"
    ) from None
  try:
    table = parquet.ParquetFile(path)
  except FileNotFoundError:
    raise InputError(f'{path}: no such file.') from None
  except ArrowException as error:
    raise InputError(f'{path}: not a Parquet file: {error}') from error
  wanted = {*ARTICLE_KEYS, *SUMMARY_KEYS, 'id'}
  columns = [name for name in table.schema_arrow.names if name in wanted]
  number = 0
  with table:
    for batch in table.iter_batches(batch_size=256, columns=columns):
      for row in batch.to_pylist():
        number += 1
        yield number, row


def _decode(data: bytes) -> str:
  try:
    return data.decode('utf-8-sig')
  except UnicodeDecodeError as error:
    byte = data[error.start]
    raise InputError(
      f'not UTF-8 text: byte 0x{byte:02x} at offset {error.start}.'
    ) from error


def _parse_text(data: bytes) -> Fields:
  return {'article': _decode(data)}


def _parse_story(data: bytes) -> Fields:
  """Paragraphs, then a block per highlight, as CNN and Daily Mail stories."""
  article, *highlights = _HIGHLIGHT.split(_decode(data).replace('\r\n', '\n'))
  return {
    'article': _BLANK_LINES.split(article.strip()),
    'highlights': [' '.join(highlight.split()) for highlight in highlights],
  }


def _parse_json(line: bytes) -> Fields:
  try:
    row = json.loads(_decode(line))
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


_JSON_LINES = Format(_lines, _parse_json)

FORMATS = {
  '.txt': Format(_file, _parse_text, whole_file=True),
  '.story': Format(_file, _parse_story, whole_file=True),
  '.jsonl': _JSON_LINES,
  '.json': _JSON_LINES,
  '.ndjson': _JSON_LINES,
  '.csv': Format(_table(','), _parse_row),
  '.tsv': Format(_table('\t'), _parse_row),
  '.parquet': Format(_parquet, _parse_row),
}
