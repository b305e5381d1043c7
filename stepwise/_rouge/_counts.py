"""What a text shares with a reference, counted for every kind of ROUGE."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from stepwise._rouge._lcs import lcs_positions, place_bits
from stepwise._rouge._overlap import KINDS, measure_lines, totals
from stepwise._rouge._weighted import WEIGHT, weighted_hits

Lines = Sequence[list[str]]


class Counts(NamedTuple):
  """Hits, and what recall and precision divide them by.

  Attributes:
    hits: of the reference in the text.
    wanted: most hits that the reference allows.
    given: most hits that the text allows.
    power: recall and precision are this root of their quotients.
    basis: what decides which of several references is best, if not `wanted`.
  """

  hits: float
  wanted: float
  given: float
  power: float = 1.0
  basis: float | None = None

  @property
  def recall(self) -> float:
    return _quotient(self.hits, self.wanted) ** (1 / self.power)

  @property
  def precision(self) -> float:
    return _quotient(self.hits, self.given) ** (1 / self.power)

  @property
  def merit(self) -> float:
    """By which the best of several references is found."""
    wanted = self.wanted if self.basis is None else self.basis
    return _quotient(self.hits, wanted) ** (1 / self.power)


def count_kinds(
  text: Lines, reference: Lines, kinds: Sequence[str]
) -> list[Counts]:
  """Counts of each of `kinds`, names in `ALL_KINDS`."""
  fast = _count_together(text, reference) if {*kinds} & {*KINDS} else {}
  return [
    fast[kind] if kind in fast else _COUNTERS[kind](text, reference)
    for kind in kinds
  ]


def _count_together(text: Lines, reference: Lines) -> dict[str, Counts]:
  """The three usual kinds, from the counts that oracles use."""
  overlap = measure_lines([text], reference)
  [hits] = overlap.count_hits(np.array([[0]])).tolist()
  sizes = np.array([len(overlap.reference.positions), overlap.sizes[0]])
  wanted, given = totals(sizes).tolist()
  return {
    kind: Counts(*numbers)
    for kind, *numbers in zip(KINDS, hits, wanted, given, strict=True)
  }


def _count_ngrams(size: int, text: Lines, reference: Lines) -> Counts:
  wanted, given = _ngrams(size, reference), _ngrams(size, text)
  hits = (wanted & given).total()
  return Counts(hits, wanted.total(), given.total())


def _ngrams(size: int, lines: Lines) -> Counter[tuple[str, ...]]:
  tokens = list(chain.from_iterable(lines))
  return Counter(zip(*(tokens[i:] for i in range(size)), strict=False))


def _count_subsequence(text: Lines, reference: Lines) -> Counts:
  """Each text as one line: the LCS of two sentences."""
  given = list(chain.from_iterable(text))
  wanted = list(chain.from_iterable(reference))
  hits = len(lcs_positions(wanted, place_bits([given], set(wanted))))
  return Counts(hits, len(wanted), len(given))


def _count_weighted(text: Lines, reference: Lines) -> Counts:
  """As in the script, whose totals are weighted once more than its hits."""
  basis = sum(len(line) ** WEIGHT for line in reference)
  return Counts(
    weighted_hits(text, reference),
    basis**WEIGHT,
    sum(map(len, text)) ** WEIGHT,
    WEIGHT,
    basis,
  )


def _quotient(hits: int | float, most: int | float) -> float:
  return hits / most if most else 0.0


_COUNTERS: dict[str, Callable[[Lines, Lines], Counts]] = {
  'rouge3': lambda text, reference: _count_ngrams(3, text, reference),
  'rouge4': lambda text, reference: _count_ngrams(4, text, reference),
  'rougeL': _count_subsequence,
  'rougeW': _count_weighted,
}
ALL_KINDS = (*KINDS[:2], 'rouge3', 'rouge4', 'rougeL', *KINDS[2:], 'rougeW')
