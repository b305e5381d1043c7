"""Predictions and references in, numbers out; no JAX, no TensorFlow."""

from stepwise.evaluation._bootstrap import (
  Interval,
  bootstrap_interval,
  paired_difference,
)
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
  Report,
  System,
  SystemReport,
  compare_systems,
)
from stepwise.evaluation._rouge import KINDS, MEASURES, rouge, rouge_scores
from stepwise.evaluation._significance import Significance, compare_means

__all__ = [
  'KINDS',
  'MEASURES',
  'BestWorstScores',
  'Bleu',
  'Comparison',
  'ContentSelection',
  'Interval',
  'Judgement',
  'LengthStatistics',
  'PairOfSystems',
  'PositionStatistics',
  'RelationGeneration',
  'Report',
  'Significance',
  'System',
  'SystemReport',
  'best_worst_scaling',
  'bleu',
  'bootstrap_interval',
  'compare_means',
  'compare_systems',
  'content_ordering',
  'content_selection',
  'count_words',
  'length_statistics',
  'locate_sentences',
  'paired_difference',
  'plot_lengths',
  'position_statistics',
  'read_judgements',
  'relation_generation',
  'render_html',
  'repeated_ngrams',
  'rouge',
  'rouge_scores',
]
