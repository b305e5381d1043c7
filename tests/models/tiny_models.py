"""The smallest model of every kind, and records it can learn by heart."""

import numpy as np

from stepwise.layers import (
  AttentionPattern,
  ETCConfig,
  HierarchicalConfig,
  TransformerConfig,
)
from stepwise.models import (
  BERTSumConfig,
  ETCSumConfig,
  HiBERTConfig,
)
from tests.layers.parameters import draw
from tests.models.documents import make_batch, random_record

_TRANSFORMER = {'vocab': 97, 'embed': 24, 'heads': 3, 'mlp': 40, 'layers': 1}

CONFIGS = {
  'etcsum': ETCSumConfig(
    ETCConfig(
      **_TRANSFORMER,
      labels=10,
      pattern=AttentionPattern(radius=5, max_distance=3, hard_g2l=True),
    ),
    document_tokens=40,
    summary_tokens=25,
    max_global=24,
    cls=12,
    sep=13,
  ),
  'hibert': HiBERTConfig(
    HierarchicalConfig(
      TransformerConfig(**_TRANSFORMER, positions=7),
      document_layers=1,
      document_positions=23,
      summary_positions=11,
    ),
    first_token=12,
    max_unit_tokens=7,
  ),
  'robertasum': BERTSumConfig(
    TransformerConfig(**_TRANSFORMER, positions=73),
    cls=12,
    sep=13,
    begin_unit=1,
  ),
}
KINDS = tuple(CONFIGS)

_RNG = np.random.default_rng(7)
RECORDS = [random_record(_RNG, count, max_tokens=4) for count in (3, 8, 5)]


def drawn(kind):
  """A model and random weights that make its scores differ widely."""
  model = CONFIGS[kind].build()
  return model, draw(model, make_batch(RECORDS))
