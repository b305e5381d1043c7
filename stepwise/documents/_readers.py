"""Readers: a file or a folder of stories in, documents out."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, get_args

from stepwise._errors import InputError
from stepwise.documents._document import Document
from stepwise.documents._formats import (
  ARTICLE_KEYS,
  FORMATS,
  NO_TEXT,
  SUMMARY_KEYS,
  Fields,
  Format,
  find_format,
  find_suffix,
)
from stepwise.documents._languages import check_language, detect_language
from stepwise.documents._splitter import is_list_item, split_sentences
from stepwise.documents._structure import (
  Block,
  Spans,
  Split,
  Splitter,
  Units,
  find_units,
  join_blocks,
  line_regions,
  text_regions,
)

# What a paragraph ends with, unless it is the line of a wrapped one.
_ENDS = '.!?…:;"\'”\u2019)'

# A list of so many items, nearly all of them one sentence, is one of sentences.
_LEAST_LIST, _SINGLE_SHARE = 10, 0.9


@dataclass(frozen=True)
class ReadOptions:
  """How documents are read.

  Attributes:
    split: what a unit is: `auto`, a sentence, where a list of sentences stays
      as given; `paragraphs`; `never`, a line or an item of a list.
    language: its code; None = as the document says, or else as it looks.
    text_key: the field or column that has the text; None = the first of
      `article`, `document`, `text`, `content` and `body`.
  """

  split: str = 'auto'
  language: str | None = None
  text_key: str | None = None

  def __post_init__(self) -> None:
    if self.split not in get_args(Split):
      raise InputError(
        f'split is {self.split!r}, must be one of {", ".join(get_args(Split))}.'
      )
    if self.language is not None:
      check_language(self.language)


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
  splitter: Splitter | None = None,
  options: ReadOptions = ReadOptions(),
  on_error: Callable[[BadLine], object] | None = None,
) -> Iterator[Document]:
  """Reads documents one by one, in the order of the file.

  Formats, by the end of the name: one document (`.txt`, `.md`, `.html`,
  `.pdf`, `.docx`, `.eml`, and `.story` of CNN and Daily Mail) or many
  (`.jsonl`, `.json`, `.csv`, `.tsv`, `.parquet`), with the text in `article`,
  `document`, `text`, `content` or `body` and a summary in `highlights` or
  `summary`; any of them may be compressed (`.gz`, `.zst`). A text is a string,
  or a list of paragraphs or sentences; a summary is a list of sentences or a
  string with one sentence a line (a single line is split); `id` and `language`
  are optional.

  Args:
    path: the file, or a folder of `.story` files.
    splitter: maps a text to the spans of its units; None = that of its
      language.
    options: how texts are read.
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
        document = parse_item(form, file, number, item, splitter, options)
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
  splitter: Splitter | None = None,
  options: ReadOptions = ReadOptions(),
) -> Document:
  """The document of one item of a file; without an id, its place is the id.

  Records and oracles of the same file meet by these ids.
  """
  place = file.stem if form.whole_file else f'{file.name}:{number}'
  return make_document({'id': place, **form.parse(item)}, splitter, options)


def parse_file(
  name: str, data: bytes, options: ReadOptions = ReadOptions()
) -> Document:
  """The document of a file that is at hand as bytes; nothing is opened.

  Args:
    name: its end tells the format, unless the bytes do.
    data: the contents.
    options: how texts are read.
  """
  suffix = find_suffix(name, data)
  form = FORMATS.get(suffix)
  if form is None or not form.whole_file:
    known = ', '.join(key for key, each in FORMATS.items() if each.whole_file)
    raise InputError(
      f'a file is named {name!r}; the name of a document ends in one of '
      f'{known}.'
    )
  fields = {'id': Path(name).stem, **form.parse(data)}
  return make_document(fields, None, options)


def make_document(
  fields: Fields,
  splitter: Splitter | None = None,
  options: ReadOptions = ReadOptions(),
) -> Document:
  """Builds a document from fields named as in `read_documents`.

  >>> make_document({'document': 'One. Two.', 'summary': ['Both.']}).units
  ('One.', 'Two.')
  """
  key, content = _content(fields, options)
  sample = content if isinstance(content, str) else _sample(content)
  language = _language(fields, options) or detect_language(sample)
  split = splitter or partial(split_sentences, language=language)
  text, units = _units(content, split, options.split)
  if not units.spans:
    raise InputError(f'{key!r} has no text.' if key else NO_TEXT)
  plain = all(kind == 'sentence' for kind in units.kinds)
  return Document(
    text,
    units.spans,
    _summary(fields, split),
    str(fields.get('id', '')),
    () if plain else units.kinds,
    language,
  )


def _content(
  fields: Fields, options: ReadOptions
) -> tuple[str, str | list[str] | list[Block]]:
  """The text of a document: whole, as a list, or in blocks; with its key.

  Blocks are of a file, where no person has seen a key.
  """
  if 'blocks' in fields:
    return '', fields['blocks']
  key = options.text_key or _article_key(fields)
  if key is None or fields.get(key) is None:
    wanted = [options.text_key] if options.text_key else ARTICLE_KEYS
    # Readers give every document an id; it is nothing to choose from.
    found = sorted(fields.keys() - {'id'})
    raise InputError(f'no {" or ".join(map(repr, wanted))}; found {found}.')
  texts = _texts(key, fields[key])
  return key, texts if isinstance(fields[key], list) else texts[0]


def _article_key(fields: Fields) -> str | None:
  """The first known name, however it is capitalised."""
  names = {name.lower(): name for name in fields if fields[name] is not None}
  return next((names[key] for key in ARTICLE_KEYS if key in names), None)


def _sample(content: Sequence[str | Block]) -> str:
  parts = (part if isinstance(part, str) else part.text for part in content)
  return ' '.join(islice(parts, 40))


def _language(fields: Fields, options: ReadOptions) -> str:
  given = options.language or fields.get('language') or fields.get('lang') or ''
  return given if isinstance(given, str) else ''


def _units(
  content: str | list[str] | list[Block], splitter: Splitter, split: str
) -> tuple[str, Units]:
  if isinstance(content, str):
    if split == 'never':
      regions = line_regions(content)
    else:
      regions = text_regions(content)
    return content, find_units(content, regions, splitter, split)
  blocks = [part for part in content if isinstance(part, Block)]
  if not blocks:
    paragraphs = [p for p in content if isinstance(p, str) and p.strip()]
    if split == 'auto':
      paragraphs = _mend(paragraphs)
      cut = {each: splitter(each) for each in paragraphs}
      splitter = cut.__getitem__
      if _are_sentences(list(cut.values())):
        split = 'paragraphs'
    blocks = [Block(paragraph) for paragraph in paragraphs]
  text, regions = join_blocks(blocks)
  return text, find_units(text, regions, splitter, split)


def _are_sentences(cut: Sequence[Spans]) -> bool:
  """Whether a list was cut into sentences already, by somebody else's rules."""
  single = sum(len(spans) <= 1 for spans in cut)
  return len(cut) >= _LEAST_LIST and single >= _SINGLE_SHARE * len(cut)


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
