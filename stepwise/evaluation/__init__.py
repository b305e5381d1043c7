"""Predictions and references in, numbers out; no JAX, no TensorFlow."""

from stepwise._rouge import ALL_KINDS, DEFAULT_METRIC, KINDS, METRICS
from stepwise.evaluation._bootstrap import Interval, bootstrap_interval
from stepwise.evaluation._content_plan import (
  Bleu,
  ContentSelection,
  RelationGeneration,
  bleu,
  content_ordering,
  content_selection,
  relation_generation,
)
from stepwise.evaluation._groups import ScoreGroup
from stepwise.evaluation._html import render_html
from stepwise.evaluation._human import (
  BestWorstScores,
  Judgement,
  PairOfSystems,
  best_worst_scaling,
  read_judgements,
)
from stepwise.evaluation._lengths import (
  LengthStatistics,
  count_words,
  length_statistics,
)
from stepwise.evaluation._measures import (
  SummaryMeasures,
  TextMeasures,
  join_measures,
  join_texts,
  measure_summaries,
  measure_texts,
)
from stepwise.evaluation._plots import plot_lengths
from stepwise.evaluation._positions import (
  PositionStatistics,
  locate_sentences,
  position_statistics,
)
from stepwise.evaluation._redundancy import repeated_ngrams
from stepwise.evaluation._report import (
  Comparison,
  MeasuredSystem,
  NamedSummaries,
  Report,
  SystemReport,
  check_names,
  compare_systems,
  report_measures,
)
from stepwise.evaluation._rouge import (
  MEASURES,
  check_measuring,
  rouge,
  rouge_scores,
)
from stepwise.evaluation._significance import Significance, compare_means

__all__ = [
  'ALL_KINDS',
  'DEFAULT_METRIC',
  'KINDS',
  'MEASURES',
  'METRICS',
  'BestWorstScores',
  'Bleu',
  'Comparison',
  'ContentSelection',
  'Interval',
  'Judgement',
  'LengthStatistics',
  'MeasuredSystem',
  'NamedSummaries',
  'PairOfSystems',
  'PositionStatistics',
  'RelationGeneration',
  'Report',
  'ScoreGroup',
  'Significance',
  'SummaryMeasures',
  'SystemReport',
  'TextMeasures',
  'best_worst_scaling',
  'bleu',
  'bootstrap_interval',
  'check_measuring',
  'check_names',
  'compare_means',
  'compare_systems',
  'content_ordering',
  'content_selection',
  'count_words',
  'join_measures',
  'join_texts',
  'length_statistics',
  'locate_sentences',
  'measure_summaries',
  'measure_texts',
  'plot_lengths',
  'position_statistics',
  'read_judgements',
  'relation_generation',
  'render_html',
  'repeated_ngrams',
  'report_measures',
  'rouge',
  'rouge_scores',
]
