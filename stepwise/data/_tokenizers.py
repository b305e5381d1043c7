"""Tokenisers: text of units in, ids of pieces out, and ids kept for us.

Delimiters and padding are the business of models; a tokeniser only knows
their ids. Text never yields a special piece: `[SEP]` in a text is brackets
and letters.
"""

import functools
import importlib.resources
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stepwise._errors import InputError

if TYPE_CHECKING:
  import tokenizers

# The published sequence-to-sequence RoBERTa checkpoints have 50,358 rows, 93
# more than the public vocabulary.
_SPARE_ROWS = 93
# Of a byte-level BPE, as it is published.
BPE_FILES = ('vocab.json', 'merges.txt')


@dataclass(frozen=True)
class Tokenizer:
  """A tokeniser and the ids that have a meaning.

  Attributes:
    name: stored in records, so that they meet the model they are made for.
    vocab_size: rows that a token table needs.
    pad, cls, sep, unk: padding, delimiters, unknown text.
    eot, beg, eos: reserved for the units end of text, beginning of the
      summary and end of a sentence.
    context: reserved for what precedes the context of a sentence to write.
    slots: reserved for values that a sentence refers to.
    lowercase: whether ids forget the case of letters.
  """

  name: str
  vocab_size: int
  pad: int
  cls: int
  sep: int
  unk: int
  eot: int
  beg: int
  eos: int
  context: int
  slots: range
  lowercase: bool
  _backend: 'tokenizers.Tokenizer' = field(repr=False, compare=False)

  def encode_units(self, texts: Sequence[str]) -> list[list[int]]:
    """Ids of every text, without special pieces, and at least one each."""
    encoded = self._backend.encode_batch_fast(
      list(texts), add_special_tokens=False
    )
    return [encoding.ids or [self.unk] for encoding in encoded]

  def encode_with_offsets(
    self, texts: Sequence[str]
  ) -> list[list[tuple[int, tuple[int, int]]]]:
    """Like `encode_units`, with the span of characters behind every id."""
    encoded = self._backend.encode_batch(list(texts), add_special_tokens=False)
    return [
      list(zip(encoding.ids, encoding.offsets, strict=True))
      or [(self.unk, (0, len(text)))]
      for text, encoding in zip(texts, encoded, strict=True)
    ]

  def decode(self, ids: Sequence[int]) -> str:
    """The text of ids; words of WordPiece are parted by single spaces."""
    return self._backend.decode(list(ids), skip_special_tokens=False)

  def pieces(self) -> list[str]:
    """The spelling of every id, empty where there is none."""
    spell = self._backend.id_to_token
    return [spell(index) or '' for index in range(self.vocab_size)]


@functools.cache
def wordpiece() -> Tokenizer:
  """Uncased BERT, with its vocabulary inside this package.

  Ids 1 to 5 are unused by BERT but taken by ETC's global tokens; ours follow.

  >>> tokenizer = wordpiece()
  >>> tokenizer.encode_units(['Stepwise extraction.'])
  [[3357, 14244, 14676, 1012]]
  >>> tokenizer.eot, tokenizer.beg, tokenizer.eos
  (10, 11, 12)
  """
  from tokenizers import Tokenizer as Backend
  from tokenizers import decoders, models, normalizers, pre_tokenizers

  source = importlib.resources.files('stepwise.data') / 'vocab'
  with importlib.resources.as_file(source / 'bert_uncased.txt') as path:
    model = models.WordPiece.from_file(str(path), unk_token='[UNK]')
  backend = Backend(model)
  backend.normalizer = normalizers.BertNormalizer(lowercase=True)
  backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
  backend.decoder = decoders.WordPiece(cleanup=False)
  return Tokenizer(
    name='wordpiece',
    vocab_size=backend.get_vocab_size(),
    pad=_piece(backend, '[PAD]'),
    cls=_piece(backend, '[CLS]'),
    sep=_piece(backend, '[SEP]'),
    unk=_piece(backend, '[UNK]'),
    eot=_piece(backend, '[unused9]'),
    beg=_piece(backend, '[unused10]'),
    eos=_piece(backend, '[unused11]'),
    context=_piece(backend, '[unused12]'),
    slots=range(_piece(backend, '[unused13]'), _piece(backend, '[unused93]')),
    lowercase=True,
    _backend=backend,
  )


def byte_level_bpe(
  vocab_json: str | os.PathLike[str], merges_txt: str | os.PathLike[str]
) -> Tokenizer:
  """RoBERTa from the two files of its public vocabulary.

  Our ids are the rows that published models keep after the vocabulary: 50265
  to 50268, and from there on slots, of 50358 for the public one.
  """
  from tokenizers import Tokenizer as Backend
  from tokenizers import decoders, models, pre_tokenizers

  for path in (vocab_json, merges_txt):
    if not Path(path).is_file():
      raise InputError(f'{os.fspath(path)}: no such file.')
  try:
    model = models.BPE.from_file(os.fspath(vocab_json), os.fspath(merges_txt))
  except Exception as error:  # The library raises bare exceptions.
    raise InputError(
      f'{os.fspath(vocab_json)} and {os.fspath(merges_txt)} are not the '
      f'vocabulary and the merges of a byte-level BPE: {error}.'
    ) from error
  backend = Backend(model)
  backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
  backend.decoder = decoders.ByteLevel()
  size = backend.get_vocab_size()
  return Tokenizer(
    name='byte_level_bpe',
    vocab_size=size + _SPARE_ROWS,
    pad=_piece(backend, '<pad>'),
    cls=_piece(backend, '<s>'),
    sep=_piece(backend, '</s>'),
    unk=_piece(backend, '<unk>'),
    eot=size,
    beg=size + 1,
    eos=size + 2,
    context=size + 3,
    slots=range(size + 4, size + _SPARE_ROWS),
    lowercase=False,
    _backend=backend,
  )


@functools.cache
def report_words() -> Tokenizer:
  """Words of reports of games, with their list inside this package.

  They are whole words, so that everything that can be written is in the list:
  no name, no number, and nothing that a table could not tell. Pieces in
  brackets are read only.

  >>> tokenizer = report_words()
  >>> tokenizer.decode(tokenizer.encode_units(['led the way'])[0])
  'led the way'
  """
  from tokenizers import Tokenizer as Backend
  from tokenizers import models, pre_tokenizers

  source = importlib.resources.files('stepwise.data') / 'vocab' / 'reports.txt'
  words = source.read_text(encoding='utf-8').split()
  ids = {word: index for index, word in enumerate(words)}
  backend = Backend(models.WordLevel(ids, unk_token='[UNK]'))
  backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
  slots = [index for word, index in ids.items() if word.startswith('[SLOT')]
  special = {
    name: ids[f'[{name.upper()}]']
    for name in ('pad', 'cls', 'sep', 'unk', 'eot', 'beg', 'eos', 'context')
  }
  return Tokenizer(
    name='reports',
    vocab_size=len(words),
    slots=range(slots[0], slots[-1] + 1),
    lowercase=True,
    _backend=backend,
    **special,
  )


def load_tokenizer(name: str | os.PathLike[str]) -> Tokenizer:
  """`'wordpiece'`, `'reports'`, or RoBERTa's from a folder of `BPE_FILES`."""
  if name == 'wordpiece':
    return wordpiece()
  if name == 'reports':
    return report_words()
  if not Path(name).is_dir():
    raise InputError(
      f'the tokenizer is {os.fspath(name)!r}; it must be `wordpiece`,'
      f' `reports` or a folder with {" and ".join(BPE_FILES)}.'
    )
  return byte_level_bpe(*(Path(name) / file for file in BPE_FILES))


def _piece(backend: 'tokenizers.Tokenizer', piece: str) -> int:
  index = backend.token_to_id(piece)
  if index is None:
    raise InputError(f'the vocabulary has no piece {piece!r}.')
  return index
