"""Pretraining as ETC has it: masked words, and units told by their context."""

from stepwise.pretraining._losses import (
  RowStates,
  contrastive_sums,
  masked_sums,
  pretraining_loss,
  row_states,
  weighted_total,
)
from stepwise.pretraining._task import MaskedExamples, pretraining_task

__all__ = [
  'MaskedExamples',
  'RowStates',
  'contrastive_sums',
  'masked_sums',
  'pretraining_loss',
  'pretraining_task',
  'row_states',
  'weighted_total',
]
