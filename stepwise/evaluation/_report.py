"""Everything measured about some systems on the same references."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from stepwise._errors import InputError
from stepwise._rouge import (
  DEFAULT_METRIC,
  KINDS,
  References,
  Sentences,
  as_references,
)
from stepwise.evaluation._bootstrap import Interval, bootstrap_intervals
from stepwise.evaluation._groups import (
  ScoreGroup,
  scores_by_share,
  scores_by_value,
)
from stepwise.evaluation._lengths import LengthStatistics, length_statistics
from stepwise.evaluation._measures import (
  SummaryMeasures,
  TextMeasures,
  measure_summaries,
  measure_texts,
)
from stepwise.evaluation._positions import PositionStatistics
from stepwise.evaluation._rouge import MEASURES
from stepwise.evaluation._significance import compare_means

# The columns of a report: each kind of ROUGE, then the mean of the three.
COLUMNS = (*KINDS, 'mean')
# The paper's threshold for Tukey's test.
SIGNIFICANT = 0.01


@dataclass(frozen=True)
class NamedSummaries:
  """A name and one summary, as sentences, for every reference.

  `errors` of them are empty because the system failed.
  """

  name: str
  summaries: Sequence[Sentences]
  errors: int = 0


@dataclass(frozen=True)
class MeasuredSystem:
  """A name, what was measured of its summaries, and how many failed."""

  name: str
  measures: SummaryMeasures
  errors: int = 0


@dataclass(frozen=True)
class SystemReport:
  """What was measured about one system; scores are percentages.

  Attributes:
    name: of the system.
    errors: documents that it failed on; their summaries are empty.
    rouge: interval of each measure of each column; the mean is of the F1.
    lengths: words per summary.
    repeated_trigrams: mean share of trigrams that repeat an earlier one.
    positions: of the sentences, None without documents to find them in.
    by_length: mean F1 of documents of similar length, in units.
    by_position: mean F1 of summaries whose sentences come from the same part of
      their documents, on average.
  """

  name: str
  errors: int
  rouge: dict[str, dict[str, Interval]]
  lengths: LengthStatistics
  repeated_trigrams: float
  positions: PositionStatistics | None
  by_length: list[ScoreGroup]
  by_position: list[ScoreGroup]


@dataclass(frozen=True)
class Comparison:
  """Two systems, by name: F1 of the first minus F1 of the second, in percent.

  `tukey_p` is for the mean of the three scores.
  """

  first: str
  second: str
  difference: dict[str, Interval]
  tukey_p: float

  @property
  def significant(self) -> bool:
    return self.tukey_p < SIGNIFICANT


@dataclass(frozen=True)
class Report:
  """Systems in the order given, human summaries, and all pairs of systems.

  Of several human summaries the first is described. `metric` and `several` are
  those of `rouge`.
  """

  documents: int
  seed: int
  metric: str
  several: str
  systems: list[SystemReport]
  human_lengths: LengthStatistics
  human_repeated_trigrams: float
  anova_p: float | None
  comparisons: list[Comparison]

  def best(self, column: str) -> str:
    """The system of highest F1, the first of equals."""
    scores = [system.rouge[column]['f1'].mean for system in self.systems]
    return self.systems[int(np.argmax(scores))].name

  def ties_with_best(self, name: str, column: str) -> bool:
    """Whether the paired interval of the difference to the best has zero."""
    pair = {name, self.best(column)}
    return len(pair) == 2 and any(
      {c.first, c.second} == pair and not c.difference[column].excludes_zero
      for c in self.comparisons
    )

  def to_dict(self) -> dict:
    """Plain numbers and lists, ready for JSON."""
    return asdict(self)


def compare_systems(
  systems: Sequence[NamedSummaries],
  references: Sequence[References],
  *,
  documents: Sequence[Sequence[str]] | None = None,
  seed: int = 0,
  metric: str = DEFAULT_METRIC,
  kinds: Sequence[str] = KINDS,
  several: str = 'average',
  processes: int = 1,
) -> Report:
  """Measures every system, and tests every pair of them.

  Args:
    systems: at least one, with distinct names.
    references: sentences of the human summaries; where there are several of
      one document, a list of them.
    documents: units of the documents, to tell where sentences come from.
    seed: of the bootstrap.
    metric: a name in `METRICS`.
    kinds: of ROUGE, the usual three first; only those are compared.
    several: how several references count, see `rouge`.
    processes: among which ROUGE is shared out.
  """
  if tuple(kinds[: len(KINDS)]) != KINDS:
    raise InputError(f'kinds are {[*kinds]} but must begin with {[*KINDS]}.')
  check_names([system.name for system in systems])
  measured = [
    MeasuredSystem(
      system.name,
      measure_summaries(
        system.summaries,
        references,
        documents,
        metric=metric,
        kinds=kinds,
        several=several,
        processes=processes,
      ),
      system.errors,
    )
    for system in systems
  ]
  human = [as_references(of_one)[0] for of_one in references]
  sizes = [len(units) for units in documents or [()] * len(references)]
  return report_measures(
    measured,
    measure_texts(human, metric),
    np.array(sizes, np.int64),
    seed=seed,
    metric=metric,
    kinds=kinds,
    several=several,
  )


def check_names(names: Sequence[str]) -> None:
  """Systems are told apart by their names."""
  if len(set(names)) < len(names):
    raise InputError(f'System names are {[*names]} but must all be different.')


def report_measures(
  systems: Sequence[MeasuredSystem],
  human: TextMeasures,
  sizes: Int[np.ndarray, ' documents'],
  *,
  seed: int,
  metric: str,
  kinds: Sequence[str],
  several: str,
) -> Report:
  """The report of what was measured; see `compare_systems`.

  Args:
    systems: with as many documents each, in the same order.
    human: the first human summary of every document.
    sizes: units of every document.
    seed: of the bootstrap.
    metric: that was measured with.
    kinds: that were measured.
    several: how several references counted.
  """
  names = [system.name for system in systems]
  scores = [system.measures.rouge for system in systems]
  anova_p, comparisons = _compare(names, scores, seed)
  return Report(
    documents=len(human),
    seed=seed,
    metric=metric,
    several=several,
    systems=[_describe(system, kinds, sizes, seed) for system in systems],
    human_lengths=length_statistics(human.words),
    human_repeated_trigrams=float(np.mean(human.repeated)),
    anova_p=anova_p,
    comparisons=comparisons,
  )


def _describe(
  system: MeasuredSystem,
  kinds: Sequence[str],
  sizes: Int[np.ndarray, ' documents'],
  seed: int,
) -> SystemReport:
  measures = system.measures
  scores = measures.rouge
  f1 = 100 * _f1(scores)[:, -1]
  middles = measures.middles(sizes)
  known = np.isfinite(middles)
  flat = np.column_stack([scores.reshape(len(scores), -1), f1 / 100])
  *intervals, mean = _percentages(flat, seed)
  rouge: dict[str, dict[str, Interval]] = {
    kind: dict(zip(MEASURES, intervals[3 * row : 3 * row + 3], strict=True))
    for row, kind in enumerate(kinds)
  }
  return SystemReport(
    name=system.name,
    errors=system.errors,
    rouge={**rouge, 'mean': {'f1': mean}},
    lengths=length_statistics(measures.texts.words),
    repeated_trigrams=float(np.mean(measures.texts.repeated)),
    positions=measures.positions(sizes),
    by_length=scores_by_value(f1, sizes) if sizes.any() else [],
    by_position=scores_by_share(f1[known], middles[known]),
  )


def _compare(
  names: Sequence[str],
  scores: Sequence[Float[np.ndarray, 'documents kinds 3']],
  seed: int,
) -> tuple[float | None, list[Comparison]]:
  """ANOVA's p and all pairs; nothing to test with one system or document."""
  if len(names) < 2 or len(scores[0]) < 2:
    return None, []
  f1 = [_f1(score) for score in scores]
  significance = compare_means([columns[:, -1] for columns in f1])
  comparisons = []
  for first, second in combinations(range(len(names)), 2):
    differences = _percentages(f1[first] - f1[second], seed)
    comparisons.append(
      Comparison(
        first=names[first],
        second=names[second],
        difference=dict(zip(COLUMNS, differences, strict=True)),
        tukey_p=float(significance.tukey_p[first, second]),
      )
    )
  return significance.anova_p, comparisons


def _f1(
  scores: Float[np.ndarray, 'documents kinds 3'],
) -> Float[np.ndarray, 'documents 4']:
  """F1 of every one of `COLUMNS`."""
  f1 = scores[:, : len(KINDS), MEASURES.index('f1')]
  return np.column_stack([f1, f1.mean(1)])


def _percentages(
  values: Float[np.ndarray, 'documents columns'], seed: int
) -> list[Interval]:
  return bootstrap_intervals(100 * values, seed=seed)
