"""A softmax-weighted sum computed in parts.

A row's keys may be split over blocks or devices. Every part contributes a
`SoftmaxPart`; parts merge in any order, and `finish` divides once at the end:

  peak  = max_k s_k,  mass = sum_k exp(s_k - peak),
  total = sum_k exp(s_k - peak) v_k,   output = total / mass

`peak` only guards against overflow and cancels in the output, so no gradient
flows through it. Given the same peak, parts simply add up: the derivative of
a loop that adds parts needs nothing stored from one step to the next.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._typing import Array, DTypeLike, Float
from stepwise.layers._products import DotGeneral, einsum

NEG_INF = float('-inf')


class SoftmaxPart(NamedTuple):
  """Unnormalised softmax sums over some of the keys of every row."""

  peak: Float[Array, 'batch heads q']
  mass: Float[Array, 'batch heads q']
  total: Float[Array, 'batch heads q dim']


class Dropout(NamedTuple):
  """Dropout of attention probabilities; `key` None = off."""

  rate: float = 0.0
  key: Array | None = None

  def fold(self, index: Array | int) -> 'Dropout':
    """Independent draws for one part of a row's keys."""
    if self.key is None:
      return self
    return Dropout(self.rate, jax.random.fold_in(self.key, index))

  def __call__(self, weights: Float[Array, '*shape']) -> Float[Array, '*shape']:
    factors = self.factors(weights.shape)
    return weights if factors is None else weights * factors

  def factors(self, shape: tuple[int, ...]) -> Array | None:
    """0 where a weight is dropped, 1 / (1 - rate) elsewhere; None = off."""
    if self.key is None or self.rate == 0.0:
      return None
    keep = jax.random.bernoulli(self.key, 1.0 - self.rate, shape)
    return jnp.where(keep, 1.0 / (1.0 - self.rate), 0.0)


def attention_dropout(
  module: nn.Module, rate: float, deterministic: bool
) -> Dropout:
  """Dropout that draws from a module's key; off where it changes nothing."""
  if deterministic or not rate:
    return Dropout()
  return Dropout(rate, module.make_rng('dropout'))


def wide_dtype(*arrays: Array) -> DTypeLike:
  """float32, or wider if an input is."""
  return jnp.result_type(jnp.float32, *(a.dtype for a in arrays))


def empty_part(query: Float[Array, 'batch q heads dim']) -> SoftmaxPart:
  """Sums over no keys at all."""
  total = jnp.zeros_like(query.swapaxes(1, 2), dtype=wide_dtype(query))
  mass = total[..., 0]
  return SoftmaxPart(jnp.full_like(mass, NEG_INF), mass, total)


def row_peak(
  logits: Float[Array, 'batch heads q kv'],
) -> Float[Array, 'batch heads q']:
  """The largest score of every row; -inf for a row with no allowed key."""
  return jax.lax.stop_gradient(logits.max(axis=-1, initial=NEG_INF))


def softmax_part(
  logits: Float[Array, 'batch heads q kv'],
  values: Float[Array, 'batch kv heads dim'],
  peak: Float[Array, 'batch heads q'],
  dropout: Dropout = Dropout(),
  dot_general: DotGeneral = jax.lax.dot_general,
) -> SoftmaxPart:
  """Sums over some keys; masked keys have a score of -inf."""
  # A row without any allowed key so far: exp(-inf - 0) = 0, never exp(nan).
  guard = jnp.where(jnp.isfinite(peak), peak, 0)
  weights = jnp.exp(logits - guard[..., None])
  dropped = dropout(weights).astype(values.dtype)
  total = einsum('bnqk,bknd->bnqd', dropped, values, dot_general)
  return SoftmaxPart(peak, weights.sum(axis=-1), total)


def add(first: SoftmaxPart, second: SoftmaxPart) -> SoftmaxPart:
  """Joins the sums over two disjoint sets of keys that share a peak."""
  return SoftmaxPart(
    first.peak, first.mass + second.mass, first.total + second.total
  )


def merge(first: SoftmaxPart, second: SoftmaxPart) -> SoftmaxPart:
  """Joins the sums over two disjoint sets of keys, whatever their peaks."""
  peak = jnp.maximum(first.peak, second.peak)
  guard = jnp.where(jnp.isfinite(peak), peak, 0)
  left = jnp.exp(first.peak - guard)
  right = jnp.exp(second.peak - guard)
  return SoftmaxPart(
    peak,
    left * first.mass + right * second.mass,
    left[..., None] * first.total + right[..., None] * second.total,
  )


def finish(part: SoftmaxPart) -> Float[Array, 'batch q heads dim']:
  """Divides by the mass; a row with no allowed key gives zeros."""
  mass = jnp.where(part.mass > 0, part.mass, 1)
  return (part.total / mass[..., None]).swapaxes(1, 2)
