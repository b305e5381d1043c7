"""Where in their documents the sentences of summaries come from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TENTHS = 10


@dataclass(frozen=True)
class PositionStatistics:
  """Positions of all sentences found in their documents.

  Attributes:
    found: share of the summary sentences that are units of their document.
    mean: of the relative position: 0 is the first unit, 1 the last.
    first_three: share that is one of the first three units.
    tenths: share in each tenth of the document.
  """

  found: float
  mean: float
  first_three: float
  tenths: list[float]


def locate_sentences(
  sentences: Sequence[str], units: Sequence[str]
) -> list[int]:
  """Index of the first unit equal to each sentence, -1 if there is none.

  Runs of white space count as one space.
  """
  first: dict[str, int] = {}
  for index, unit in enumerate(units):
    first.setdefault(' '.join(unit.split()), index)
  return [first.get(' '.join(sentence.split()), -1) for sentence in sentences]


def position_statistics(
  chosen: Sequence[Sequence[int]], sizes: Sequence[int]
) -> PositionStatistics | None:
  """Statistics over documents; None where no sentence was found.

  Args:
    chosen: unit indices of every summary, -1 for a sentence not found.
    sizes: number of units of every document.
  """
  pairs = [
    (index, size)
    for indices, size in zip(chosen, sizes, strict=True)
    for index in indices
  ]
  found = np.array([pair for pair in pairs if pair[0] >= 0], float)
  if not found.size:
    return None
  index, size = found.T
  tenths = np.bincount((TENTHS * index / size).astype(int), minlength=TENTHS)
  return PositionStatistics(
    found=len(found) / len(pairs),
    mean=float((index / np.maximum(size - 1, 1)).mean()),
    first_three=float((index < 3).mean()),
    tenths=(tenths / len(found)).tolist(),
  )
