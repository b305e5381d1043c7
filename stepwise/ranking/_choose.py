"""From scores of units to some of them, in the order of the document."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float


def take_best(scores: Float[np.ndarray, ' units'], count: int) -> list[int]:
  """The `count` units of highest score; of equals, the first.

  >>> take_best(np.array([0.2, 0.1, 0.5]), 2)
  [0, 2]
  """
  return sorted(_by_score(scores)[:count])


def fit_words(
  scores: Float[np.ndarray, ' units'], words: Sequence[int], limit: int
) -> list[int]:
  """The best units that fit into `limit` words, the best one first of all.

  A unit that no longer fits is passed over for later ones that do. `words` are
  those of every unit; one that has none is not taken. Where no unit fits, the
  shortest is the only one.

  >>> fit_words(np.array([0.2, 0.1, 0.5]), [30, 20, 60], 80)
  [1, 2]
  """
  chosen, left = [], limit
  for unit in _by_score(scores):
    if 0 < words[unit] <= left:
      chosen.append(unit)
      left -= words[unit]
  if not chosen and len(words):
    return [int(np.argmin(words))]
  return sorted(chosen)


def _by_score(scores: Float[np.ndarray, ' units']) -> list[int]:
  return np.argsort(-scores, kind='stable').tolist()
