"""The systems of the paper, one file each, and the registry of them all."""

from stepwise.models._baselines import Lead, Oracle
from stepwise.models._batch import Batch
from stepwise.models._bertsum import BERTSum, BERTSumConfig
from stepwise.models._configs import (
  CONFIGS,
  ModelConfig,
  build_model,
  count_params,
  find_config,
  twin,
)
from stepwise.models._etcsum import (
  ETCSum,
  ETCSumConfig,
  assemble,
  fit_summary,
)
from stepwise.models._hibert import HiBERT, HiBERTConfig
from stepwise.models._losses import (
  LossSums,
  cross_entropy,
  extractive_loss,
  step_contexts,
  stepwise_loss,
)
from stepwise.models._pointer import (
  PointerConfig,
  PointerPlanner,
  prefix_loss,
)
from stepwise.models._pointer_search import greedy_plans
from stepwise.models._systems import (
  BEG,
  EOT,
  NEWS_DECODING,
  SYSTEMS,
  System,
  choose_units,
  decode,
  find_system,
  no_repeats,
  select,
)

__all__ = [
  'BEG',
  'CONFIGS',
  'EOT',
  'NEWS_DECODING',
  'SYSTEMS',
  'BERTSum',
  'BERTSumConfig',
  'Batch',
  'ETCSum',
  'ETCSumConfig',
  'HiBERT',
  'HiBERTConfig',
  'Lead',
  'LossSums',
  'ModelConfig',
  'Oracle',
  'PointerConfig',
  'PointerPlanner',
  'System',
  'assemble',
  'build_model',
  'choose_units',
  'count_params',
  'cross_entropy',
  'decode',
  'extractive_loss',
  'find_config',
  'find_system',
  'fit_summary',
  'greedy_plans',
  'no_repeats',
  'prefix_loss',
  'select',
  'step_contexts',
  'stepwise_loss',
  'twin',
]
