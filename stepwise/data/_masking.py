"""Documents with words masked and units hidden, for an encoder to guess.

Everything is drawn on the host from a generator, so that a run with the same
seed, continued or not, sees the same examples.

A hidden unit is masked altogether and comes a second time, alone: its global
token in the document has to be told from those of other hidden units by what is
around it. Masked words are all in units that are not hidden.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from stepwise._errors import InputError
from stepwise.data._records import Example, Record
from stepwise.data._tokenizers import Tokenizer

# Of masked tokens, as BERT: so many become the mask, then any other piece; the
# rest stays as it is.
_MASKED, _REPLACED = 0.8, 0.1
_MASK_PIECES = ('[MASK]', '<mask>')
_SPECIAL_PIECE = re.compile(r'\[.+\]|<.+>|')
_LEAST_HIDDEN_TOKENS = 64


class MaskedSizes(NamedTuple):
  """Slots of one document.

  Attributes:
    masked: tokens to guess.
    hidden: units to guess.
    hidden_tokens: tokens of these, together.
  """

  masked: int
  hidden: int
  hidden_tokens: int


@dataclass(frozen=True)
class Masking:
  """How much of a document is taken away.

  Attributes:
    mask_rate: share of the visible tokens that are to be guessed, in whole
      words.
    hide_rate: share of the units that are hidden, at least one and never all;
      0 = none.
    hidden_tokens: room for the tokens of all hidden units of a document, so
      longer ones are never hidden; None = `hide_rate` of them, at least 64.
    min_units: documents of fewer are left out, special units not counted.
    tokenizer: `wordpiece`, or the folder of a byte-level BPE: what is a word.
  """

  mask_rate: float = 0.15
  hide_rate: float = 0.1
  hidden_tokens: int | None = None
  min_units: int = 7
  tokenizer: str = 'wordpiece'

  def __post_init__(self) -> None:
    for name in ('mask_rate', 'hide_rate'):
      if not 0 <= getattr(self, name) < 1:
        raise InputError(
          f'{name} is {getattr(self, name)}, must be at least 0 and below 1.'
        )

  def sizes(self, length: int, units: int) -> MaskedSizes:
    """Slots that any document of these sizes fits.

    >>> Masking().sizes(4096, 256)
    MaskedSizes(masked=615, hidden=26, hidden_tokens=410)
    """
    room = max(math.ceil(self.hide_rate * length), _LEAST_HIDDEN_TOKENS)
    return MaskedSizes(
      max(math.ceil(self.mask_rate * length), 1),
      max(math.ceil(self.hide_rate * units), 1),
      min(self.hidden_tokens or room, length),
    )


class WordPieces(NamedTuple):
  """What masking knows of a vocabulary.

  Attributes:
    starts: pieces that begin a word; others continue the one before, unless
      they are the first of their unit.
    ordinary: ids of pieces that texts have.
    mask: the id that stands for a masked token.
  """

  starts: Bool[np.ndarray, ' vocab']
  ordinary: Int[np.ndarray, ' pieces']
  mask: int


def word_pieces(tokenizer: Tokenizer) -> WordPieces:
  """What the spelling of its pieces tells."""
  pieces = tokenizer.pieces()
  masks = [pieces.index(name) for name in _MASK_PIECES if name in pieces]
  if not masks:
    raise InputError(
      f'the vocabulary of {tokenizer.name} has no piece for masked tokens,'
      f' {" or ".join(_MASK_PIECES)}.'
    )
  special = [bool(_SPECIAL_PIECE.fullmatch(piece)) for piece in pieces]
  return WordPieces(
    word_starts(pieces), np.flatnonzero(~np.array(special)), masks[0]
  )


def word_starts(pieces: Sequence[str]) -> Bool[np.ndarray, ' vocab']:
  """Which pieces begin a word, by how the vocabulary spells it.

  WordPiece marks those that do not (`##`), byte-level BPE those that do (`Ġ`, a
  space), where punctuation is a word of its own; in a vocabulary without such
  marks every piece is a word.

  >>> word_starts(['step', '##wise', '.']).tolist()
  [True, False, True]
  >>> word_starts(['Ġstep', 'wise', '.']).tolist()
  [True, False, True]
  >>> word_starts(['step', 'wise', '.']).tolist()
  [True, True, True]
  """
  if any(piece.startswith('##') for piece in pieces):
    begins = [not piece.startswith('##') for piece in pieces]
  elif any(piece.startswith('Ġ') for piece in pieces):
    begins = [
      piece.startswith('Ġ') or not any(map(str.isalnum, piece))
      for piece in pieces
    ]
  else:
    begins = [True for _ in pieces]
  return np.array(begins, bool)


def mask_record(
  record: Record,
  words: WordPieces,
  masking: Masking,
  sizes: MaskedSizes,
  rng: np.random.Generator,
  max_unit: int | None = None,
) -> Example:
  """The example of a record, not padded.

  `tokens` (masked) and `unit_ids` as in the record; `masked`, positions of
  tokens to guess, and `labels`, what was there; `hidden`, units to guess, and
  `hidden_tokens`, what they were, with the index of the unit among the hidden
  ones as `hidden_slots`.

  Args:
    record: special units are neither masked nor hidden.
    words: of the tokeniser of the record.
    masking: how much.
    sizes: slots that must hold what is drawn.
    rng: draws.
    max_unit: units from here on are not hidden; None = there is no such limit.
  """
  hidden = _choose_units(record, masking, sizes, rng, max_unit)
  in_hidden = np.isin(record.unit_ids, hidden)
  visible = ~in_hidden & (record.unit_ids >= record.special)
  masked = _choose_words(record, visible, words, masking, rng)
  tokens = np.where(in_hidden, words.mask, record.tokens).astype(np.int32)
  tokens[masked] = _replace(record.tokens[masked], words, rng)
  slots = np.searchsorted(hidden, record.unit_ids[in_hidden])
  return {
    'tokens': tokens,
    'unit_ids': record.unit_ids,
    'masked': masked.astype(np.int32),
    'labels': record.tokens[masked],
    'hidden': hidden.astype(np.int32),
    'hidden_tokens': record.tokens[in_hidden],
    'hidden_slots': slots.astype(np.int32),
  }


def pad_masked(
  examples: Sequence[Example],
  *,
  length: int,
  units: int,
  sizes: MaskedSizes,
  batch: int,
) -> dict[str, np.ndarray]:
  """Stacks examples of `mask_record`; what is empty is -1, tokens are 0.

  There is one array more: `valid [batch units]`, True = a real unit.
  """
  widths = {
    'tokens': (length, 0),
    'unit_ids': (length, -1),
    'masked': (sizes.masked, -1),
    'labels': (sizes.masked, 0),
    'hidden': (sizes.hidden, -1),
    'hidden_tokens': (sizes.hidden_tokens, 0),
    'hidden_slots': (sizes.hidden_tokens, -1),
  }
  arrays = {
    name: np.full((batch, width), empty, np.int32)
    for name, (width, empty) in widths.items()
  }
  for row, example in enumerate(examples):
    for name, array in arrays.items():
      array[row, : len(example[name])] = example[name]
  count = arrays['unit_ids'].max(axis=1, initial=-1) + 1
  return {**arrays, 'valid': np.arange(units)[None] < count[:, None]}


def _choose_units(
  record: Record,
  masking: Masking,
  sizes: MaskedSizes,
  rng: np.random.Generator,
  max_unit: int | None,
) -> Int[np.ndarray, ' hidden']:
  """Units to hide, in the order of the document, as far as there is room."""
  end = min(record.num_units, max_unit or record.num_units)
  count = record.num_units - record.special
  wanted = max(round(masking.hide_rate * count), 1) if masking.hide_rate else 0
  wanted = min(wanted, sizes.hidden, count - 1)
  lengths = np.bincount(record.unit_ids, minlength=record.num_units)
  chosen: list[int] = []
  room = sizes.hidden_tokens
  for unit in rng.permutation(np.arange(record.special, end)).tolist():
    if len(chosen) < wanted and lengths[unit] <= room:
      chosen.append(unit)
      room -= int(lengths[unit])
  return np.array(sorted(chosen), np.int64)


def _choose_words(
  record: Record,
  visible: Bool[np.ndarray, ' length'],
  words: WordPieces,
  masking: Masking,
  rng: np.random.Generator,
) -> Int[np.ndarray, ' masked']:
  """Positions of the tokens of words, whole ones, that are to be guessed."""
  first = np.diff(record.unit_ids, prepend=-1) > 0
  word_ids = np.cumsum(first | words.starts[record.tokens])
  lengths = np.bincount(word_ids)
  room = round(masking.mask_rate * int(visible.sum()))
  chosen = []
  for word in rng.permutation(np.unique(word_ids[visible])).tolist():
    if lengths[word] <= room:
      chosen.append(word)
      room -= int(lengths[word])
  return np.flatnonzero(np.isin(word_ids, chosen))


def _replace(
  tokens: Int[np.ndarray, ' masked'],
  words: WordPieces,
  rng: np.random.Generator,
) -> Int[np.ndarray, ' masked']:
  """What stands in the document instead of tokens that are to be guessed."""
  draw = rng.random(len(tokens))
  others = rng.choice(words.ordinary, len(tokens)).astype(tokens.dtype)
  kept = np.where(draw < _MASKED + _REPLACED, others, tokens)
  return np.where(draw < _MASKED, words.mask, kept).astype(tokens.dtype)
