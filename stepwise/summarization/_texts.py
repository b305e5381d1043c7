"""What may be called a text in Python."""

import os
from collections.abc import Sequence
from pathlib import Path

from stepwise._errors import InputError
from stepwise.documents import (
  Document,
  ReadOptions,
  has_many,
  is_address,
  is_known,
  make_document,
  read_items,
)

# A text, the path of a file with one, or its sentences.
Text = str | os.PathLike[str] | Sequence[str] | Document

_LONGEST_NAME = 1000


def as_document(text: Text, reading: ReadOptions = ReadOptions()) -> Document:
  """The document that is meant."""
  if isinstance(text, Document):
    return _not_empty(text)
  if isinstance(text, os.PathLike):
    return _from_file(Path(text), reading)
  if isinstance(text, str):
    if _is_name(text):
      return _from_file(Path(text.strip()), reading)
    return _from_text(text, reading)
  if isinstance(text, Sequence) and not isinstance(text, bytes | bytearray):
    return _from_sentences(text, reading)
  raise InputError(
    f'a text is of type {type(text).__name__}, must be a string, a path, or a'
    ' list of sentences.'
  )


def _is_name(text: str) -> bool:
  """A word that is the name of a file, or could only be one."""
  name = text.strip()
  if not name or len(name) > _LONGEST_NAME or '\n' in name or '\0' in name:
    return False
  if is_address(name) and not name.split()[1:]:
    raise InputError(
      f'{name} is an address: give what stepwise.documents.fetch_document '
      'finds there.'
    )
  return os.path.isfile(name) or (not name.split()[1:] and is_known(Path(name)))


def _from_file(path: Path, reading: ReadOptions) -> Document:
  if has_many([str(path)]):
    raise InputError(
      f'{path} may hold many documents: give what '
      'stepwise.documents.read_documents finds there to summarize_many.'
    )
  (item,) = read_items([str(path)], reading)
  if isinstance(item.content, InputError):
    raise item.content
  return item.content


def _from_text(text: str, reading: ReadOptions) -> Document:
  try:
    text.encode()
  except UnicodeEncodeError as error:
    raise InputError(
      f'the text has half a surrogate pair at character {error.start}.'
    ) from None
  if not text.strip():
    raise InputError('the text is empty: there is nothing to summarise.')
  return make_document({'text': text}, None, reading)


def _from_sentences(text: Sequence[str], reading: ReadOptions) -> Document:
  """They stay as they are given."""
  for index, sentence in enumerate(text):
    if not isinstance(sentence, str):
      raise InputError(
        f'sentence {index + 1} is of type {type(sentence).__name__}, must be '
        'a string.'
      )
  if not any(sentence.strip() for sentence in text):
    raise InputError('the text is empty: there is nothing to summarise.')
  given = ReadOptions('never', reading.language, reading.text_key)
  return make_document({'text': list(text)}, None, given)


def _not_empty(document: Document) -> Document:
  if not document.spans:
    raise InputError('the text is empty: there is nothing to summarise.')
  return document
