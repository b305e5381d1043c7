"""The sentences of a document that best match its reference summary.

An oracle maximises the mean of the F1 scores of ROUGE-1, ROUGE-2 and ROUGE-L
(summary level) exactly as the named metric computes them, one sentence per
line, the chosen sentences in the order of the document. Scores are not rounded
here, as the script ROUGE-1.5.5 does: rounding would only make ties.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from stepwise._errors import InputError
from stepwise._rouge import (
  DEFAULT_METRIC,
  KINDS,
  References,
  SetScores,
  find_metric,
  measure_overlap,
)

Order = Literal['document', 'selection']


@dataclass(frozen=True)
class Oracle:
  """Chosen units, and F1 of each kind of ROUGE for them in document order.

  `gains`, if asked for, says at every step, the one after the last included,
  by how much each unit would raise the mean F1 of those chosen before it.
  """

  indices: list[int]
  rouge: dict[str, float]
  gains: Float[np.ndarray, 'steps units'] | None = None


def find_oracle(
  units: Sequence[str],
  summary: References,
  *,
  method: str = 'greedy',
  order: str = 'document',
  metric: str = DEFAULT_METRIC,
  gains: bool = False,
) -> Oracle:
  """Chooses units by a named method; nothing where no unit scores above zero.

  Args:
    units: sentences of the document, or as many of them as may be chosen.
    summary: sentences of the reference, or of each of several.
    method: a name in `METHODS`.
    order: of the indices: `document`, or `selection`, in which greedy search
      added them, or by falling score alone for `combination`.
    metric: a name in `stepwise.evaluation.METRICS`.
    gains: measure those of all units at every step of `selection` order.
  """
  choose = _lookup('method', method, METHODS)
  overlap = measure_overlap(units, summary, find_metric(metric).tokenize)
  arrange = _lookup('order', order, {'document': sorted, 'selection': list})
  chosen = choose(overlap)
  f1 = np.zeros(len(KINDS))
  if chosen:
    f1 = overlap.score_sets(np.array([sorted(chosen)]))[0, :, 2]
  return Oracle(
    arrange(chosen),
    dict(zip(KINDS, f1.tolist(), strict=True)),
    measure_gains(overlap, chosen) if gains else None,
  )


def greedy_oracle(
  units: Sequence[str], summary: Sequence[str], *, order: Order = 'document'
) -> list[int]:
  """Adds the unit that raises the mean F1 most until none raises it.

  Of equally good units the first in the document is added.
  """
  return find_oracle(units, summary, method='greedy', order=order).indices


def combination_oracle(
  units: Sequence[str], summary: Sequence[str], *, order: Order = 'document'
) -> list[int]:
  """The best set of up to four of the ten units that are best alone.

  Of equally good sets the smallest wins, then the one whose members are better
  alone; of equally good units the first in the document.
  """
  return find_oracle(units, summary, method='combination', order=order).indices


def fitting_units(
  units: Sequence[str], max_tokens: int, count_tokens: Callable[[str], int]
) -> int:
  """How many leading units fit whole into `max_tokens` tokens."""
  total = 0
  for index, unit in enumerate(units):
    total += count_tokens(unit)
    if total > max_tokens:
      return index
  return len(units)


def _useful_units(overlap: SetScores) -> Int[np.ndarray, ' units']:
  """A unit that shares no word with the reference can only lower a score."""
  return np.flatnonzero(overlap.unigrams.any(1))


def measure_gains(
  overlap: SetScores, chosen: Sequence[int]
) -> Float[np.ndarray, 'steps units']:
  """What adding each unit to every beginning of `chosen` does to the mean F1.

  Chosen units, and those without words, gain nothing.
  """
  size = len(overlap.sizes)
  gains = np.zeros((len(chosen) + 1, size), np.float32)
  for step in range(len(chosen) + 1):
    before = sorted(chosen[:step])
    left = np.setdiff1d(np.flatnonzero(overlap.sizes), before)
    base = overlap.mean_f1(np.array([before]))[0] if step else 0.0
    gains[step, left] = _scores_with(overlap, before, left) - base
  return gains


def _scores_with(
  overlap: SetScores, chosen: Sequence[int], left: Int[np.ndarray, ' left']
) -> Float[np.ndarray, ' left']:
  """Mean F1 of the chosen units together with each one of `left`."""
  kept = np.tile(np.array(chosen, np.int64), (left.size, 1))
  sets = np.concatenate([kept, left[:, None]], axis=1)
  return overlap.mean_f1(np.sort(sets, axis=1))


def _choose_greedily(overlap: SetScores) -> list[int]:
  left = _useful_units(overlap)
  chosen: list[int] = []
  best = 0.0
  while left.size:
    scores = _scores_with(overlap, chosen, left)
    winner = int(scores.argmax())
    if scores[winner] <= best:
      break
    best = scores[winner]
    chosen.append(int(left[winner]))
    left = np.delete(left, winner)
  return chosen


def _choose_combination(
  overlap: SetScores, most: int = 4, among: int = 10
) -> list[int]:
  useful = _useful_units(overlap)
  alone = overlap.mean_f1(useful[:, None])
  ranked = useful[np.argsort(-alone, kind='stable')][:among]
  chosen, best = [], 0.0
  for size in range(1, min(most, ranked.size) + 1):
    sets = ranked[np.array(list(combinations(range(ranked.size), size)))]
    scores = overlap.mean_f1(np.sort(sets, axis=1))
    winner = int(scores.argmax())
    if scores[winner] > best:
      chosen, best = sets[winner].tolist(), scores[winner]
  return chosen


def _choose_drawn(
  overlap: SetScores, most: int = 3, sharpness: float = 5.0
) -> list[int]:
  """Units drawn one by one, those that gain more rather than others.

  A model chooses less well than an oracle. After an oracle's choice most units
  only lower F1, the short ones least, so that a model that has seen nothing but
  oracles goes on with short units; after a draw it must go on with good ones.
  The same units and reference always give the same draw.
  """
  rng = np.random.default_rng(zlib.crc32(overlap.unigrams.tobytes()))
  chosen: list[int] = []
  left = np.flatnonzero(overlap.sizes)
  while left.size and len(chosen) < most:
    scores = _scores_with(overlap, chosen, left)
    scaled = (scores - scores.min()) / max(np.ptp(scores), 1e-6)
    weights = np.exp(sharpness * scaled)
    drawn = int(rng.choice(left.size, p=weights / weights.sum()))
    chosen.append(int(left[drawn]))
    left = np.delete(left, drawn)
  return chosen


METHODS: dict[str, Callable[[SetScores], list[int]]] = {
  'greedy': _choose_greedily,
  'combination': _choose_combination,
  'drawn': _choose_drawn,
}


def _lookup(name: str, value: str, known: dict[str, Callable]) -> Callable:
  if value not in known:
    raise InputError(f'{name} is {value!r} but must be one of {list(known)}.')
  return known[value]
