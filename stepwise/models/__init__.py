"""The systems of the paper, one file each, and the registry of them all."""

from stepwise.models._bare_etc import (
  BareETC,
  BareETCConfig,
  Guesses,
  MaskedBatch,
)
from stepwise.models._baselines import (
  LeadChooser,
  LeadConfig,
  OracleChooser,
  OracleConfig,
)
from stepwise.models._batch import Batch
from stepwise.models._bertsum import BERTSum, BERTSumConfig
from stepwise.models._config import (
  CONFIGS,
  BatchSizes,
  Limits,
  Loss,
  ModelConfig,
  PretrainedParts,
  find_config,
  find_kind,
  register_model,
  stored_name,
)
from stepwise.models._configs import count_params
from stepwise.models._etcsum import (
  ETCSum,
  ETCSumConfig,
  assemble,
)
from stepwise.models._hibert import HiBERT, HiBERTConfig
from stepwise.models._losses import (
  LossSums,
  cross_entropy,
  extractive_loss,
  late_stop,
  rest_shares,
  step_contexts,
  stepwise_loss,
)
from stepwise.models._plan_value import (
  Judgement,
  PlanValue,
  PlanValueConfig,
  Pool,
  judgement_error,
  pool_units,
  unit_sets,
)
from stepwise.models._plan_words import (
  Guess,
  PoolText,
  expected_hits,
  word_error,
)
from stepwise.models._pointer import (
  PointerConfig,
  PointerPlanner,
  prefix_loss,
)
from stepwise.models._realizer import RealizerConfig
from stepwise.models._systems import (
  BEG,
  EOT,
  NEWS_DECODING,
  SYSTEMS,
  System,
  find_system,
)

__all__ = [
  'BEG',
  'CONFIGS',
  'EOT',
  'NEWS_DECODING',
  'SYSTEMS',
  'BERTSum',
  'BERTSumConfig',
  'BareETC',
  'BareETCConfig',
  'Batch',
  'BatchSizes',
  'ETCSum',
  'ETCSumConfig',
  'Guess',
  'Guesses',
  'HiBERT',
  'HiBERTConfig',
  'Judgement',
  'LeadChooser',
  'LeadConfig',
  'Limits',
  'Loss',
  'LossSums',
  'MaskedBatch',
  'ModelConfig',
  'OracleChooser',
  'OracleConfig',
  'PlanValue',
  'PlanValueConfig',
  'PointerConfig',
  'PointerPlanner',
  'Pool',
  'PoolText',
  'PretrainedParts',
  'RealizerConfig',
  'System',
  'assemble',
  'count_params',
  'cross_entropy',
  'expected_hits',
  'extractive_loss',
  'find_config',
  'find_kind',
  'find_system',
  'judgement_error',
  'late_stop',
  'pool_units',
  'prefix_loss',
  'register_model',
  'rest_shares',
  'step_contexts',
  'stepwise_loss',
  'stored_name',
  'unit_sets',
  'word_error',
]
