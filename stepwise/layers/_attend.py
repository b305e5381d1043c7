"""Plain multi-head attention and the masks it reads, as pure functions."""

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float
from stepwise.layers._products import DotGeneral, einsum
from stepwise.layers._softmax import Dropout


def attend(
  query: Float[Array, 'batch q heads dim'],
  key: Float[Array, 'batch kv heads dim'],
  value: Float[Array, 'batch kv heads dim'],
  mask: Bool[Array, '#batch #q kv'],
  *,
  dropout: Dropout = Dropout(),
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch q heads dim']:
  """softmax(query . key / sqrt(dim)) value, in every head.

  A query that may attend to nothing returns zeros, with finite gradients.
  `dropout` is applied to the probabilities, before they are normalised.
  """
  # float32 softmax, whatever the activations are.
  logits = einsum('bqhd,bkhd->bhqk', query, key, dot_general)
  logits *= query.shape[-1] ** -0.5
  allowed = mask[:, None]
  # A finite floor: an empty row is then uniform, not NaN, before it is zeroed.
  floor = jnp.finfo(logits.dtype).min
  floored = jnp.where(allowed, logits, floor)
  top = floored.max(axis=-1, keepdims=True, initial=floor)
  top = jax.lax.stop_gradient(top)  # It cancels.
  weights = jnp.where(allowed, jnp.exp(floored - top), 0)
  total = weights.sum(axis=-1, keepdims=True)
  weights = dropout(weights).astype(value.dtype)
  # Division and transposition come after the product: XLA's CPU compiler would
  # fuse them into it, and a fused product runs several times slower.
  attended = einsum('bhqk,bkhd->bhqd', weights, value, dot_general)
  attended /= jnp.where(total > 0, total, 1)
  return attended.swapaxes(1, 2).astype(value.dtype)


def key_mask(real: Bool[Array, 'batch kv']) -> Bool[Array, 'batch 1 kv']:
  """Every query may attend to every real key."""
  return real[:, None, :]


def causal_mask(length: int) -> Bool[Array, '1 length length']:
  """Position q may attend to positions 0..q."""
  return jnp.tril(jnp.ones((1, length, length), bool))
