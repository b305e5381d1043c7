"""Named configurations, and what can be done with any of them."""

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.layers import (
  AttentionPattern,
  EncoderDecoder,
  ETCConfig,
  TransformerConfig,
  num_params,
)
from stepwise.models._batch import Batch
from stepwise.models._bertsum import BERTSum, BERTSumConfig
from stepwise.models._etcsum import ETCSum, ETCSumConfig
from stepwise.models._hibert import HIBERT_CONFIGS, HiBERT, HiBERTConfig
from stepwise.models._pointer import (
  POINTER_CONFIGS,
  PointerConfig,
  PointerPlanner,
)

ModelConfig = (
  ETCSumConfig
  | HiBERTConfig
  | BERTSumConfig
  | PointerConfig
  | TransformerConfig
)

_BERT = TransformerConfig(vocab=30522, token_types=0, norm_epsilon=1e-12)
_ROBERTA = TransformerConfig(vocab=50358)
_MINI: dict[str, Any] = {'embed': 384, 'heads': 12, 'mlp': 1536, 'layers': 6}
_TINY: dict[str, Any] = {'embed': 32, 'heads': 4, 'mlp': 64, 'layers': 2}

CONFIGS: dict[str, ModelConfig] = {
  'etcsum_base': ETCSumConfig(),
  # Tables begin with [EOS, EOT, BEG].
  'etcsum_rotowire': ETCSumConfig(begin_unit=2),
  # For a small machine, on the short table with roles.
  'etcsum_rotowire_mini': ETCSumConfig(
    ETCConfig(embed=128, heads=4, mlp=256, layers=2),
    document_tokens=3584,
    summary_tokens=1024,
    begin_unit=2,
  ),
  'etcsum_mini': ETCSumConfig(
    ETCConfig(**_MINI), document_tokens=3072, summary_tokens=512
  ),
  # Started from MiniLM, whose positions it keeps: those tell it more of a
  # short text than labels of relative positions that nothing has trained. It
  # reads as far as a CPU can train it.
  'etcsum_news': ETCSumConfig(
    ETCConfig(**_MINI, long_positions=512),
    document_tokens=512,
    summary_tokens=160,
    max_global=160,
    pooling='mean',
    unit_token=101,
  ),
  'etcsum_tiny': ETCSumConfig(
    ETCConfig(
      **_TINY, pattern=AttentionPattern(16, 4, hard_g2l=True), labels=12
    ),
    document_tokens=1024,
    summary_tokens=256,
    max_global=128,
  ),
  **HIBERT_CONFIGS,
  **POINTER_CONFIGS,
  'bertsum_base': BERTSumConfig(_BERT, cls=101, sep=102),
  'robertasum_base': BERTSumConfig(_ROBERTA, cls=0, sep=2),
  'stepwise_robertasum_base': BERTSumConfig(
    _ROBERTA, cls=0, sep=2, begin_unit=1
  ),
  'bertsum_mini': BERTSumConfig(
    dataclasses.replace(_BERT, **_MINI), cls=101, sep=102
  ),
  'bertsum_tiny': BERTSumConfig(
    dataclasses.replace(_BERT, **_TINY), cls=101, sep=102
  ),
  # Encoder and decoder share weights; the output is tied to the embeddings.
  'realizer': _ROBERTA,
  'realizer_mini': dataclasses.replace(_BERT, **_MINI),
  'realizer_tiny': dataclasses.replace(_BERT, **_TINY),
}


def find_config(name: str) -> ModelConfig:
  """The configuration of that name."""
  if name not in CONFIGS:
    raise InputError(
      f'no configuration is named {name!r}, there are {", ".join(CONFIGS)}.'
    )
  return CONFIGS[name]


@functools.singledispatch
def build_model(config: Any) -> nn.Module:
  """The module of a configuration."""
  raise InputError(f'{type(config).__name__} is not a configuration.')


build_model.register(ETCSumConfig)(ETCSum)
build_model.register(HiBERTConfig)(HiBERT)
build_model.register(BERTSumConfig)(BERTSum)
build_model.register(PointerConfig)(PointerPlanner)
build_model.register(TransformerConfig)(EncoderDecoder)


@functools.singledispatch
def twin(config: Any) -> Any:
  """The non-stepwise twin: the same body, without a plan."""
  raise InputError(f'{type(config).__name__} has no non-stepwise twin.')


@twin.register
def _(config: ETCSumConfig) -> ETCSumConfig:
  return dataclasses.replace(config, begin_unit=None)


@twin.register
def _(config: BERTSumConfig) -> BERTSumConfig:
  return dataclasses.replace(config, begin_unit=None)


@twin.register
def _(config: HiBERTConfig) -> HiBERTConfig:
  encoder = dataclasses.replace(config.encoder, summary_positions=0)
  return dataclasses.replace(config, encoder=encoder)


def count_params(name: str) -> int:
  """Parameters of a named configuration, without allocating them.

  >>> count_params('etcsum_base')
  165825793
  """
  config = find_config(name)
  tokens = jnp.zeros((1, 8), jnp.int32)
  if isinstance(config, TransformerConfig):
    mask = jnp.ones((1, 8), bool)
    return num_params(build_model(config), tokens, mask, tokens)
  valid = jnp.ones((1, 4), bool)
  batch = Batch(tokens, tokens, valid, plan=tokens[:, :2])
  return num_params(build_model(config), batch)
