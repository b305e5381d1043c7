"""The models of the paper by name, in the sizes they come in."""

import dataclasses
from typing import Any

from stepwise.layers import (
  AttentionPattern,
  ETCConfig,
  TransformerConfig,
  num_params,
)
from stepwise.models._bare_etc import BareETCConfig
from stepwise.models._baselines import LeadConfig, OracleConfig
from stepwise.models._bertsum import BERTSumConfig
from stepwise.models._config import find_config, register_model
from stepwise.models._etcsum import ETCSumConfig
from stepwise.models._hibert import HIBERT_CONFIGS, HiBERTConfig
from stepwise.models._pointer import POINTER_CONFIGS, PointerConfig
from stepwise.models._realizer import RealizerConfig

_BERT = TransformerConfig(vocab=30522, norm_epsilon=1e-12)
_ROBERTA = TransformerConfig(vocab=50358)
_MINI: dict[str, Any] = {'embed': 384, 'heads': 12, 'mlp': 1536, 'layers': 6}
_TINY: dict[str, Any] = {'embed': 32, 'heads': 4, 'mlp': 64, 'layers': 2}

_ETCSUM_CONFIGS: dict[str, ETCSumConfig] = {
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
  # A shorter table in fewer words; a token reads its own entry and little more,
  # entries meet through global tokens, which are also what is scored.
  'etcsum_rotowire_small': ETCSumConfig(
    ETCConfig(
      embed=64,
      heads=2,
      mlp=128,
      layers=2,
      pattern=AttentionPattern(12, 8, hard_g2l=True),
      labels=22,
      global_positions=64,
      global_means=True,
      block=64,
    ),
    document_tokens=576,
    summary_tokens=384,
    max_global=136,
    begin_unit=2,
    pooling='global',
    from_end=True,
  ),
  'etcsum_mini': ETCSumConfig(
    ETCConfig(**_MINI), document_tokens=3072, summary_tokens=512
  ),
  # Started from MiniLM, whose positions it keeps: those tell it more of a
  # short text than labels of relative positions that nothing has trained. It
  # reads as far as a CPU can train it.
  'etcsum_news': ETCSumConfig(
    ETCConfig(
      **_MINI, long_positions=512, global_positions=160, global_means=True
    ),
    document_tokens=512,
    summary_tokens=160,
    max_global=160,
    pooling='global',
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
}
# The encoders of these, to be pretrained. Nothing ties them to a length: that
# of the paper reads 8192 tokens, the two delimiters included.
_BARE_CONFIGS: dict[str, BareETCConfig] = {
  'etc_base': BareETCConfig(
    dataclasses.replace(
      _ETCSUM_CONFIGS['etcsum_base'].twin(), document_tokens=8190
    )
  ),
  'etc_mini': BareETCConfig(_ETCSUM_CONFIGS['etcsum_mini'].twin()),
  # MiniLM knows [MASK].
  'etc_news': BareETCConfig(
    _ETCSUM_CONFIGS['etcsum_news'].twin(), hidden_token=103
  ),
  'etc_tiny': BareETCConfig(_ETCSUM_CONFIGS['etcsum_tiny'].twin()),
}
_BERTSUM_CONFIGS: dict[str, BERTSumConfig] = {
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
}
# Encoder and decoder share weights; the output is tied to the embeddings.
_REALIZER_CONFIGS: dict[str, RealizerConfig] = {
  'realizer': RealizerConfig(vocab=50358),
  'realizer_mini': RealizerConfig(vocab=30522, norm_epsilon=1e-12, **_MINI),
  # Writes by reference in the few words of `reports`.
  'realizer_small': RealizerConfig(
    vocab=512,
    embed=192,
    heads=6,
    mlp=768,
    layers=3,
    positions=256,
  ),
  'realizer_tiny': RealizerConfig(vocab=30522, norm_epsilon=1e-12, **_TINY),
}

register_model(ETCSumConfig, _ETCSUM_CONFIGS)
register_model(BareETCConfig, _BARE_CONFIGS)
register_model(HiBERTConfig, HIBERT_CONFIGS)
register_model(PointerConfig, POINTER_CONFIGS)
register_model(BERTSumConfig, _BERTSUM_CONFIGS)
register_model(RealizerConfig, _REALIZER_CONFIGS, stored_as='TransformerConfig')
register_model(LeadConfig)
register_model(OracleConfig)


def count_params(name: str) -> int:
  """Parameters of a named configuration, without allocating them.

  >>> count_params('etcsum_base')
  165825793
  """
  config = find_config(name)
  return num_params(config.build(), *config.smallest_inputs())
