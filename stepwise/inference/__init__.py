"""From records to chosen units: what every use of a trained model shares."""

from stepwise.inference._config import PredictConfig, default_config
from stepwise.inference._limits import (
  inference_buckets,
  make_buckets,
  read_document,
  reading_limits,
)
from stepwise.inference._predict import (
  Budget,
  Demands,
  Predictor,
  Reading,
  Selection,
  local_mesh,
  longest_unit,
)
from stepwise.inference._search import (
  Reader,
  decode,
  document_order,
  draw_plans,
  no_repeats,
  rank_units,
  read_documents,
  search,
)

__all__ = [
  'Budget',
  'Demands',
  'PredictConfig',
  'Predictor',
  'Reader',
  'Reading',
  'Selection',
  'decode',
  'default_config',
  'document_order',
  'draw_plans',
  'inference_buckets',
  'local_mesh',
  'longest_unit',
  'make_buckets',
  'no_repeats',
  'rank_units',
  'read_document',
  'read_documents',
  'reading_limits',
  'search',
]
