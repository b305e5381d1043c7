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
from stepwise.evaluation._plots import plot_lengths
from stepwise.evaluation._positions import (
  PositionStatistics,
  locate_sentences,
  position_statistics,
)
from stepwise.evaluation._redundancy import repeated_ngrams
from stepwise.evaluation._report import (
  Comparison,
  NamedSummaries,
  Report,
  SystemReport,
  compare_systems,
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
  'NamedSummaries',
  'PairOfSystems',
  'PositionStatistics',
  'RelationGeneration',
  'Report',
  'Significance',
  'SystemReport',
  'best_worst_scaling',
  'bleu',
  'bootstrap_interval',
  'check_measuring',
  'compare_means',
  'compare_systems',
  'content_ordering',
  'content_selection',
  'count_words',
  'length_statistics',
  'locate_sentences',
  'plot_lengths',
  'position_statistics',
  'read_judgements',
  'relation_generation',
  'render_html',
  'repeated_ngrams',
  'rouge',
  'rouge_scores',
]
