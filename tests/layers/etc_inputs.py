"""A tiny ETC encoder and a small batch for it."""

import jax.numpy as jnp
import numpy as np

from stepwise.layers import AttentionPattern, ETCConfig, UnitStructure

TINY = ETCConfig(
  vocab=29,
  embed=15,
  heads=3,
  mlp=17,
  layers=2,
  pattern=AttentionPattern(radius=3, max_distance=2, hard_g2l=True),
  labels=8,
  segments=3,
  epsilon=1e-3,
  dropout=0.0,
  block=4,
)


def inputs(
  batch: int = 2, length: int = 11, num_globals: int = 5, seed: int = 0
) -> tuple:
  """Tokens, global tokens and units; the last document is padded."""
  random = np.random.default_rng(seed)
  tokens = jnp.asarray(random.integers(0, 29, (batch, length)))
  global_tokens = jnp.asarray(random.integers(0, 29, (batch, num_globals)))
  units = np.sort(random.integers(0, num_globals, (batch, length)))
  examples = np.ones((batch, length), int)
  examples[-1, -3:] = 0
  structure = UnitStructure(
    jnp.asarray(units),
    jnp.asarray(examples),
    jnp.ones((batch, num_globals), int),
  )
  return tokens, global_tokens, structure
