"""Rows and columns as people have them: files, frames, lists."""

import csv
import datetime
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise._extras import needs
from stepwise._files import COMPRESSED, open_for_reading
from stepwise.tables._amounts import check_formula, is_missing

_DELIMITERS = (',', ';', '\t', '|')
LINES = ('.jsonl', '.ndjson')
SUFFIXES = ('.csv', '.tsv', '.json', *LINES, '.parquet')
# How frames spell the numbers of their rows.
_INDEX_NAMES = ('', 'unnamed: 0', 'index', '__index_level_0__')


@dataclass(frozen=True)
class Sheet:
  """Cells as text, None where there is nothing.

  Attributes:
    name: of the table: a file's name, a key.
    header: distinct names of the columns.
    rows: as long as the header.
  """

  name: str
  header: tuple[str, ...]
  rows: tuple[tuple[str | None, ...], ...]

  def column(self, name: str) -> list[str | None]:
    place = self.header.index(name)
    return [row[place] for row in self.rows]


def read_sheets(path: str | os.PathLike[str]) -> list[Sheet]:
  """Tables of a file, or of all files of a folder, by name.

  `.csv` and `.tsv` have a header; `.json` is a list of objects, an object of
  columns, or an object of several tables; `.jsonl` has an object a line;
  `.parquet` needs pyarrow. Text may be compressed (`.gz`, `.zst`).
  """
  path = Path(path)
  if path.is_dir():
    return [sheet for p in table_files(path) for sheet in read_sheets(p)]
  kind = kind_of(path)
  if not kind:
    raise InputError(
      f'{path}: tables are read from {", ".join(SUFFIXES)}; save it as one of '
      'them.'
    )
  try:
    if kind == '.parquet':
      return _read_parquet(path)
    return _PARSERS[kind](_read_text(path), path)
  except InputError as error:
    where = str(error)
    raise InputError(
      where if where.startswith(str(path)) else f'{path}: {where}'
    ) from error


def parse_sheets(text: str, name: str) -> list[Sheet]:
  """Tables of a text at hand, read as a file of this name would be."""
  path = Path(name)
  kind = kind_of(path) or '.csv'
  if kind not in _PARSERS:
    raise InputError(f'{name}: a {kind} file is no text.')
  return _PARSERS[kind](text, path)


def table_files(folder: Path) -> list[Path]:
  """Files of a folder that may be tables, by name."""
  files = [path for path in sorted(folder.iterdir()) if kind_of(path)]
  if not files:
    raise InputError(
      f'{folder}: no table in this folder ({", ".join(SUFFIXES)}).'
    )
  return files


def kind_of(path: Path) -> str:
  """The suffix that tells how a file is read; empty for other files."""
  suffixes = [s.lower() for s in path.suffixes if s.lower() not in COMPRESSED]
  return suffixes[-1] if suffixes and suffixes[-1] in SUFFIXES else ''


def make_sheets(data: Any, name: str = 'table') -> list[Sheet]:
  """Tables of Python objects.

  A pandas or pyarrow frame (or anything with `to_dict`/`to_pydict`), a list of
  objects, columns by name, or several of these by name; sheets are kept.
  """
  if isinstance(data, Sheet):
    return [data]
  if isinstance(data, list | tuple) and any(
    isinstance(each, Sheet) for each in data
  ):
    return list(data)
  columns = _frame_columns(data)
  if columns is not None:
    return [_from_columns(columns, name)]
  if isinstance(data, Mapping):
    if data and all(_is_column(value) for value in data.values()):
      return [_from_columns(data, name)]
    if data and all(_is_table(value) for value in data.values()):
      tables = ((str(key), value) for key, value in data.items())
      return [
        sheet for key, value in tables for sheet in make_sheets(value, key)
      ]
  elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
    return [_from_objects(list(data), name)]
  raise InputError(
    'a table is a frame, a list of objects, columns by name, or several of '
    f'these by name; this is {type(data).__name__}.'
  )


def _frame_columns(data: Any) -> dict[str, Sequence[Any]] | None:
  """Columns of a pandas, polars or pyarrow frame, without importing any."""
  if hasattr(data, 'to_pydict'):
    return data.to_pydict()
  if hasattr(data, 'to_frame') and hasattr(data, 'reset_index'):
    # A series: one column.
    data = data.to_frame('value' if data.name is None else data.name)
  if hasattr(data, 'columns') and hasattr(data, 'reset_index'):
    data = _with_index(data)
    names = [_column_name(name) for name in data.columns]
    return {n: data.iloc[:, i].tolist() for i, n in enumerate(names)}
  if hasattr(data, 'columns') and hasattr(data, 'to_dict'):
    return data.to_dict(as_series=False)
  return None


def _with_index(frame: Any) -> Any:
  """The index of a pandas frame as columns, unless it only numbers the rows."""
  index = frame.index
  if any(name is not None for name in index.names):
    return frame.reset_index()
  if index.nlevels > 1 or str(index.dtype).startswith(('int', 'uint', 'range')):
    return frame
  times = str(index.dtype).startswith(('datetime', 'period'))
  return frame.rename_axis('date' if times else 'name').reset_index()


def _column_name(name: Any) -> str:
  return ' '.join(map(str, name)) if isinstance(name, tuple) else str(name)


def _is_column(value: Any) -> bool:
  if not isinstance(value, Sequence) or isinstance(value, str | bytes):
    return hasattr(value, 'tolist') and not hasattr(value, 'columns')
  return not any(isinstance(cell, Mapping) for cell in value)


def _is_table(value: Any) -> bool:
  if isinstance(value, Mapping) or _frame_columns(value) is not None:
    return True
  return isinstance(value, Sequence) and all(
    isinstance(row, Mapping) for row in value
  )


def _from_columns(columns: Mapping[Any, Any], name: str) -> Sheet:
  lists = {
    str(key): list(v.tolist() if hasattr(v, 'tolist') else v)
    for key, v in columns.items()
  }
  lengths = {key: len(values) for key, values in lists.items()}
  if len(set(lengths.values())) > 1:
    raise InputError(f'columns of {name!r} differ in length: {lengths}.')
  rows = zip(*(map(_text, values) for values in lists.values()), strict=True)
  return make_sheet(name, list(lists), list(rows))


def _from_objects(objects: Sequence[Any], name: str) -> Sheet:
  header: dict[str, None] = {}
  for number, row in enumerate(objects, 1):
    if not isinstance(row, Mapping):
      raise InputError(f'row {number} of {name!r} is no object of columns.')
    header |= dict.fromkeys(map(str, row))
  rows = [
    [_text(row.get(column)) for column in header]
    for row in ({str(k): v for k, v in each.items()} for each in objects)
  ]
  return make_sheet(name, list(header), rows)


def _text(value: Any) -> str | None:
  """A cell as a file would have it."""
  if value is None or isinstance(value, str):
    return value
  if isinstance(value, float):
    if math.isnan(value):
      return None
    return repr(int(value)) if value.is_integer() else repr(value)
  if isinstance(value, bool):
    return 'yes' if value else 'no'
  if isinstance(value, int):
    return str(value)
  if isinstance(value, Mapping | list | tuple | set):
    raise InputError(f'{value!r:.40} is no cell: text or a number is needed.')
  if hasattr(value, 'item'):
    return _text(value.item())
  if isinstance(value, datetime.datetime | datetime.date):
    # Not a time: frames have one in place of what is missing.
    return None if str(value) == 'NaT' else str(value)
  text = str(value)
  return None if text in ('<NA>', 'NaT') else text


def make_sheet(
  name: str,
  header: Sequence[str],
  rows: Sequence[Sequence[str | None]],
) -> Sheet:
  """Checks names and lengths; missing cells become None, spaces are tidied."""
  header = [' '.join((column or '').split()) for column in header]
  if not header or not any(header):
    raise InputError('the table is empty: a header and rows are needed.')
  if not rows:
    raise InputError(
      f'the table has a header ({len(header)} columns) but no rows.'
    )
  for number, row in enumerate(rows, 1):
    if len(row) != len(header):
      raise InputError(
        f'row {number} has {len(row)} cells, the header has {len(header)}.'
      )
  cells = [
    [_cell(c, i, header[j]) for j, c in enumerate(r)]
    for i, r in enumerate(rows, 1)
  ]
  if header[0].lower() in _INDEX_NAMES and _counts(cells):
    header, cells = header[1:], [row[1:] for row in cells]
  _check_header(header)
  return Sheet(name, tuple(header), tuple(map(tuple, cells)))


def _cell(cell: str | None, row: int, column: str) -> str | None:
  if cell is None:
    return None
  text = ' '.join(cell.split())
  if is_missing(text):
    return None
  if text[0] == '=':
    check_formula(text, f'row {row}, column {column!r}')
  return text


def _counts(rows: Sequence[Sequence[str | None]]) -> bool:
  """Whether the first column only numbers the rows."""
  first = [row[0] for row in rows]
  starts = ([str(i + start) for i in range(len(rows))] for start in (0, 1))
  return len(rows[0]) > 1 and any(first == numbers for numbers in starts)


def _check_header(header: Sequence[str]) -> None:
  for number, column in enumerate(header, 1):
    if not column:
      raise InputError(f'column {number} has no name in the header.')
  if len(set(header)) < len(header):
    seen: set[str] = set()
    twice = next(c for c in header if c in seen or seen.add(c))
    raise InputError(f'two columns are named {twice!r}; names must differ.')


def _read_text(path: Path) -> str:
  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    return content.decode('utf-8-sig')
  except UnicodeDecodeError as error:
    raise InputError(
      f'not UTF-8 text (byte {error.start}); save it as UTF-8.'
    ) from error


def _parse_separated(text: str, path: Path) -> list[Sheet]:
  delimiter = '\t' if kind_of(path) == '.tsv' else _delimiter(text)
  reader = csv.reader(
    io.StringIO(text, newline=''), delimiter=delimiter, strict=True
  )
  try:
    rows = [row for row in reader if any(cell.strip() for cell in row)]
  except csv.Error as error:
    raise InputError(f'line {reader.line_num}: {error}.') from error
  if not rows:
    raise InputError('the table is empty: a header and rows are needed.')
  return [make_sheet(_stem(path), rows[0], rows[1:])]


def _delimiter(text: str) -> str:
  """The one that the header has most of, outside of quotes."""
  first = next((line for line in text.splitlines() if line.strip()), '')
  outside = ''.join(first.split('"')[::2])
  return max(_DELIMITERS, key=outside.count)


def _parse_json(text: str, path: Path) -> list[Sheet]:
  try:
    content = json.loads(text)
  except ValueError as error:
    raise InputError(f'not JSON: {error}.') from error
  return make_sheets(content, _stem(path))


def _parse_lines(text: str, path: Path) -> list[Sheet]:
  rows = []
  for number, line in enumerate(text.splitlines(), 1):
    if line.strip():
      try:
        rows.append(json.loads(line))
      except ValueError as error:
        raise InputError(f'line {number}: not JSON: {error}.') from error
  return make_sheets(rows, _stem(path))


def _read_parquet(path: Path) -> list[Sheet]:
  with needs('tables', 'a Parquet file'):
    from pyarrow import ArrowException, parquet
  if not path.is_file():
    raise InputError('no such file.')
  try:
    frame = parquet.read_table(path)
  except (ArrowException, OSError) as error:
    reason = str(error).splitlines()[0]
    raise InputError(f'not a Parquet file: {reason}') from error
  return make_sheets(frame, _stem(path))


def _stem(path: Path) -> str:
  return path.name.partition('.')[0]


_PARSERS: dict[str, Callable[[str, Path], list[Sheet]]] = {
  '.csv': _parse_separated,
  '.tsv': _parse_separated,
  '.json': _parse_json,
  '.jsonl': _parse_lines,
  '.ndjson': _parse_lines,
}
