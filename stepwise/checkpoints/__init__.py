"""Foreign weights in, bundles out."""

from stepwise.checkpoints._bundle import (
  Bundle,
  WeightDType,
  bundle_tokenizer,
  load_bundle,
  save_bundle,
  twin_params,
)
from stepwise.checkpoints._convert import convert, start_from
from stepwise.checkpoints._etc import load_etc
from stepwise.checkpoints._export import export
from stepwise.checkpoints._huggingface import Pretrained, load_huggingface
from stepwise.checkpoints._initial import initial_params
from stepwise.checkpoints._initialise import (
  adopt_numerics,
  initialise,
)

__all__ = [
  'Bundle',
  'Pretrained',
  'WeightDType',
  'adopt_numerics',
  'bundle_tokenizer',
  'convert',
  'export',
  'initial_params',
  'initialise',
  'load_bundle',
  'load_etc',
  'load_huggingface',
  'save_bundle',
  'start_from',
  'twin_params',
]
