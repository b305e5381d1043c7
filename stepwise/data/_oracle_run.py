"""Oracles of a whole file: on all cores, resumable, bad lines reported."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from stepwise import __version__
from stepwise._errors import InputError
from stepwise._files import replace_when_done
from stepwise._parallel import map_chunks
from stepwise._rouge import DEFAULT_METRIC, METRICS, References
from stepwise.data._resumable import ResumableLines
from stepwise.data._tokenizers import wordpiece
from stepwise.data.oracle import Oracle, find_oracle, fitting_units
from stepwise.documents import BadLine, Document, find_format, parse_item

# Of a text whose language is not known, so many characters are looked at.
_SAMPLE = 2000


@dataclass(frozen=True)
class OracleOptions:
  """How oracles are searched; see `find_oracle`.

  `max_tokens` keeps the leading units that fit whole into that many word
  pieces; None keeps all. `metric` is that of English: documents in other
  languages have words that are not ASCII, so theirs is its twin for all
  scripts.
  """

  method: str = 'greedy'
  order: str = 'document'
  max_tokens: int | None = None
  metric: str = DEFAULT_METRIC
  gains: bool = False


@dataclass(frozen=True)
class _Item:
  """What a file holds under one number, not parsed yet."""

  file: Path
  number: int
  raw: Any


def document_oracle(
  document: Document,
  options: OracleOptions,
  references: References | None = None,
) -> Oracle:
  """The oracle of one document, for its summary if no references are given."""
  units = document.units
  if options.max_tokens is not None:
    units = units[: fitting_units(units, options.max_tokens, _count_pieces)]
  return find_oracle(
    units,
    document.summary if references is None else references,
    method=options.method,
    order=options.order,
    metric=_metric(options.metric, document),
    gains=options.gains,
  )


def _metric(name: str, document: Document) -> str:
  """In ASCII most languages have half words, and some have none."""
  letters = filter(str.isalpha, document.text[:_SAMPLE])
  english = document.language in ('', 'en') and any(map(str.isascii, letters))
  twin = f'{name.removesuffix("-unstemmed")}-unicode'
  return name if english or twin not in METRICS else twin


def oracle_row(
  document: Document, number: int, options: OracleOptions
) -> dict[str, Any]:
  """What `stepwise oracle` writes of the document of one line."""
  if not document.summary:
    raise InputError('no summary to compare the article with.')
  oracle = document_oracle(document, options)
  return {
    'id': document.id,
    'line': number,
    'oracle': oracle.indices,
    'rouge': oracle.rouge,
  }


def document_oracles(
  documents: Iterable[Document],
  options: OracleOptions,
  *,
  references: Iterable[References | None] = repeat(None),
  processes: int = 1,
) -> Iterator[Oracle]:
  """`document_oracle` of every document, in order, shared among processes."""
  find = partial(_chunk_oracles, options)
  pairs = zip(documents, references, strict=False)
  chunks = map_chunks(find, pairs, processes=processes)
  return chain.from_iterable(chunks)


def write_oracles(
  source: str | os.PathLike[str],
  target: str | os.PathLike[str],
  options: OracleOptions,
  *,
  processes: int = 1,
  on_progress: Callable[[int], object] = lambda documents: None,
) -> list[BadLine]:
  """Writes one JSON line per document of a file, in its order.

  A line has `id`, `line` (in the source; the number of the file in a folder),
  `oracle` (indices of units) and `rouge` (F1 of each kind). A run that was
  killed continues where it stopped when it is repeated. Lines that hold no
  document with a summary are left out, returned, and listed in
  `TARGET.errors.jsonl`.

  Args:
    source: anything `read_documents` reads.
    target: where the lines go.
    options: how to search.
    processes: to share the work among.
    on_progress: called with the number of items done since the last call.
  """
  source = Path(source)
  if next(_items(source), None) is None:
    raise InputError(f'{source}: empty; at least one document is needed.')
  made_from = {
    'input': _digest(source),
    'options': asdict(options),
    'version': __version__,
  }
  bad: list[BadLine] = []
  with ResumableLines(target, made_from, key='line') as lines:
    on_progress(len(lines.done))
    # A line that was bad before is not among the done ones: it comes again.
    items = (i for i in _items(source) if i.number not in lines.done)
    search = partial(_chunk_lines, options)
    for chunk in map_chunks(search, items, processes=processes):
      lines.append(found for found in chunk if not isinstance(found, BadLine))
      bad += [found for found in chunk if isinstance(found, BadLine)]
      on_progress(len(chunk))
    _write_errors(Path(f'{target}.errors.jsonl'), bad)
    lines.finish()
  return bad


def _items(source: Path) -> Iterator[_Item]:
  if source.is_dir():
    for number, file in enumerate(sorted(source.glob('*.story')), 1):
      for _, raw in find_format(file).items(file):
        yield _Item(file, number, raw)
  else:
    for number, raw in find_format(source).items(source):
      yield _Item(source, number, raw)


def _chunk_lines(
  options: OracleOptions, items: list[_Item]
) -> list[dict[str, Any] | BadLine]:
  return [_line(options, item) for item in items]


def _line(options: OracleOptions, item: _Item) -> dict[str, Any] | BadLine:
  form = find_format(item.file)
  try:
    document = parse_item(form, item.file, item.number, item.raw)
    return oracle_row(document, item.number, options)
  except InputError as error:
    return BadLine(str(item.file), item.number, str(error))


def _count_pieces(unit: str) -> int:
  [pieces] = wordpiece().encode_units([unit])
  return len(pieces)


def _chunk_oracles(
  options: OracleOptions, pairs: list[tuple[Document, References | None]]
) -> list[Oracle]:
  return [document_oracle(document, options, refs) for document, refs in pairs]


def _digest(source: Path) -> str:
  """SHA-256 of a file's content, or of all stories of a folder."""
  digest = hashlib.sha256()
  files = sorted(source.glob('*.story')) if source.is_dir() else [source]
  for file in files:
    with file.open('rb') as stream:
      while block := stream.read(2**20):
        digest.update(block)
  return digest.hexdigest()


def _write_errors(path: Path, bad: list[BadLine]) -> None:
  """Lists the bad lines; without any, no list of an earlier run stays."""
  if not bad:
    path.unlink(missing_ok=True)
    return
  with replace_when_done(path) as stream:
    for line in bad:
      record = {'line': line.line, 'error': line.message}
      stream.write(f'{json.dumps(record)}\n'.encode())
