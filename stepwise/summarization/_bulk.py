"""Summaries of a whole file: in its order, resumable, no line lost."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from stepwise import __version__
from stepwise._errors import InputError
from stepwise.data import ResumableLines
from stepwise.documents import Document, find_format, parse_item
from stepwise.summarization._base import Summarizer
from stepwise.summarization._options import SummaryOptions
from stepwise.summarization._result import Summary
from stepwise.summarization._summarizer import ModelSummarizer

# Batches between two writes: a killed run repeats no more than these, and of
# fewer more rows would stay empty.
_BATCHES_PER_WRITE = 32


class BulkReport(NamedTuple):
  """Lines that were summarised, that could not be, and that were warned of."""

  summaries: int
  errors: int
  warned: int


class _Line(NamedTuple):
  number: int
  content: Document | InputError


def write_summaries(
  source: str | os.PathLike[str],
  target: str | os.PathLike[str],
  summarizer: Summarizer,
  options: SummaryOptions = SummaryOptions(),
  *,
  made_by: dict[str, Any],
  batch_size: int = 1,
  on_progress: Callable[[int], object] = lambda lines: None,
) -> BulkReport:
  """Writes one JSON line per line of a file, in its order.

  A line has `line`, `id`, `units` (indices among the units of the document) and
  `summary` (the sentences), and `warnings` if there are any; or `line` and
  `error`, if it holds no document. A run that was killed continues where it
  stopped when it is repeated.

  Args:
    source: JSON lines, or another format of `read_documents` with lines.
    target: where the lines go.
    summarizer: that chooses.
    options: of all summaries.
    made_by: tells the summarizer from others, in values that JSON has; lines
      of two do not mix.
    batch_size: documents decoded together.
    on_progress: called with the number of lines done since the last call.
  """
  path = Path(source)
  made_from = {'input': _digest(path), **made_by, 'version': __version__}
  with ResumableLines(target, made_from, key='line') as lines:
    on_progress(len(lines.done))
    todo = _lines(path, lines.done)
    while chunk := list(islice(todo, _BATCHES_PER_WRITE * batch_size)):
      found = summarizer.many(
        (line.content for line in chunk), options, batch_size=batch_size
      )
      numbers = (line.number for line in chunk)
      lines.append(map(summary_row, numbers, found))
      on_progress(len(chunk))
    lines.finish()
  return _count(Path(target))


def bulk_settings(
  summarizer: Summarizer,
  options: SummaryOptions = SummaryOptions(),
  batch_size: int | None = None,
) -> tuple[SummaryOptions, int]:
  """Options and batch size for many documents, as the model says if not given.

  Sentences of a plan come in its order.
  """
  if not isinstance(summarizer, ModelSummarizer):
    return options, batch_size or 1
  order = 'selection' if summarizer.model.stepwise else 'document'
  size = batch_size or summarizer.config.batch_size
  return dataclasses.replace(options, order=order), size


def _lines(path: Path, done: set[int]) -> Iterator[_Line]:
  form = find_format(path)
  for number, raw in form.items(path):
    if number in done:
      continue
    try:
      yield _Line(number, parse_item(form, path, number, raw))
    except InputError as error:
      yield _Line(number, error)


def summary_row(number: int, result: Summary | InputError) -> dict[str, Any]:
  """What `stepwise infer` writes of one line."""
  if isinstance(result, InputError):
    return {'line': number, 'error': str(result)}
  row = {
    'line': number,
    'id': result.document.id,
    'units': [sentence.index for sentence in result],
    'summary': [sentence.text for sentence in result],
  }
  return row | ({'warnings': [*result.warnings]} if result.warnings else {})


def _count(target: Path) -> BulkReport:
  """Of the whole file: an earlier, killed run may have begun it."""
  summaries = errors = warned = 0
  with target.open(encoding='utf-8') as stream:
    for row in map(json.loads, stream):
      summaries += 'error' not in row
      errors += 'error' in row
      warned += 'warnings' in row
  return BulkReport(summaries, errors, warned)


def digest_folder(folder: Path) -> str:
  """One digest of the names and contents of all files of a folder."""
  files = sorted(path for path in folder.rglob('*') if path.is_file())
  parts = [f'{path.relative_to(folder)} {_digest(path)}' for path in files]
  return hashlib.sha256('\n'.join(parts).encode()).hexdigest()


def _digest(path: Path) -> str:
  if not path.is_file():
    raise InputError(f'{path}: no such file.')
  with path.open('rb') as stream:
    return hashlib.file_digest(stream, 'sha256').hexdigest()
