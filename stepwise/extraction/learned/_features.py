"""Candidates as arrays: the words of a sentence and where the pair stands."""

import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int32

from stepwise.extraction._candidates import Candidate
from stepwise.extraction._mentions import AnnotatedSentence
from stepwise.extraction._text import find_numbers
from stepwise.rotowire import NAME_TYPES, ROLE_TYPES, rotowire_schema

NONE = 'NONE'
# Words of a sentence that are read: all, or as many around the number.
WINDOW = 40
# Distances from entity and number that are told apart, on either side.
REACH = 15
# Amounts are told apart by size alone: below the first of these, the second...
_SIZES = (1, 2, 3, 5, 7, 10, 13, 17, 22, 28, 36, 46, 61, 81, 101)
# Placeholders; id 0 is padding. Names say nothing of a type, and a vocabulary
# without them is small and knows nobody.
_SPECIAL = (
  *('<pad>', '<unknown>', '<team>', '<player>', '<date>'),
  *(f'<below {size}>' for size in _SIZES),
  '<more>',
)
_PAD, _UNKNOWN = range(2)
_AMOUNT = 5


def labels() -> tuple[str, ...]:
  """What a pair may be: nothing, or an entry type with an amount."""
  types = [
    type
    for kind in rotowire_schema().kinds.values()
    for type in kind.templates
    if type not in NAME_TYPES | ROLE_TYPES
  ]
  return (NONE, *types)


class Features(NamedTuple):
  """Candidates as rows.

  Attributes:
    words: ids, 0 = padding.
    entity, number: the distance of every word from the pair, clipped, as ids.
    allowed: labels that fit the kind of the entity.
    wanted: labels that the table supports, NONE if there are no others.
  """

  words: Int32[np.ndarray, 'rows words']
  entity: Int32[np.ndarray, 'rows words']
  number: Int32[np.ndarray, 'rows words']
  allowed: Bool[np.ndarray, 'rows labels']
  wanted: Bool[np.ndarray, 'rows labels']

  def rows(self, index: np.ndarray | slice) -> 'Features':
    return Features(*(array[index] for array in self))


@dataclass(frozen=True)
class Vocabulary:
  """Frequent lower-cased words, after the placeholders."""

  words: tuple[str, ...]

  @cached_property
  def _ids(self) -> dict[str, int]:
    return {word: i for i, word in enumerate(self.words, len(_SPECIAL))}

  @property
  def size(self) -> int:
    return len(_SPECIAL) + len(self.words)

  def sentence(
    self, sentence: AnnotatedSentence
  ) -> Int32[np.ndarray, ' words']:
    """Ids of all its words; names, dates and amounts by placeholders."""
    ids = [self._ids.get(t.lower(), _UNKNOWN) for t in sentence.tokens]
    for number in sentence.numbers:
      amount = _AMOUNT + bisect.bisect_right(_SIZES, number.value)
      ids[number.start : number.end] = [amount] * (number.end - number.start)
    for mention in sentence.mentions:
      kind = 'date' if mention.kind == 'match' else mention.kind
      if not mention.pronoun:
        length = mention.end - mention.start
        ids[mention.start : mention.end] = [
          _SPECIAL.index(f'<{kind}>')
        ] * length
    return np.array(ids, np.int32)


def frequent_words(
  texts: Iterable[Sequence[AnnotatedSentence]], least: int
) -> Vocabulary:
  """Words that occur at least so often in lower case, in alphabetical order.

  Names are written in upper case and numbers have placeholders, so neither is
  among them.
  """
  counts = Counter(
    token
    for sentences in texts
    for sentence in sentences
    for token in sentence.tokens
    if token == token.lower() and not any(map(str.isdigit, token))
  )
  frequent = sorted(word for word, count in counts.items() if count >= least)
  return Vocabulary(
    tuple(word for word in frequent if not find_numbers([word]))
  )


def featurise(
  sentences: Sequence[AnnotatedSentence],
  candidates: Sequence[Candidate],
  vocabulary: Vocabulary,
) -> Features:
  """Rows of the candidates, in their order."""
  names = labels()
  team = np.array([name.startswith('TEAM-') for name in names])
  none = np.array([name == NONE for name in names])
  ids = [vocabulary.sentence(sentence) for sentence in sentences]
  shape = len(candidates), WINDOW
  words = np.zeros(shape, np.int32)
  distances = np.zeros((2, *shape), np.int32)
  allowed = np.zeros((len(candidates), len(names)), bool)
  wanted = np.zeros_like(allowed)
  for row, candidate in enumerate(candidates):
    number, mention = candidate.number, candidate.mention
    whole = ids[candidate.sentence]
    start = max(min(number.start - WINDOW // 2, len(whole) - WINDOW), 0)
    read = whole[start : start + WINDOW]
    places = np.arange(start, start + len(read))
    words[row, : len(read)] = read
    for feature, anchor in enumerate((mention.start, number.start)):
      clipped = np.clip(places - anchor, -REACH, REACH) + REACH
      distances[feature, row, : len(read)] = clipped
    allowed[row] = none | (team if mention.kind == 'team' else ~team)
    wanted[row] = np.isin(names, candidate.types) & allowed[row]
    wanted[row, 0] = not wanted[row].any()
  return Features(words, distances[0], distances[1], allowed, wanted)


def join(parts: Sequence[Features]) -> Features:
  return Features(*map(np.concatenate, zip(*parts, strict=True)))
