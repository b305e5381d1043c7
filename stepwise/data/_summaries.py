"""Reading what evaluation compares: predicted summaries and references.

Every line counts here: line 7 of the predictions belongs to line 7 of the
references. So a bad line is an error, and an empty summary is a summary.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise._files import COMPRESSED, open_for_reading
from stepwise._parallel import map_chunks
from stepwise.documents import (
  ARTICLE_KEYS,
  SUMMARY_KEYS,
  Document,
  find_format,
  make_document,
  read_documents,
  summary_sentences,
)

PREDICTION_KEYS = ('prediction', 'summary')


def read_predictions(path: str | os.PathLike[str]) -> list[tuple[str, ...]]:
  """Sentences of each predicted summary.

  JSON lines (or any table `read_documents` reads) with `prediction` or
  `summary`, a list of sentences or a string; or `.txt` with a summary on every
  line. A string is split at line breaks, one line into its sentences.
  """
  path = Path(path)
  if _is_plain_text(path):
    return [summary_sentences('line', line) for line in _text_lines(path)]
  return [
    _sentences(fields, PREDICTION_KEYS, path, number)
    for number, fields in _parse_rows(path, find_format(path).items(path))
  ]


def read_references(
  path: str | os.PathLike[str], *, processes: int = 1
) -> list[Document]:
  """Documents with their reference summaries; an article may be missing.

  Reads what `read_documents` reads, or only `highlights` or `summary`, in
  which case the documents have no units; `.txt` is a summary on every line.
  Parsing and sentence splitting are shared among `processes`.
  """
  path = Path(path)
  if _is_plain_text(path):
    return [
      Document('', (), summary_sentences('line', line))
      for line in _text_lines(path)
    ]
  if path.is_dir():
    return list(read_documents(path))
  parse = partial(_parse_references, path)
  items = find_format(path).items(path)
  return list(
    chain.from_iterable(map_chunks(parse, items, processes=processes))
  )


def _parse_references(
  path: Path, items: list[tuple[int, Any]]
) -> list[Document]:
  return [
    _reference(fields, path, number)
    for number, fields in _parse_rows(path, items)
  ]


def _reference(fields: Mapping[str, Any], path: Path, number: int) -> Document:
  summary = _sentences(fields, SUMMARY_KEYS, path, number)
  if not any(fields.get(key) for key in ARTICLE_KEYS):
    return Document('', (), summary, str(fields.get('id', '')))
  try:
    return replace(make_document(fields), summary=summary)
  except InputError as error:
    raise InputError(f'{path}:{number}: {error}') from error


def _parse_rows(
  path: Path, items: Iterable[tuple[int, Any]]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
  form = find_format(path)
  for number, item in items:
    try:
      yield number, form.parse(item)
    except InputError as error:
      raise InputError(f'{path}:{number}: {error}') from error


def _sentences(
  fields: Mapping[str, Any], keys: tuple[str, ...], path: Path, number: int
) -> tuple[str, ...]:
  """Sentences under the first of the keys that is there."""
  key = next((key for key in keys if fields.get(key) is not None), None)
  if key is None:
    raise InputError(
      f'{path}:{number}: no {" or ".join(map(repr, keys))}; '
      f'found {sorted(fields)}.'
    )
  try:
    return summary_sentences(key, fields[key])
  except InputError as error:
    raise InputError(f'{path}:{number}: {error}') from error


def _is_plain_text(path: Path) -> bool:
  suffixes = [suffix for suffix in path.suffixes if suffix not in COMPRESSED]
  return suffixes[-1:] == ['.txt']


def _text_lines(path: Path) -> Iterator[str]:
  with open_for_reading(path) as stream:
    for number, line in enumerate(stream, 1):
      try:
        yield line.decode()
      except UnicodeDecodeError as error:
        raise InputError(f'{path}:{number}: not UTF-8 text.') from error
