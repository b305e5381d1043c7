"""What units of a text share with a reference: enough to score any set of them.

Nothing counted here depends on which units are chosen: it is counted once, and
a set of units is scored by adding up rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import cast

import numpy as np
from jaxtyping import Bool, Float, Int

from stepwise._rouge._lcs import lcs_positions, place_bits

Sentences = Sequence[str]
# The sentences of one reference, or of each of several.
References = Sentences | Sequence[Sentences]

KINDS = ('rouge1', 'rouge2', 'rougeLsum')


class Reference:
  """A reference's lines as ids of its own words, and its pairs of words.

  Attributes:
    lines: tokens of every line.
    words: the id of every distinct token; any other token has id `len(words)`.
    positions: the words of all lines, one after another.
    pair_ids: the id of a pair of word ids; `pairs` if it is not in the text.
    pairs: number of distinct neighbouring pairs, line ends notwithstanding.
  """

  def __init__(self, lines: Sequence[list[str]]):
    self.lines = lines
    tokens = list(chain.from_iterable(lines))
    self.words = {word: i for i, word in enumerate(dict.fromkeys(tokens))}
    self.positions = self.ids(tokens)
    neighbours = zip(self.positions[:-1], self.positions[1:], strict=True)
    pairs = {pair: i for i, pair in enumerate(dict.fromkeys(neighbours))}
    self.pairs = len(pairs)
    self.pair_ids = np.full((len(self.words) + 1,) * 2, self.pairs)
    for pair, index in pairs.items():
      self.pair_ids[pair] = index

  def ids(self, tokens: Sequence[str]) -> Int[np.ndarray, ' tokens']:
    unknown = len(self.words)
    ids = [self.words.get(token, unknown) for token in tokens]
    return np.array(ids, np.int64)

  @cached_property
  def unigrams(self) -> Int[np.ndarray, ' words']:
    return np.bincount(self.positions, minlength=len(self.words))

  @cached_property
  def bigrams(self) -> Int[np.ndarray, ' pairs']:
    ids = self.pair_ids[self.positions[:-1], self.positions[1:]]
    return np.bincount(ids, minlength=self.pairs)

  @cached_property
  def one_hot(self) -> Float[np.ndarray, 'positions words']:
    return np.eye(len(self.words), dtype=np.float32)[self.positions]


class SetScores(ABC):
  """Scores any set of units.

  Attributes:
    sizes: tokens of every unit.
    unigrams: how often a unit has each word of a reference.
  """

  sizes: Int[np.ndarray, ' units']
  unigrams: Int[np.ndarray, 'units words']

  @abstractmethod
  def count_hits(
    self, sets: Int[np.ndarray, 'sets size']
  ) -> Int[np.ndarray, 'sets 3']:
    """What each of `KINDS` counts as found in the references.

    A set is a row of ascending indices of units that have at least one token.
    """

  @property
  @abstractmethod
  def reference_sizes(self) -> list[int]:
    """Tokens of every reference."""

  def score_sets(
    self, sets: Int[np.ndarray, 'sets size']
  ) -> Float[np.ndarray, 'sets 3 3']:
    """Precision, recall and F1 of each of `KINDS` for each set of units.

    The numbers are those of `rouge-score` for these units joined by newlines,
    given its tokens; of several references, counts are added up.
    """
    hits = self.count_hits(sets)
    sizes = self.reference_sizes
    given = totals(self.sizes[sets].sum(1)) * len(sizes)
    wanted = totals(np.array(sizes)).sum(0)
    precision = hits / np.maximum(given, 1)
    recall = hits / np.maximum(wanted, 1)[None]
    both = precision + recall
    f1 = 2 * precision * recall / np.where(both > 0, both, 1)
    return np.stack([precision, recall, f1], axis=2)

  def mean_f1(
    self, sets: Int[np.ndarray, 'sets size']
  ) -> Float[np.ndarray, ' sets']:
    """Mean of the three F1 scores, what an oracle maximises."""
    f1 = self.score_sets(sets)[:, :, 2]
    return (f1[:, 0] + f1[:, 1] + f1[:, 2]) / 3


@dataclass(frozen=True)
class Overlap(SetScores):
  """Counts that units share with one reference.

  Attributes:
    reference: what the units are compared with.
    unigrams: how often a unit has each reference word.
    bigrams: how often it has each reference pair; the last column is the rest.
    matched: reference positions in the LCS of the unit with their line.
    sizes: tokens of a unit.
    first, last: word id of a unit's first and last token, if it has any.
  """

  reference: Reference
  unigrams: Int[np.ndarray, 'units words']
  bigrams: Int[np.ndarray, 'units pairs_and_rest']
  matched: Bool[np.ndarray, 'units positions']
  sizes: Int[np.ndarray, ' units']
  first: Int[np.ndarray, ' units']
  last: Int[np.ndarray, ' units']

  @property
  def reference_sizes(self) -> list[int]:
    return [len(self.reference.positions)]

  def count_hits(
    self, sets: Int[np.ndarray, 'sets size']
  ) -> Int[np.ndarray, 'sets 3']:
    words = self.unigrams[sets].sum(1)
    return np.stack(
      [
        np.minimum(words, self.reference.unigrams[None]).sum(1),
        self._pair_hits(sets),
        self._lcs_hits(sets, words),
      ],
      axis=1,
    )

  def _pair_hits(
    self, sets: Int[np.ndarray, 'sets size']
  ) -> Int[np.ndarray, ' sets']:
    counts = self.bigrams[sets].sum(1)
    # The text is one sequence: a pair may straddle two neighbouring units.
    left, right = self.last[sets[:, :-1]], self.first[sets[:, 1:]]
    straddling = self.reference.pair_ids[left, right]
    np.add.at(counts, (np.arange(len(sets))[:, None], straddling), 1)
    return np.minimum(counts[:, :-1], self.reference.bigrams[None]).sum(1)

  def _lcs_hits(
    self,
    sets: Int[np.ndarray, 'sets size'],
    words: Int[np.ndarray, 'sets words'],
  ) -> Int[np.ndarray, ' sets']:
    union = self.matched[sets].any(1).astype(np.float32)
    matched_words = union @ self.reference.one_hot
    # As in ROUGE-1.5.5, a token of the candidate is not matched twice.
    return np.minimum(matched_words.astype(np.int64), words).sum(1)


class Overlaps(SetScores):
  """Counts that units share with each of several references."""

  def __init__(self, parts: Sequence[Overlap]):
    self.parts = parts
    self.sizes = parts[0].sizes
    self.unigrams = np.concatenate([part.unigrams for part in parts], axis=1)

  @property
  def reference_sizes(self) -> list[int]:
    return [len(part.reference.positions) for part in self.parts]

  def count_hits(
    self, sets: Int[np.ndarray, 'sets size']
  ) -> Int[np.ndarray, 'sets 3']:
    return np.sum([part.count_hits(sets) for part in self.parts], axis=0)


def totals(tokens: Int[np.ndarray, ' texts']) -> Int[np.ndarray, 'texts 3']:
  """Words, pairs and words of texts: what each of `KINDS` divides by."""
  return np.stack([tokens, np.maximum(tokens - 1, 0), tokens], axis=1)


def as_references(references: References) -> Sequence[Sentences]:
  """Several references, or one as the only one of a list."""
  if any(isinstance(item, str) for item in references) or not references:
    return [cast(Sentences, references)]
  return cast(Sequence[Sentences], references)


def measure_overlap(
  units: Sequence[str],
  references: References,
  tokenize: Callable[[str], list[str]],
) -> SetScores:
  """Counts once what every unit shares with the sentences of references.

  A newline inside a unit or a sentence begins a new line, as in `rouge-score`.
  """
  lines = [[tokenize(line) for line in unit.split('\n')] for unit in units]
  parts = [
    measure_lines(
      lines, [tokenize(line) for text in one for line in text.split('\n')]
    )
    for one in as_references(references)
  ]
  return parts[0] if len(parts) == 1 else Overlaps(parts)


def measure_lines(
  unit_lines: Sequence[Sequence[list[str]]], reference: Sequence[list[str]]
) -> Overlap:
  """`measure_overlap` of lines that are tokens already."""
  known = Reference(reference)
  tokens = [list(chain.from_iterable(lines)) for lines in unit_lines]
  sizes = np.array([len(unit) for unit in tokens], np.int64)
  ids = known.ids(list(chain.from_iterable(tokens)))
  units = len(unit_lines)
  owner = np.repeat(np.arange(units), sizes)
  pairs = known.pair_ids[ids[:-1], ids[1:]]
  inside = owner[:-1] == owner[1:]
  words, ends = len(known.words), np.cumsum(sizes)
  # The sentinel keeps the indices of empty units valid.
  sentinel = np.append(ids, words)
  return Overlap(
    reference=known,
    unigrams=_count(owner, ids, (units, words + 1))[:, :-1],
    bigrams=_count(owner[:-1][inside], pairs[inside], (units, known.pairs + 1)),
    matched=_match(unit_lines, known),
    sizes=sizes,
    first=sentinel[ends - sizes],
    last=sentinel[ends - 1],
  )


def _count(
  rows: Int[np.ndarray, ' tokens'],
  columns: Int[np.ndarray, ' tokens'],
  shape: tuple[int, int],
) -> Int[np.ndarray, 'rows columns']:
  """How often each (row, column) occurs."""
  cells = rows * shape[1] + columns
  return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _match(
  unit_lines: Sequence[Sequence[list[str]]], reference: Reference
) -> Bool[np.ndarray, 'units positions']:
  """Unions over a unit's lines of their LCS with each reference line."""
  unit_of_line = [unit for unit, lines in enumerate(unit_lines) for _ in lines]
  candidates = place_bits(
    list(chain.from_iterable(unit_lines)), set(reference.words)
  )
  matched = np.zeros((len(unit_lines), len(reference.positions)), bool)
  start = 0
  for line in reference.lines:
    for candidate, position in lcs_positions(line, candidates):
      matched[unit_of_line[candidate], start + position] = True
    start += len(line)
  return matched
