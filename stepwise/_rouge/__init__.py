"""ROUGE from shared counts: the exact core of oracle and evaluation."""

from stepwise._rouge._counts import ALL_KINDS, Counts, count_kinds
from stepwise._rouge._overlap import (
  KINDS,
  References,
  Sentences,
  SetScores,
  as_references,
  measure_overlap,
)
from stepwise._rouge._tokens import DEFAULT_METRIC, METRICS, Metric, find_metric

__all__ = [
  'ALL_KINDS',
  'DEFAULT_METRIC',
  'KINDS',
  'METRICS',
  'Counts',
  'Metric',
  'References',
  'Sentences',
  'SetScores',
  'as_references',
  'count_kinds',
  'find_metric',
  'measure_overlap',
]
