"""What the oracle plans of a file of games are like, and shared games."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from stepwise.rotowire._games import Game
from stepwise.rotowire._lookup import lookup_relations
from stepwise.rotowire._plans import Extractor, oracle_plan, planned_relations
from stepwise.rotowire._records import same_game

# Entries and sentences of a plan on average, in the paper.
PUBLISHED_ENTRIES, PUBLISHED_SENTENCES = 59.24, 12.72


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


def count_shared(
  files: Sequence[Sequence[Game]],
) -> dict[tuple[int, int], int]:
  """Games of one file that are also in another, by the places of both.

  (i, j) with i < j counts games of file j whose day and teams file i has; (i,
  i) counts those that file i has had before.
  """
  keys = [[same_game(game) for game in games] for games in files]
  known = [set(of_file) for of_file in keys]
  return {
    (i, j): (
      len(keys[i]) - len(known[i])
      if i == j
      else len([key for key in keys[j] if key in known[i]])
    )
    for i in range(len(keys))
    for j in range(i, len(keys))
  }
