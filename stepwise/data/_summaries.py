"""Reading what evaluation compares: predicted summaries and references.

No line is lost here: a bad one is an error, an empty summary is a summary, and
what a system could not summarise stays in its place.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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

PREDICTION_KEYS = ('prediction', 'summary', 'sentences')
# All summaries of a document, and those besides the first.
_REFERENCES, _OTHERS = 'references', 'other_highlights'

Sentences = tuple[str, ...]


@dataclass(frozen=True)
class Prediction:
  """A predicted summary.

  Attributes:
    sentences: none if there is an error.
    id: of its document; empty if it has none.
    error: why there is no summary, as the system said.
  """

  sentences: Sentences
  id: str = ''
  error: str = ''


@dataclass(frozen=True)
class Reference:
  """A document, which may have no units, and all its human summaries.

  The first of them is also the document's own.
  """

  document: Document
  summaries: tuple[Sentences, ...]


def read_predictions(
  path: str | os.PathLike[str], *, lines: Iterable[bytes] | None = None
) -> list[Prediction]:
  """Every predicted summary, in the order of the file.

  JSON lines (or any table `read_documents` reads) with `prediction` or
  `summary`, a list of sentences or a string, and `id` if there are any; what
  `stepwise infer` and `stepwise summarize` write, errors included; or `.txt`
  with a summary on every line. A string is split at line breaks, one line into
  its sentences.

  Args:
    path: of the file.
    lines: of JSON that are not in a file; then `path` is only its name.
  """
  path = Path(path)
  if lines is not None:
    named = path.with_suffix('.jsonl')
    return [
      parse_prediction(named, number, line)
      for number, line in enumerate(lines, 1)
      if line.strip()
    ]
  if _is_plain_text(path):
    return [
      Prediction(summary_sentences('line', line)) for line in _text_lines(path)
    ]
  return [
    parse_prediction(path, number, item)
    for number, item in find_format(path).items(path)
  ]


def pair_predictions(
  name: str,
  predictions: Sequence[Prediction],
  documents: Sequence[Document],
) -> list[Prediction]:
  """The prediction of every document: by id if all have one, else by line.

  Errors may lack the id: as many documents as there are such errors may have no
  prediction, and have the error then. Predictions of other documents are left
  out.

  Args:
    name: of the file of predictions, for messages.
    predictions: in the order of that file.
    documents: in the order of the references' file.
  """
  ids = [document.id for document in documents]
  named = {prediction.id: prediction for prediction in predictions}
  failed = [p for p in predictions if p.error and not p.id]
  if not (
    named.keys() - {''}
    and all(p.id or p.error for p in predictions)
    and all(ids)
    and len(set(ids)) == len(ids)
  ):
    return _pair_lines(name, predictions, len(documents))
  if len(named.keys() - {''}) + len(failed) < len(predictions):
    raise InputError(f'{name} has several predictions for the same id.')
  missing = [id_ for id_ in ids if id_ not in named]
  if len(missing) > len(failed):
    raise InputError(
      f'{name} has no prediction for {len(missing) - len(failed)} of '
      f'{len(ids)} references, such as that of id {missing[0]!r}.'
    )
  named |= dict(zip(missing, failed, strict=False))
  return [named[id_] for id_ in ids]


def read_references(
  path: str | os.PathLike[str], *, processes: int = 1
) -> list[Reference]:
  """Documents with their reference summaries; an article may be missing.

  Reads what `read_documents` reads, or only `highlights` or `summary`, in
  which case the documents have no units; `.txt` is a summary on every line.
  Several summaries of a document are a list under `references`, or a list of
  lists of sentences under `highlights` or `summary`, or stand in
  `other_highlights` besides. Parsing and sentence splitting are shared among
  `processes`.
  """
  path = Path(path)
  if _is_plain_text(path):
    return [
      _alone(summary_sentences('line', line)) for line in _text_lines(path)
    ]
  if path.is_dir():
    return [Reference(d, (d.summary,)) for d in read_documents(path)]
  parse = partial(_parse_references, path)
  items = find_format(path).items(path)
  return list(
    chain.from_iterable(map_chunks(parse, items, processes=processes))
  )


def _pair_lines(
  name: str, predictions: Sequence[Prediction], needed: int
) -> list[Prediction]:
  if len(predictions) != needed:
    raise InputError(
      f'{name} has {len(predictions)} predictions but the references are '
      f'{needed}: one prediction for each reference is needed.'
    )
  return list(predictions)


def parse_prediction(path: Path, number: int, item: Any) -> Prediction:
  """The prediction of one item of a file of them."""
  fields = _fields(path, number, item)
  name = str(fields.get('id') or '')
  if fields.get('error'):
    return Prediction((), name, str(fields['error']))
  key = _find_key(fields, PREDICTION_KEYS, path, number)
  value = fields[key]
  if isinstance(value, list):
    # `stepwise summarize --json` says more about a sentence than its text.
    value = [s.get('text') if isinstance(s, dict) else s for s in value]
  return Prediction(_sentences(key, value, path, number), name)


def _parse_references(
  path: Path, items: list[tuple[int, Any]]
) -> list[Reference]:
  return [parse_reference(path, number, item) for number, item in items]


def parse_reference(path: Path, number: int, item: Any) -> Reference:
  """The document and its summaries of one item of a file of them."""
  fields = _fields(path, number, item)
  summaries = _summaries(fields, path, number)
  rest = {k: v for k, v in fields.items() if k not in SUMMARY_KEYS}
  if not any(rest.get(key) for key in ARTICLE_KEYS):
    return _alone(*summaries, name=str(fields.get('id', '')))
  try:
    document = replace(make_document(rest), summary=summaries[0])
  except InputError as error:
    raise InputError(f'{path}:{number}: {error}') from error
  return Reference(document, summaries)


def _summaries(
  fields: Mapping[str, Any], path: Path, number: int
) -> tuple[Sentences, ...]:
  """All of them, the first first."""
  key = _find_key(fields, (_REFERENCES, *SUMMARY_KEYS), path, number)
  value = fields[key]
  if isinstance(value, list) and (
    key == _REFERENCES or any(isinstance(item, list) for item in value)
  ):
    several = value
  else:
    several = [value]
  if key != _REFERENCES:
    several = [*several, *(fields.get(_OTHERS) or [])]
  if not several:
    raise InputError(f'{path}:{number}: {key!r} is empty.')
  return tuple(_sentences(key, each, path, number) for each in several)


def _alone(*summaries: Sentences, name: str = '') -> Reference:
  return Reference(Document('', (), summaries[0], name), summaries)


def _fields(path: Path, number: int, item: Any) -> Mapping[str, Any]:
  try:
    return find_format(path).parse(item)
  except InputError as error:
    raise InputError(f'{path}:{number}: {error}') from error


def _find_key(
  fields: Mapping[str, Any], keys: tuple[str, ...], path: Path, number: int
) -> str:
  """The first of the keys that is there."""
  for key in keys:
    if fields.get(key) is not None:
      return key
  raise InputError(
    f'{path}:{number}: no {" or ".join(map(repr, keys))}; '
    f'found {sorted(fields)}.'
  )


def _sentences(key: str, value: object, path: Path, number: int) -> Sentences:
  try:
    return summary_sentences(key, value)
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
