"""From records to chosen units: what every use of a trained model shares."""

from stepwise.inference._bulk import (
  InferenceReport,
  digest_folder,
  write_summaries,
)
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
  Prediction,
  Predictor,
  Reading,
)

__all__ = [
  'Budget',
  'Demands',
  'InferenceReport',
  'PredictConfig',
  'Prediction',
  'Predictor',
  'Reading',
  'default_config',
  'digest_folder',
  'inference_buckets',
  'make_buckets',
  'read_document',
  'reading_limits',
  'write_summaries',
]
