"""Scores of documents that are alike: as long, or summarised from one place."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

# As many as a curve needs, with enough documents in each.
GROUPS = 5


@dataclass(frozen=True)
class ScoreGroup:
  """Documents between two values, and their mean score.

  Attributes:
    low, high: the least and the greatest value.
    documents: how many there are.
    score: their mean.
  """

  low: float
  high: float
  documents: int
  score: float


def scores_by_value(
  scores: Float[np.ndarray, ' documents'],
  values: Int[np.ndarray, ' documents'],
  groups: int = GROUPS,
) -> list[ScoreGroup]:
  """Groups of about as many documents each; equal values stay together."""
  edges = np.quantile(values, np.linspace(0, 1, groups + 1)[1:-1])
  return _groups(scores, values, np.searchsorted(edges, values, side='left'))


def scores_by_share(
  scores: Float[np.ndarray, ' documents'],
  shares: Float[np.ndarray, ' documents'],
  groups: int = GROUPS,
) -> list[ScoreGroup]:
  """Groups of equal width between 0 and 1; empty ones are left out."""
  places = np.minimum((shares * groups).astype(int), groups - 1)
  found = _groups(scores, shares, places)
  used = sorted(set(places.tolist()))
  return [
    ScoreGroup(place / groups, (place + 1) / groups, g.documents, g.score)
    for place, g in zip(used, found, strict=True)
  ]


def _groups(
  scores: np.ndarray, values: np.ndarray, places: np.ndarray
) -> list[ScoreGroup]:
  members = (places == place for place in np.unique(places))
  return [
    ScoreGroup(
      float(values[who].min()),
      float(values[who].max()),
      int(who.sum()),
      float(scores[who].mean()),
    )
    for who in members
  ]
