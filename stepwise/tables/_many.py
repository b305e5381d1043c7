"""Many tables, one after another: a table a line, or a file of a folder."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from stepwise._errors import InputError
from stepwise._files import open_for_reading
from stepwise.data import ResumableLines
from stepwise.tables._sheets import (
  LINES,
  Sheet,
  kind_of,
  make_sheets,
  read_sheets,
  table_files,
)

# Texts about the table of a file, beside it.
_TEXTS = ('.txt', '.md')


class TableItem(NamedTuple):
  """One of many tables.

  Attributes:
    number: its line, or its place in the folder, from 1.
    id: its own, or where it stands.
    sheets: one, or several related ones; a mistake, if it is no table.
    text: about it, if there is one.
  """

  number: int
  id: str
  sheets: tuple[Sheet, ...] | InputError
  text: str = ''


class BulkTables(NamedTuple):
  """Tables that were written about, and those that could not be."""

  tables: int
  errors: int


def holds_many(path: Path) -> bool:
  """Whether a file has a table a line: objects with `table`."""
  if kind_of(path) not in LINES or not path.is_file():
    return False
  with open_for_reading(path) as stream:
    first = next((line for line in stream if line.strip()), b'')
  try:
    row = json.loads(first)
  except ValueError:
    return False
  return isinstance(row, Mapping) and isinstance(
    row.get('table'), Mapping | list
  )


def read_tables(path: str | os.PathLike[str]) -> Iterator[TableItem]:
  """Tables of a file of lines, or one of every file of a folder, in order.

  A line has `table` (a list of objects, columns by name, or several of these
  by name), and perhaps `id` and `text`; a file of a folder may have a text of
  the same name beside it. One table is in memory at a time.
  """
  path = Path(path)
  if path.is_dir():
    yield from _of_folder(path)
  elif holds_many(path):
    yield from _of_lines(path)
  else:
    raise InputError(
      f'{path}: many tables are a folder, or JSON lines with `table`.'
    )


def _of_folder(folder: Path) -> Iterator[TableItem]:
  for number, file in enumerate(table_files(folder), 1):
    stem = file.name.partition('.')[0]
    beside = (file.parent / f'{stem}{suffix}' for suffix in _TEXTS)
    text = next((p.read_text('utf-8') for p in beside if p.is_file()), '')
    try:
      yield TableItem(number, stem, tuple(read_sheets(file)), text)
    except InputError as error:
      yield TableItem(number, stem, error, text)


def _of_lines(path: Path) -> Iterator[TableItem]:
  with open_for_reading(path) as stream:
    for number, line in enumerate(stream, 1):
      if line.strip():
        yield _item(f'{path.name}:{number}', number, line)


def _item(where: str, number: int, line: bytes) -> TableItem:
  try:
    row = json.loads(line)
    if not isinstance(row, Mapping) or 'table' not in row:
      raise InputError('an object with `table` is needed.')
    text = row.get('text', '')
    if not isinstance(text, str):
      raise InputError('`text` must be text.')
    sheets = tuple(make_sheets(row['table']))
    return TableItem(number, str(row.get('id', where)), sheets, text)
  except InputError as error:
    return TableItem(number, where, error)
  except ValueError as error:
    return TableItem(number, where, InputError(f'not JSON: {error}.'))


def write_tables(
  source: str | os.PathLike[str],
  target: str | os.PathLike[str],
  write: Callable[[Sequence[TableItem]], Sequence[Mapping[str, Any]]],
  made_by: Mapping[str, str],
  *,
  batch_size: int = 1,
  on_progress: Callable[[int], object] = lambda tables: None,
) -> BulkTables:
  """Writes a line of JSON about each of many tables, in their order.

  A table that cannot be read becomes a line with its `error`. A run that was
  killed continues where it stopped when it is repeated.

  Args:
    source: see `read_tables`.
    target: JSON lines, each with `line`, the number of the table.
    write: what the lines say of some tables; each has perhaps an `error`.
    made_by: what else the lines depend on.
    batch_size: tables that are written of together.
    on_progress: called with the number of tables done since the last call.
  """
  path = Path(source)
  made_from = {'input': _digest(path), **made_by}
  errors = tables = 0
  with ResumableLines(target, made_from, key='line') as lines:
    on_progress(len(lines.done))
    todo = (i for i in read_tables(path) if i.number not in lines.done)
    while chunk := list(islice(todo, batch_size)):
      rows = write(chunk)
      lines.append(
        {'line': item.number, **row}
        for item, row in zip(chunk, rows, strict=True)
      )
      on_progress(len(chunk))
    lines.finish()
  # An earlier, killed run may have begun the file.
  with Path(target).open(encoding='utf-8') as stream:
    for line in stream:
      tables += 1
      errors += 'error' in json.loads(line)
  return BulkTables(tables - errors, errors)


def _digest(path: Path) -> str:
  files = table_files(path) if path.is_dir() else [path]
  digest = hashlib.sha256()
  for file in files:
    digest.update(f'{file.name} {file.stat().st_size}\n'.encode())
    with file.open('rb') as stream:
      digest.update(hashlib.file_digest(stream, 'sha256').digest())
  return digest.hexdigest()
