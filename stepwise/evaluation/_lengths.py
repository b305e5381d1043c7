"""How long summaries are, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

BIN_WIDTH = 5
LONGEST = 200


@dataclass(frozen=True)
class LengthStatistics:
  """Words per summary.

  Attributes:
    mean, std: over summaries.
    edges: of the histogram's bins, the upper one exclusive.
    counts: summaries in each bin; the last bin also holds all longer ones.
  """

  mean: float
  std: float
  edges: list[int]
  counts: list[int]

  @property
  def density(self) -> list[float]:
    """Share of the summaries per word of length, as in the paper's Figure 3."""
    total = sum(self.counts) * BIN_WIDTH
    return [count / total for count in self.counts]


def count_words(
  summaries: Sequence[Sequence[str]],
) -> Int[np.ndarray, ' documents']:
  """Words between spaces of each summary."""
  words = [sum(len(s.split()) for s in summary) for summary in summaries]
  return np.array(words, np.int64)


def length_statistics(
  words: Int[np.ndarray, ' documents'],
) -> LengthStatistics:
  """Mean, deviation and a histogram; the last bin has all longer ones."""
  edges = np.arange(0, LONGEST + BIN_WIDTH, BIN_WIDTH)
  counts, _ = np.histogram(np.minimum(words, LONGEST - 1), edges)
  return LengthStatistics(
    float(words.mean()), float(words.std()), edges.tolist(), counts.tolist()
  )
