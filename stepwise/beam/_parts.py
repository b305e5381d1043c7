"""Parts of the input: what a worker reads, works on and writes at a time.

A part names its place and holds no text: workers read it where it is. Lines of
plain JSON files are found by their offset; other files are read from their
beginning as far as the part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from stepwise._errors import InputError
from stepwise._files import MAX_BYTES, check_size
from stepwise.beam._storage import (
  FoundFile,
  find_files,
  is_local,
  local_copy,
  open_bytes,
)
from stepwise.documents import BadLine, Document, find_format, parse_item

# Documents of a part, unless told: whole batches, however many these have.
PART_SIZE = 1024
_LINES = ('.jsonl', '.ndjson')


@dataclass(frozen=True)
class Part:
  """Consecutive items of the input.

  Attributes:
    name: sorts as the input does.
    files: one, or several that are a document each.
    items: how many.
    number: of the first file, where files are documents; or else 0.
    skipped: items of the file before this part.
    lines: of the file before this part.
    offset: bytes of the file before this part; -1 = cannot be gone to.
  """

  name: str
  files: tuple[str, ...]
  items: int
  number: int = 0
  skipped: int = 0
  lines: int = 0
  offset: int = -1


class Item(NamedTuple):
  """What a file holds under one number, not parsed yet."""

  file: str
  number: int
  raw: Any


@dataclass(frozen=True)
class Line:
  """A document of the input, or why there is none."""

  file: str
  number: int
  content: Document | InputError


@dataclass(frozen=True)
class Documents:
  """A part of the input, read where and when its lines are asked for.

  Only the part travels: Beam writes elements to measure them, and sends them to
  other machines.
  """

  part: Part

  @cached_property
  def lines(self) -> tuple[Line, ...]:
    """Documents; a bad line stays in its place."""
    return tuple(_line(item) for item in read_part(self.part))

  @property
  def bad(self) -> list[BadLine]:
    """Lines that hold no document."""
    return [
      BadLine(line.file, line.number, str(line.content))
      for line in self.lines
      if isinstance(line.content, InputError)
    ]

  def __reduce__(self) -> tuple[Any, ...]:
    return Documents, (self.part,)


def find_sources(source: str) -> list[FoundFile]:
  """Files of a path, of a pattern, or of a folder of stories."""
  if is_local(source) and Path(source).is_dir():
    source = f'{source}/'
  found = find_files(f'{source}*.story' if source.endswith('/') else source)
  if not found:
    raise InputError(f'{source}: no such file.')
  for file in found:
    find_format(Path(file.path))
  return found


def split_sources(
  files: Sequence[FoundFile], size: int, *, whole_files: bool = False
) -> tuple[list[Part], list[Part]]:
  """Parts of files that are a document each; the other files, one part each.

  Those have to be read to be split: see `split_file`. With `whole_files` there
  are none: every file is one thing, such as a table.
  """
  whole, others = [], []
  run: list[tuple[int, str]] = []

  def end_run() -> None:
    for start in range(0, len(run), size):
      chunk = run[start : start + size]
      number = chunk[0][0]
      paths = tuple(path for _, path in chunk)
      whole.append(Part(_name(number, 0), paths, len(chunk), number))
    run.clear()

  for number, file in enumerate(files, start=1):
    if whole_files or find_format(Path(file.path)).whole_file:
      run.append((number, file.path))
    else:
      end_run()
      others.append(Part(_name(number, 0), (file.path,), 0))
  end_run()
  return whole, others


def split_file(file: Part, size: int) -> list[Part]:
  """The parts of a whole file that `split_sources` has not split."""
  [path] = file.files
  number = int(file.name.partition('-')[0])
  if path.endswith(_LINES):
    parts = _split_lines(file, size)
  else:
    count = sum(1 for _ in _items(path))
    parts = [
      replace(file, skipped=start, items=min(size, count - start))
      for start in range(0, count, size)
    ]
  return [replace(part, name=_name(number, part.skipped)) for part in parts]


def _split_lines(file: Part, size: int) -> list[Part]:
  parts, items, skipped, start = [], 0, 0, (0, 0)
  for lines, end, filled in _scan(file.files[0]):
    items += filled
    if items == size:
      parts.append(
        replace(
          file, items=items, skipped=skipped, lines=start[0], offset=start[1]
        )
      )
      skipped, items, start = skipped + items, 0, (lines, end)
  if items:
    parts.append(
      replace(
        file, items=items, skipped=skipped, lines=start[0], offset=start[1]
      )
    )
  return parts


def _scan(path: str) -> Iterator[tuple[int, int, bool]]:
  """After every line: how many there were, bytes, and whether it has text."""
  lines = end = 0
  with open_bytes(path) as stream:
    while line := stream.readline(MAX_BYTES + 1):
      lines, end = lines + 1, end + len(line)
      check_size(f'{path}:{lines}', len(line))
      if end <= 4096 and b'\0' in line:
        raise InputError(f'{path}: binary file; UTF-8 text is needed.')
      yield lines, end, bool(line.strip())


def read_part(part: Part) -> Iterator[Item]:
  """The items of a part, as the readers of whole files give them."""
  if part.number:
    for number, path in enumerate(part.files, start=part.number):
      for _, raw in _items(path):
        yield Item(path, number, raw)
    return
  [path] = part.files
  if part.offset < 0:
    chosen = islice(_items(path), part.skipped, part.skipped + part.items)
    for number, raw in chosen:
      yield Item(path, number, raw)
    return
  left, number = part.items, part.lines
  with open_bytes(path) as stream:
    stream.seek(part.offset)
    while left:
      number, raw = number + 1, stream.readline().strip()
      if raw:
        left -= 1
        yield Item(path, number, raw)


def _line(item: Item) -> Line:
  path = Path(item.file)
  try:
    content = parse_item(find_format(path), path, item.number, item.raw)
  except InputError as error:
    content = error
  return Line(item.file, item.number, content)


def _items(path: str) -> Iterator[tuple[int, Any]]:
  # Held as long as it is read: a copy is deleted with it.
  copy = local_copy(path)
  yield from find_format(Path(path)).items(copy.path)


def _name(number: int, skipped: int) -> str:
  return f'{number:06}-{skipped:010}'
