"""Readers: a file or a folder of stories in, documents out."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise.documents._document import Document
from stepwise.documents._formats import (
  ARTICLE_KEYS,
  SUMMARY_KEYS,
  Fields,
  Format,
  find_format,
)
from stepwise.documents._splitter import is_list_item, split_sentences

# What a paragraph ends with, unless it is the line of a wrapped one.
_ENDS = '.!?…:;"\'”\u2019)'

Spans = Sequence[tuple[int, int]]
Splitter = Callable[[str], Spans]


@dataclass(frozen=True)
class BadLine:
  """A line that holds no document; line 0 stands for the whole file."""

  path: str
  line: int
  message: str

  def __str__(self) -> str:
    place = f'{self.path}:{self.line}' if self.line else self.path
    return f'{place}: {self.message}'


def read_documents(
  path: str | os.PathLike[str],
  *,
  splitter: Splitter = split_sentences,
  on_error: Callable[[BadLine], object] | None = None,
) -> Iterator[Document]:
  """Reads documents one by one, in the order of the file.

  Formats, by the end of the name: `.txt` (one document), `.story` (CNN and
  Daily Mail; also a folder of them), `.jsonl`, `.csv`, `.tsv` and `.parquet`
  with `article` and `highlights`, or `document` and `summary`; any text may be
  compressed (`.gz`, `.zst`). An article is a string or a list of paragraphs; a
  summary is a list of sentences or a string with one sentence a line (a
  single line is split); `id` is optional.

  Args:
    path: the file, or a folder of `.story` files.
    splitter: maps a text to the spans of its units.
    on_error: called with every bad line, which is then skipped, for example
      `bad_lines.append`. Without it the first bad line is an `InputError`. A
      file that cannot be read at all always is.
  """
  path = Path(path)
  empty = True
  for file in _files(path):
    form = find_format(file)
    for number, item in form.items(file):
      empty = False
      line = 0 if form.whole_file else number
      try:
        document = parse_item(form, file, number, item, splitter)
      except InputError as error:
        bad = BadLine(str(file), line, str(error))
        if on_error is None:
          raise InputError(str(bad)) from error
        on_error(bad)
      else:
        yield document
  if empty:
    raise InputError(f'{path}: empty; at least one document is needed.')


def parse_item(
  form: Format,
  file: Path,
  number: int,
  item: Any,
  splitter: Splitter = split_sentences,
) -> Document:
  """The document of one item of a file; without an id, its place is the id.

  Records and oracles of the same file meet by these ids.
  """
  place = file.stem if form.whole_file else f'{file.name}:{number}'
  return make_document({'id': place, **form.parse(item)}, splitter)


def make_document(
  fields: Fields, splitter: Splitter = split_sentences
) -> Document:
  """Builds a document from fields named as in `read_documents`.

  >>> make_document({'document': 'One. Two.', 'summary': ['Both.']}).units
  ('One.', 'Two.')
  """
  key = next((key for key in ARTICLE_KEYS if fields.get(key) is not None), None)
  if key is None:
    raise InputError(
      f'no {" or ".join(map(repr, ARTICLE_KEYS))}; found {sorted(fields)}.'
    )
  paragraphs = _texts(key, fields[key])
  if isinstance(fields[key], list):
    paragraphs = _mend([p for p in paragraphs if p.strip()])
  text, spans = _split_paragraphs(paragraphs, splitter)
  if not spans:
    raise InputError(f'{key!r} has no text.')
  return Document(
    text, spans, _summary(fields, splitter), str(fields.get('id', ''))
  )


def _files(path: Path) -> list[Path]:
  if not path.is_dir():
    return [path]
  stories = sorted(path.glob('*.story'))
  if not stories:
    raise InputError(f'{path}: no .story files in this folder.')
  return stories


def _texts(key: str, value: object) -> list[str]:
  """The value as a list of valid strings."""
  texts = []
  for text in value if isinstance(value, list) else [value]:
    if not isinstance(text, str):
      raise InputError(
        f'{key!r} must be a string or a list of strings, '
        f'not {type(text).__name__}.'
      )
    if not text.isascii():
      _check_unicode(key, text)
    texts.append(text)
  return texts


def _check_unicode(key: str, text: str) -> None:
  try:
    text.encode()
  except UnicodeEncodeError as error:
    raise InputError(
      f'{key!r} has half a surrogate pair at character {error.start}.'
    ) from error


def _mend(paragraphs: list[str]) -> list[str]:
  """Rejoins paragraphs that are lines of a hard-wrapped one.

  Some stories put every line in a paragraph of its own: if one has no stop at
  its end and the next goes on in lower case, they are one. A text that begins
  in lower case is taken for lower-cased, where this says nothing.
  """
  if not paragraphs or paragraphs[0].lstrip()[0].islower():
    return paragraphs
  mended = paragraphs[:1]
  for previous, following in pairwise(paragraphs):
    has_stop = previous.rstrip()[-1] in _ENDS
    goes_on = following.lstrip()[0].islower() and not is_list_item(following)
    if goes_on and not has_stop:
      mended[-1] += '\n' + following
    else:
      mended.append(following)
  return mended


def _split_paragraphs(
  paragraphs: list[str], splitter: Splitter
) -> tuple[str, tuple[tuple[int, int], ...]]:
  """Joins paragraphs with blank lines; no unit reaches across one."""
  spans, offset = [], 0
  for paragraph in paragraphs:
    inner = splitter(paragraph)
    _check_spans(paragraph, inner)
    spans += [(start + offset, end + offset) for start, end in inner]
    offset += len(paragraph) + 2
  return '\n\n'.join(paragraphs), tuple(spans)


def _check_spans(text: str, spans: Spans) -> None:
  position = 0
  for start, end in spans:
    if not position <= start < end <= len(text):
      raise InputError(
        f'splitter returned the span ({start}, {end}) after {position} in a '
        f'text of {len(text)}; spans must be in order, disjoint and not empty.'
      )
    position = end


def _summary(fields: Fields, splitter: Splitter) -> tuple[str, ...]:
  key = next((key for key in SUMMARY_KEYS if fields.get(key) is not None), None)
  return () if key is None else summary_sentences(key, fields[key], splitter)


def summary_sentences(
  key: str, value: object, splitter: Splitter = split_sentences
) -> tuple[str, ...]:
  """Sentences of a list, or of a string with one a line (one line is split)."""
  sentences = _texts(key, value)
  if isinstance(value, str):
    sentences = value.strip().splitlines()
    if len(sentences) == 1:
      [text] = sentences
      sentences = [text[start:end] for start, end in splitter(text)]
  return tuple(s.strip() for s in sentences if s.strip())
