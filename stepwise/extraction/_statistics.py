"""What the oracle plans of a file of games are like."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from stepwise.extraction._extractors import Extractor
from stepwise.extraction._lookup import lookup_relations
from stepwise.extraction._oracle import oracle_plan
from stepwise.rotowire import Game, planned_relations

# Entries and sentences of a plan on average, in the paper.
PUBLISHED_ENTRIES = 59.24
PUBLISHED_SENTENCES = 12.72


@dataclass(frozen=True)
class PlanStatistics:
  """Oracle plans of games that have a summary.

  Attributes:
    games: all of them.
    without_summary: games that have no plan.
    entries, sentences: per plan on average.
    relations: entries per plan without names, cities and dates.
    longest: steps of the longest plan: entries, breaks and the end.
  """

  games: int
  without_summary: int
  entries: float
  sentences: float
  relations: float
  longest: int

  def to_dict(self) -> dict:
    return asdict(self)


def plan_statistics(
  games: Sequence[Game], extractor: Extractor = lookup_relations
) -> PlanStatistics:
  """Statistics of the oracle plans that an extractor finds."""
  plans = [oracle_plan(game, extractor) for game in games if game.summary]
  entries = [sum(map(len, plan)) for plan in plans]
  sentences = [len(plan) for plan in plans]
  steps = [e + s + 1 for e, s in zip(entries, sentences, strict=True)]
  relations = [len(planned_relations(plan)) for plan in plans]
  return PlanStatistics(
    games=len(games),
    without_summary=len(games) - len(plans),
    entries=fmean(entries or [0]),
    sentences=fmean(sentences or [0]),
    relations=fmean(relations or [0]),
    longest=max(steps, default=0),
  )
