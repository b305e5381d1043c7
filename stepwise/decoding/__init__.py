"""Choosing units: beam search over plans, and its constraints."""

from stepwise.decoding._beam_search import (
  BeamResult,
  Score,
  beam_search,
  check_result,
)
from stepwise.decoding._checks import check_inputs
from stepwise.decoding._config import DecodeConfig
from stepwise.decoding._constraints import (
  Constraints,
  WordBudget,
  allowed_units,
  may_stop,
)
from stepwise.decoding._trigrams import trigram_overlap

__all__ = [
  'BeamResult',
  'Constraints',
  'DecodeConfig',
  'Score',
  'WordBudget',
  'allowed_units',
  'beam_search',
  'check_inputs',
  'check_result',
  'may_stop',
  'trigram_overlap',
]
