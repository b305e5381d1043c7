"""What a person names, file by file and line by line."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from stepwise._errors import InputError
from stepwise._files import (
  MAX_BYTES,
  ByteStream,
  decompress_stream,
  read_limited,
)
from stepwise.documents._document import Document
from stepwise.documents._fetch import fetch_document, is_address
from stepwise.documents._formats import (
  FORMATS,
  JSON_LINES,
  find_format,
  is_known,
  numbered_lines,
  sniff,
)
from stepwise.documents._readers import ReadOptions, make_document, parse_item

STANDARD_INPUT = 'standard input'


class Item(NamedTuple):
  """A document, or why it is none; `place` is where it stands."""

  place: dict[str, Any]
  content: Document | InputError


def has_many(sources: Sequence[str]) -> bool:
  """Whether sources may be more than one document.

  Standard input is told by what comes: see `read_items`.
  """
  if len(sources) != 1:
    return True
  (source,) = sources
  if source == '-' or is_address(source):
    return False
  path = Path(source)
  return path.is_dir() or (is_known(path) and not find_format(path).whole_file)


def read_items(
  sources: Sequence[str],
  options: ReadOptions = ReadOptions(),
  *,
  stdin: ByteStream | None = None,
  on_skip: Callable[[str], object] = lambda message: None,
) -> Iterator[Item]:
  """Documents of files, folders, addresses and, for `-`, standard input.

  What cannot be read becomes an error in its place.

  Args:
    sources: what is named.
    options: how texts are read.
    stdin: for `-`.
    on_skip: told of files of a folder that are no documents.
  """
  for source in sources:
    if source == '-':
      assert stdin is not None
      yield from _from_stream(stdin, options)
    elif is_address(source):
      yield _attempt({'address': source}, fetch_document, source, options)
    else:
      yield from _from_path(Path(source), options, len(sources) > 1, on_skip)


def _from_path(
  path: Path,
  options: ReadOptions,
  named: bool,
  on_skip: Callable[[str], object],
) -> Iterator[Item]:
  try:
    if path.is_dir():
      for file in _folder(path, on_skip):
        yield from _from_file(file, options, named=True)
    elif not path.exists():
      raise InputError(f'{path} does not exist.')
    else:
      yield from _from_file(path, options, named)
  except OSError as error:
    raise InputError(f'{path} cannot be read: {error.strerror}.') from None


def _folder(folder: Path, on_skip: Callable[[str], object]) -> list[Path]:
  files = sorted(path for path in folder.iterdir() if path.is_file())
  known = [path for path in files if is_known(path)]
  others = [path.name for path in files if path not in known]
  if not known:
    raise InputError(
      f'{folder} has no documents, whose names end with {", ".join(FORMATS)}.'
    )
  if others:
    on_skip(f'{folder}: not read, as no documents: {", ".join(others)}.')
  return known


def _from_file(path: Path, options: ReadOptions, named: bool) -> Iterator[Item]:
  place: dict[str, Any] = {'file': path.name} if named else {}
  try:
    form = find_format(path)
    for number, raw in form.items(path):
      here = place if form.whole_file else place | {'line': number}
      item = _attempt(here, parse_item, form, path, number, raw, None, options)
      if form.whole_file and isinstance(item.content, InputError):
        item = Item(item.place, InputError(f'{path}: {item.content}'))
      yield item
  except InputError as error:
    yield Item(place, error)


def _attempt(
  place: dict[str, Any], make: Callable[..., Document], *arguments: Any
) -> Item:
  try:
    document = make(*arguments)
  except InputError as error:
    return Item(place, error)
  return Item(place | {'id': document.id}, document)


def _from_stream(stream: ByteStream, options: ReadOptions) -> Iterator[Item]:
  """JSON lines one by one, or one document, told by the first bytes."""
  try:
    with decompress_stream(stream, STANDARD_INPUT) as plain:
      first = plain.readline(MAX_BYTES)
      if _is_row(first):
        yield from _rows(first, plain, options)
        return
      data = first + read_limited(plain, STANDARD_INPUT)
    suffix = sniff(data) or '.txt'
    if not FORMATS[suffix].whole_file:
      yield from _from_table(data, suffix, options)
      return
    fields = {'id': STANDARD_INPUT, **FORMATS[suffix].parse(data)}
    yield Item({}, make_document(fields, None, options))
  except InputError as error:
    yield Item({}, InputError(f'{STANDARD_INPUT}: {error}'))


def _from_table(
  data: bytes, suffix: str, options: ReadOptions
) -> Iterator[Item]:
  """Rows of a table that came without a name."""
  with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / f'-{suffix}'
    path.write_bytes(data)
    for item in _from_file(path, options, named=False):
      if isinstance(item.content, InputError):
        told = str(item.content).replace(str(path), STANDARD_INPUT)
        item = item._replace(content=InputError(told))
      yield item


def _rows(
  first: bytes, rest: ByteStream, options: ReadOptions
) -> Iterator[Item]:
  others = numbered_lines(rest, STANDARD_INPUT)
  for number, raw in chain([(0, first.strip())], others):
    place = {'line': number + 1}
    yield _attempt(place, _row, number + 1, raw, options)


def _row(number: int, raw: bytes, options: ReadOptions) -> Document:
  fields = {'id': f'-:{number}', **JSON_LINES.parse(raw)}
  return make_document(fields, None, options)


def _is_row(line: bytes) -> bool:
  if not line.lstrip().startswith(b'{'):
    return False
  try:
    return isinstance(json.loads(line), dict)
  except (ValueError, RecursionError):
    return False
