"""Predictions and references in, numbers out; no JAX, no TensorFlow."""

from stepwise.evaluation._bootstrap import (
  Interval,
  bootstrap_interval,
  paired_difference,
)
from stepwise.evaluation._html import render_html
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
  'Comparison',
  'Interval',
  'LengthStatistics',
  'PositionStatistics',
  'Report',
  'Significance',
  'System',
  'SystemReport',
  'bootstrap_interval',
  'compare_means',
  'compare_systems',
  'count_words',
  'length_statistics',
  'locate_sentences',
  'paired_difference',
  'plot_lengths',
  'position_statistics',
  'render_html',
  'repeated_ngrams',
  'rouge',
  'rouge_scores',
]
