"""Choosing units that cover what a text says, from scores and words alone.

A unit is worth the weights of its words that are not covered yet, times what
its place and a prior say for it (how central it is, or how much a model likes
it), divided by its length. So a budget of words goes to sentences that say much
in few, the beginning of a text counts for more, and nothing is said twice.
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from stepwise._rouge import find_metric
from stepwise.ranking import rank
from stepwise.summarization._requests import Request

# The beginning of a text, of which is asked whether it says what follows.
_LEAD_UNITS = 5
# A budget is spent when less is left than this share of a usual sentence.
_LEFT_OVER = 0.5


class CoverageWeights(NamedTuple):
  """What a unit is worth; found on the training sets of `benchmarks/mixed.py`.

  Attributes:
    frequency: exponent of the logarithm of the units that have a word.
    again: what is left of the weight of a word each time it is covered.
    start, end: how much more the first and the last unit count, the first as
      far as the beginning says what the rest does.
    reach: units over which that fades away, to a third.
    first: how much more the very first unit counts, besides.
    prior: how much more the best unit counts by its prior.
    length: exponent of a unit's length, by which its worth is divided.
    counted_length: the same where sentences are counted, not words.
    short: shorter units count as if they had so many words.
  """

  frequency: float = 1.2
  again: float = 0.2
  start: float = 1.9
  end: float = 0.5
  reach: float = 18.0
  first: float = 0.3
  prior: float = 1.0
  length: float = 0.9
  counted_length: float = 0.4
  short: float = 16.0


class Choice(NamedTuple):
  """A unit, and what it was worth when it was chosen."""

  unit: int
  gain: float


def cover(
  request: Request,
  *,
  weights: CoverageWeights = CoverageWeights(),
  prior: Float[np.ndarray, ' units'] | None = None,
  focus: Float[np.ndarray, ' units'] | None = None,
) -> list[Choice]:
  """Units in the order of choice, required ones first.

  Args:
    request: what may be chosen, and how much.
    weights: of everything that counts.
    prior: how good every unit is, 0 to 1; None = how central it is.
    focus: by how much every unit's worth is multiplied.
  """
  words = _WordTable(request.document.units)
  leads = 1.0
  if prior is None:
    prior = centrality(request.document.units)
    leads = _lead_share(prior[request.may])
  if request.costs.max() == 1:
    # Where sentences are counted, short ones are not cheaper.
    weights = weights._replace(length=weights.counted_length)
  bonus = _place(request.may, weights, leads) + weights.prior * prior
  if focus is not None:
    bonus = bonus * focus
  worth = _Worth(words, bonus, weights)
  return list(_greedy(request, worth))


def centrality(
  units: Sequence[str], method: str = 'lexrank'
) -> Float[np.ndarray, ' units']:
  """How central every unit is, as a share of the units that are less so."""
  return _percentiles(rank(units, method))


def _percentiles(scores: Float[np.ndarray, ' units']) -> np.ndarray:
  order = np.argsort(np.argsort(scores, kind='stable'), kind='stable')
  return order / max(len(scores) - 1, 1)


def _lead_share(central: Float[np.ndarray, ' candidates']) -> float:
  """How much the beginning says of the whole, from 0 to 1.

  Articles begin with what they are about, so that their first sentences are
  like many others; talk begins with greetings, and then its beginning is worth
  no more than the rest.
  """
  return min(2 * float(central[:_LEAD_UNITS].mean()), 1.0)


def _place(
  may: np.ndarray, weights: CoverageWeights, leads: float
) -> np.ndarray:
  """By the place among the units that may be chosen."""
  index = np.maximum(np.cumsum(may) - 1, 0)
  start = weights.start * np.exp(-index / weights.reach)
  start += weights.first * (index == 0)
  end = weights.end * np.exp((index - index[-1]) / weights.reach)
  return 1 + leads * start + end


class _WordTable:
  """Distinct words of every unit as numbers, and how many units have each."""

  def __init__(self, units: Sequence[str]) -> None:
    tokenize = find_metric('rouge-1.5.5-unicode').tokenize
    known: dict[str, int] = {}
    found: Counter[int] = Counter()
    self.rows: list[np.ndarray] = []
    self.lengths = np.zeros(len(units))
    for index, unit in enumerate(units):
      tokens = tokenize(unit)
      row = sorted({known.setdefault(word, len(known)) for word in tokens})
      found.update(row)
      self.rows.append(np.array(row, int))
      self.lengths[index] = len(tokens)
    self.units = np.array([found[word] for word in range(len(known))], float)

  def __len__(self) -> int:
    return len(self.rows)


class _Worth:
  """What units are worth, given what is covered; never more than before."""

  def __init__(
    self, words: _WordTable, bonus: np.ndarray, weights: CoverageWeights
  ) -> None:
    self._rows = words.rows
    self._left = np.log1p(words.units) ** weights.frequency
    lengths = np.maximum(words.lengths, weights.short)
    self._factor = bonus / lengths**weights.length
    self._again = weights.again

  def __call__(self, unit: int) -> float:
    return float(self._left[self._rows[unit]].sum() * self._factor[unit])

  def cover(self, unit: int) -> None:
    self._left[self._rows[unit]] *= self._again


def _greedy(request: Request, worth: _Worth) -> Iterator[Choice]:
  """The best affordable unit again and again.

  What a unit is worth only falls, so most need not be looked at again.
  """
  left = request.limit if request.limit is not None else len(request.may)
  slots = request.most or len(request.may)
  for unit in request.required:
    yield Choice(unit, worth(unit))
    worth.cover(unit)
    left, slots = left - int(request.costs[unit]), slots - 1
  candidates = set(np.flatnonzero(request.may).tolist()) - set(request.required)
  heap = [(-worth(unit), unit) for unit in sorted(candidates)]
  heapq.heapify(heap)
  # What is left of a budget when no ordinary sentence fits is left.
  enough = _LEFT_OVER * float(np.median(request.costs[request.may]))
  if request.costs.max() == 1 or left < enough:
    enough = 0.0
  while heap and slots > 0 and left >= enough:
    _, unit = heapq.heappop(heap)
    if request.costs[unit] > left:
      continue
    gain = worth(unit)
    if heap and -gain > heap[0][0]:
      heapq.heappush(heap, (-gain, unit))
      continue
    yield Choice(unit, gain)
    worth.cover(unit)
    left, slots = left - int(request.costs[unit]), slots - 1
