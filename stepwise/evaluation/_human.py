"""Best-worst scaling: people compare two texts, systems get scores."""

import csv
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stepwise._errors import InputError
from stepwise.evaluation._significance import compare_means

TIE = 'tie'
# The paper's threshold for human judgements.
SIGNIFICANT_JUDGEMENT = 0.05


class Judgement(NamedTuple):
  """One answer: which of two systems did better on an item.

  Attributes:
    question: what was asked, such as `readability`.
    item: the document or game both texts are about.
    system_a, system_b: shown side by side.
    better: one of the two, or `tie`.
  """

  question: str
  item: str
  system_a: str
  system_b: str
  better: str


class PairOfSystems(NamedTuple):
  """Tukey's p of a difference: the first's score minus the second's."""

  first: str
  second: str
  difference: float
  p: float

  @property
  def significant(self) -> bool:
    return self.p < SIGNIFICANT_JUDGEMENT


@dataclass(frozen=True)
class BestWorstScores:
  """Answers to one question.

  Attributes:
    scores: of every system, -1 (always worst) to 1 (always best).
    judgements: answers counted, for every system.
    anova_p: of any difference between systems; None with fewer than two items.
    pairs: every pair of systems; empty with fewer than two items.
  """

  scores: dict[str, float]
  judgements: dict[str, int]
  anova_p: float | None
  pairs: tuple[PairOfSystems, ...]


def read_judgements(path: str | os.PathLike[str]) -> list[Judgement]:
  """A CSV file with a header and a row for every answer.

  Columns: `item`, `system_a`, `system_b`, `better` (the name of one of the
  two, or `tie`) and, if there was more than one, `question`; others, such as
  the annotator, are ignored.
  """
  path = Path(path)
  needed = {'item', 'system_a', 'system_b', 'better'}
  try:
    with path.open(encoding='utf-8-sig', newline='') as file:
      reader = csv.DictReader(file)
      missing = needed - set(reader.fieldnames or ())
      if missing:
        raise InputError(f'{path}: no columns {sorted(missing)}.')
      return [_judgement(row, path, reader.line_num) for row in reader]
  except OSError as error:
    raise InputError(f'{path}: {error.strerror}.') from error
  except (UnicodeDecodeError, csv.Error) as error:
    raise InputError(f'{path}: not a CSV file: {error}.') from error


def best_worst_scaling(
  judgements: Iterable[Judgement],
) -> dict[str, BestWorstScores]:
  """Scores of systems by question: how often best minus how often worst.

  Of the times a system was shown; a tie is neither. Differences are tested by
  one-way ANOVA and Tukey's test on the scores of a system on every item, as
  answers about the same item are not independent.
  """
  by_question: dict[str, list[Judgement]] = defaultdict(list)
  for judgement in judgements:
    by_question[judgement.question].append(judgement)
  if not by_question:
    raise InputError('there are 0 judgements; at least 1 is needed.')
  return {name: _scores(answers) for name, answers in by_question.items()}


def _scores(judgements: Sequence[Judgement]) -> BestWorstScores:
  answers: dict[str, dict[str, list[int]]] = defaultdict(
    lambda: defaultdict(list)
  )
  for judgement in judgements:
    for system in (judgement.system_a, judgement.system_b):
      answers[system][judgement.item].append(_score(judgement, system))
  every = {
    system: [score for scores in items.values() for score in scores]
    for system, items in answers.items()
  }
  scores = {system: float(np.mean(all)) for system, all in every.items()}
  anova_p, pairs = _compare(answers, scores)
  return BestWorstScores(
    scores=scores,
    judgements={system: len(all) for system, all in every.items()},
    anova_p=anova_p,
    pairs=pairs,
  )


def _score(judgement: Judgement, system: str) -> int:
  if judgement.better == TIE:
    return 0
  return 1 if judgement.better == system else -1


def _compare(
  answers: dict[str, dict[str, list[int]]], scores: dict[str, float]
) -> tuple[float | None, tuple[PairOfSystems, ...]]:
  """ANOVA and Tukey on the mean score of every system on every item."""
  means = [
    np.array([np.mean(scores) for scores in items.values()])
    for items in answers.values()
  ]
  if min(map(len, means)) < 2:
    return None, ()
  significance = compare_means(means)
  pairs = tuple(
    PairOfSystems(
      *(first, second, scores[first] - scores[second]),
      float(significance.tukey_p[i, j]),
    )
    for (i, first), (j, second) in combinations(enumerate(scores), 2)
  )
  return significance.anova_p, pairs


def _judgement(row: dict[str, str], path: Path, line: int) -> Judgement:
  judgement = Judgement(
    question=row.get('question') or 'all',
    item=row['item'],
    system_a=row['system_a'],
    system_b=row['system_b'],
    better=row['better'],
  )
  allowed = (judgement.system_a, judgement.system_b, TIE)
  if judgement.better not in allowed or len(set(allowed)) < 3:
    raise InputError(
      f"{path}:{line}: 'better' is {judgement.better!r}; two different systems "
      f'and one of {allowed} are needed.'
    )
  return judgement
