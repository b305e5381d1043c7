"""Bundles of models so small that they compile in a moment."""

from pathlib import Path

import numpy as np

from stepwise.checkpoints import save_bundle
from stepwise.inference import PredictConfig
from stepwise.layers import HierarchicalConfig, TransformerConfig
from stepwise.models import HiBERTConfig
from tests.checkpoints.foreign import random_params

# It reads 30 sentences, and 32 tokens of each; all sizes are one bucket.
CONFIG = HiBERTConfig(
  HierarchicalConfig(
    TransformerConfig(
      vocab=30522, embed=8, heads=2, mlp=8, layers=1, positions=33
    ),
    document_layers=1,
    document_positions=32,
    summary_positions=32,
  ),
  first_token=101,
  max_unit_tokens=33,
)


def tiny_params(config, seed: int = 3):
  """Random weights whose scores differ from sentence to sentence."""
  params = random_params(config, seed)
  params['scorer']['dense']['kernel'] = (
    np.asarray(params['scorer']['dense']['kernel']) * 3
  )
  return params


def tiny_bundle(
  folder: Path, *, stepwise: bool = True, decoding: PredictConfig | None = None
) -> Path:
  """Saves one; what it chooses is as good as random, but always the same."""
  config = CONFIG if stepwise else CONFIG.twin()
  save_bundle(folder, config, tiny_params(config), decoding=decoding)
  return folder
