"""Summaries of a whole file: in its order, resumable, no line lost."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from stepwise import __version__
from stepwise._errors import InputError
from stepwise.data import ResumableLines, Tokenizer
from stepwise.documents import find_format, parse_item
from stepwise.inference._config import PredictConfig
from stepwise.inference._limits import read_document
from stepwise.inference._predict import Predictor, Reading
from stepwise.models import ModelConfig

# Batches between two writes: a killed run repeats no more than these.
_BATCHES_PER_WRITE = 8


class Line(NamedTuple):
  """A line of the input: what can be read of it, or why nothing can."""

  number: int
  reading: Reading | None
  error: str = ''


class InferenceReport(NamedTuple):
  """How many lines were summarised, and how many could not be."""

  summaries: int
  errors: int


def write_summaries(
  source: str | os.PathLike[str],
  target: str | os.PathLike[str],
  predictor: Predictor,
  tokenizer: Tokenizer,
  *,
  fingerprint: str,
  on_progress: Callable[[int], object] = lambda lines: None,
) -> InferenceReport:
  """Writes one JSON line per line of a file, in its order.

  A line has `line`, `id`, `units` (indices among the sentences) and `summary`
  (the sentences); or `line` and `error`, if it holds no document. A run that
  was killed continues where it stopped when it is repeated.

  Args:
    source: JSON lines, or another format of `read_documents` with lines.
    target: where the lines go.
    predictor: the model.
    tokenizer: the one it was trained with.
    fingerprint: tells the model from others; lines of two models do not mix.
    on_progress: called with the number of lines done since the last call.
  """
  path = Path(source)
  made_from = {
    'input': _digest(path),
    'model': fingerprint,
    'options': _plain(predictor.config),
    'version': __version__,
  }
  with ResumableLines(target, made_from, key='line') as lines:
    on_progress(len(lines.done))
    todo = _lines(path, tokenizer, predictor.model, lines.done)
    size = _BATCHES_PER_WRITE * predictor.config.batch_size
    while chunk := list(islice(todo, size)):
      lines.append(_outputs(chunk, predictor))
      on_progress(len(chunk))
    lines.finish()
  return _count(Path(target))


def _lines(
  path: Path, tokenizer: Tokenizer, model: ModelConfig, done: set[int]
) -> Iterator[Line]:
  form = find_format(path)
  for number, raw in form.items(path):
    if number in done:
      continue
    try:
      document = parse_item(form, path, number, raw)
      record = read_document(document, tokenizer, model)
      yield Line(number, Reading(document, record))
    except InputError as error:
      yield Line(number, None, str(error))


def _outputs(
  chunk: Sequence[Line], predictor: Predictor
) -> Iterator[dict[str, Any]]:
  chosen = iter(predictor([line.reading for line in chunk if line.reading]))
  for line in chunk:
    if line.reading is None:
      yield {'line': line.number, 'error': line.error}
    else:
      document, units = line.reading.document, next(chosen)
      yield {
        'line': line.number,
        'id': document.id,
        'units': units,
        'summary': [document.units[unit] for unit in units],
      }


def _count(target: Path) -> InferenceReport:
  """Of the whole file: an earlier, killed run may have begun it."""
  with target.open(encoding='utf-8') as stream:
    failed = ['error' in json.loads(line) for line in stream]
  return InferenceReport(failed.count(False), failed.count(True))


def _plain(config: PredictConfig) -> dict[str, Any]:
  """As JSON gives it back: without tuples."""
  plain = dataclasses.asdict(config)
  plain['decode']['never'] = list(plain['decode']['never'])
  return plain


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
