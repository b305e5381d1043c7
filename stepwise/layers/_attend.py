"""Plain multi-head attention and the masks it reads, as pure functions."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float
from stepwise.layers._products import DotGeneral, einsum, turn
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
  by_head = [jnp.swapaxes(array, 1, 2) for array in (query, key, value)]
  attended = attend_by_head(
    *by_head, mask, dropout=dropout, dot_general=dot_general
  )
  return attended.swapaxes(1, 2)


def attend_by_head(
  query: Float[Array, 'batch heads q dim'],
  key: Float[Array, 'batch heads kv dim'],
  value: Float[Array, 'batch heads kv dim'],
  mask: Bool[Array, '#batch #q kv'],
  *,
  dropout: Dropout = Dropout(),
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch heads q dim']:
  """`attend`, for arrays that are stored head by head."""
  factors = dropout.factors((*query.shape[:3], key.shape[2]))
  attended: Array = _attend(  # pyright: ignore
    dot_general, query, key, value, mask[:, None], factors
  )
  return attended


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(
  dot_general: DotGeneral,
  query: Float[Array, 'batch heads q dim'],
  key: Float[Array, 'batch heads kv dim'],
  value: Float[Array, 'batch heads kv dim'],
  mask: Bool[Array, '#batch 1 #q kv'],
  factors: Float[Array, 'batch heads q kv'] | None,
) -> Float[Array, 'batch heads q dim']:
  return _forward(dot_general, query, key, value, mask, factors)[0]


def _forward(
  dot_general: DotGeneral,
  query: Array,
  key: Array,
  value: Array,
  mask: Array,
  factors: Array | None,
) -> tuple[Array, tuple[Any, ...]]:
  scaled = query * query.shape[-1] ** -0.5
  # float32 softmax, whatever the activations are.
  logits = einsum('bhqd,bhkd->bhqk', scaled, key, dot_general)
  # A finite floor: a row that reads nothing is then uniform, not NaN. Its
  # share is zero, which costs less than to mask all weights again.
  floor = jnp.finfo(logits.dtype).min
  floored = jnp.where(mask, logits, floor)
  top = floored.max(axis=-1, keepdims=True, initial=floor)
  weights = jnp.exp(floored - top)
  total = weights.sum(axis=-1, keepdims=True)
  some = mask.any(axis=-1, keepdims=True)
  share = jnp.where(some, 1 / jnp.where(some, total, 1), 0)
  # Shares come after the product: XLA's CPU compiler would fuse them into it,
  # and a fused product runs several times slower.
  dropped = _times(weights, factors).astype(value.dtype)
  attended = einsum('bhqk,bhkd->bhqd', dropped, value, dot_general) * share
  attended = attended.astype(value.dtype)
  kept = (scaled, key, value, factors, weights, share, attended)
  return attended, kept


def _backward(
  dot_general: DotGeneral, kept: tuple[Any, ...], gradient: Array
) -> tuple[Array | None, ...]:
  """With w = exp(s - max) and the gradient g of the output o, times a share:

    dv = w' g,   ds = w (g v' - g . o),   dq = ds k / sqrt(dim),   dk = ds' q

  Written out because the compiler's own derivative turns the large factors of
  dv and dk over, and passes over w far more often.
  """
  query, key, value, factors, weights, share, attended = kept
  gradient = gradient * share
  overlap = (gradient * attended).sum(axis=-1, keepdims=True)
  gradient = gradient.astype(value.dtype)
  dropped = _times(weights, factors).astype(value.dtype)
  rows = turn(gradient, (0, 1, 3, 2))
  of_value = einsum('bhdq,bhqk->bhdk', rows, dropped, dot_general)
  of_weights = einsum('bhqd,bhkd->bhqk', gradient, value, dot_general)
  of_logits = weights * (_times(of_weights, factors) - overlap)
  of_logits = of_logits.astype(query.dtype)
  of_query = einsum('bhqk,bhkd->bhqd', of_logits, key, dot_general)
  rows = turn(query, (0, 1, 3, 2))
  of_key = einsum('bhdq,bhqk->bhdk', rows, of_logits, dot_general)
  return (
    (of_query * query.shape[-1] ** -0.5).astype(query.dtype),
    turn(of_key, (0, 1, 3, 2)).astype(key.dtype),
    turn(of_value, (0, 1, 3, 2)).astype(value.dtype),
    None,
    None,
  )


_attend.defvjp(_forward, _backward)


def _times(weights: Array, factors: Array | None) -> Array:
  return weights if factors is None else weights * factors


def key_mask(real: Bool[Array, 'batch kv']) -> Bool[Array, 'batch 1 kv']:
  """Every query may attend to every real key."""
  return real[:, None, :]


def causal_mask(length: int) -> Bool[Array, '1 length length']:
  """Position q may attend to positions 0..q."""
  return jnp.tril(jnp.ones((1, length, length), bool))
