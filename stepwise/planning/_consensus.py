"""Plans that agree with what a model would say again and again.

The likeliest plan is one of many that a writer might have had in mind. How
often an entry is in plans drawn from the model tells how likely a reader
misses it; entries below a threshold leave the plan, others join it.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from stepwise.tables import SPECIAL_UNITS

_BREAK = SPECIAL_UNITS.index('eos')


def inclusion(
  plans: Sequence[Int[np.ndarray, ' _']], units: int
) -> Float[np.ndarray, ' units']:
  """The share of plans that have each unit."""
  counts = np.zeros(units)
  for plan in plans:
    counts[np.unique(plan[plan >= 0])] += 1
  return counts / len(plans)


def revise(
  plan: Int[np.ndarray, ' steps'],
  shares: Float[np.ndarray, ' units'],
  entities: Sequence[str],
  threshold: float,
) -> list[int]:
  """A plan of the entries whose share is at least the threshold.

  Entries of the plan keep their order. Others join the last sentence about
  their entity, after its last entry about it; those about somebody else make a
  sentence of their own, at the end.

  Args:
    plan: units, -1 = empty.
    shares: of all units; those of special ones do not matter.
    entities: of all units; special ones have any.
    threshold: between 0 and 1.
  """
  special = len(SPECIAL_UNITS)
  sentences: list[list[int]] = [[]]
  for unit in plan[plan >= 0].tolist():
    if unit == _BREAK:
      sentences.append([])
    elif unit >= special and shares[unit] >= threshold:
      sentences[-1].append(unit)
  sentences = [sentence for sentence in sentences if sentence]
  chosen = {unit for sentence in sentences for unit in sentence}
  wanted = [
    int(unit)
    for unit in np.argsort(-shares, kind='stable')
    if unit >= special and shares[unit] >= threshold and unit not in chosen
  ]
  for unit in wanted:
    _insert(sentences, unit, entities)
  return [unit for sentence in sentences for unit in (*sentence, _BREAK)]


def _insert(
  sentences: list[list[int]], unit: int, entities: Sequence[str]
) -> None:
  for sentence in reversed(sentences):
    places = [
      place
      for place, other in enumerate(sentence)
      if entities[other] == entities[unit]
    ]
    if places:
      sentence.insert(places[-1] + 1, unit)
      return
  sentences.append([unit])
