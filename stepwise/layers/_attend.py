"""Plain multi-head attention and the masks it reads, as pure functions."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float
from stepwise.layers._products import DotGeneral, einsum, turn
from stepwise.layers._softmax import Dropout


class Keys(NamedTuple):
  """Some of the keys that a softmax is over, head by head.

  `bias` is added to scores before the softmax, and `factors` drop some of the
  weights after it; both None = none.
  """

  key: Float[Array, 'batch heads kv dim']
  value: Float[Array, 'batch heads kv dim']
  mask: Bool[Array, '#batch 1 #q kv']
  bias: Float[Array, 'batch heads q kv'] | None = None
  factors: Float[Array, 'batch heads q kv'] | None = None


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
  query, key, value = (array.swapaxes(1, 2) for array in (query, key, value))
  attended = attend_by_head(
    query, key, value, mask, dropout=dropout, dot_general=dot_general
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
  parts = (Keys(key, value, mask[:, None], factors=factors),)
  return attend_parts(query, parts, dot_general)


def attend_parts(
  query: Float[Array, 'batch heads q dim'],
  parts: tuple[Keys, ...],
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch heads q dim']:
  """One softmax over the keys of all parts."""
  attended: Array = _attend(dot_general, query, parts)  # pyright: ignore
  return attended


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(
  dot_general: DotGeneral, query: Array, parts: tuple[Keys, ...]
) -> Array:
  return _forward(dot_general, query, parts)[0]


def _forward(
  dot_general: DotGeneral, query: Array, parts: tuple[Keys, ...]
) -> tuple[Array, tuple[Any, ...]]:
  scaled = query * query.shape[-1] ** -0.5
  logits = [_logits(scaled, part, dot_general) for part in parts]
  floor = jnp.finfo(logits[0].dtype).min
  tops = [
    scores.max(axis=-1, keepdims=True, initial=floor) for scores in logits
  ]
  top = functools.reduce(jnp.maximum, tops)
  weights = [jnp.exp(scores - top) for scores in logits]
  total = sum(w.sum(axis=-1, keepdims=True) for w in weights)
  # A row that reads nothing has a share of zero, which costs less than to mask
  # all weights again. Shares come after the product: XLA's CPU compiler would
  # fuse them into it, and a fused product runs several times slower.
  some = functools.reduce(
    jnp.logical_or, [part.mask.any(axis=-1, keepdims=True) for part in parts]
  )
  share = jnp.where(some, 1 / jnp.where(some, total, 1), 0)
  attended = share * sum(
    einsum('bhqk,bhkd->bhqd', _dropped(w, part), part.value, dot_general)
    for w, part in zip(weights, parts, strict=True)
  )
  attended = attended.astype(parts[0].value.dtype)
  return attended, (scaled, parts, weights, share, attended)


def _logits(scaled: Array, part: Keys, dot_general: DotGeneral) -> Array:
  """float32 or wider, whatever the activations are.

  A finite floor: a row that reads nothing is then uniform, not NaN.
  """
  logits = einsum('bhqd,bhkd->bhqk', scaled, part.key, dot_general)
  if part.bias is not None:
    logits += part.bias
  return jnp.where(part.mask, logits, jnp.finfo(logits.dtype).min)


def _dropped(weights: Array, part: Keys) -> Array:
  return _times(weights, part.factors).astype(part.value.dtype)


def _times(weights: Array, factors: Array | None) -> Array:
  return weights if factors is None else weights * factors


def _backward(
  dot_general: DotGeneral, kept: tuple[Any, ...], gradient: Array
) -> tuple[Array, tuple[Keys, ...]]:
  """With w = exp(s - max) and the gradient g of the output o, times a share:

    dv = w' g,   ds = w (g v' - g . o),   dq = ds k / sqrt(dim),   dk = ds' q

  Written out because the compiler's own derivative turns the large factors of
  dv and dk over, and passes over w far more often.
  """
  query, parts, weights, share, attended = kept
  gradient = gradient * share
  overlap = (gradient * attended).sum(axis=-1, keepdims=True)
  gradient = gradient.astype(attended.dtype)
  rows, turned = (turn(array, (0, 1, 3, 2)) for array in (gradient, query))
  of_query, of_parts = 0, []
  for w, part in zip(weights, parts, strict=True):
    dropped = _dropped(w, part)
    of_value = einsum('bhdq,bhqk->bhdk', rows, dropped, dot_general)
    of_weights = einsum('bhqd,bhkd->bhqk', gradient, part.value, dot_general)
    of_logits = w * (_times(of_weights, part.factors) - overlap)
    of_bias = None if part.bias is None else of_logits.astype(part.bias.dtype)
    of_logits = of_logits.astype(query.dtype)
    of_query += einsum('bhqk,bhkd->bhqd', of_logits, part.key, dot_general)
    of_key = einsum('bhdq,bhqk->bhdk', turned, of_logits, dot_general)
    of_parts.append(
      Keys(
        turn(of_key, (0, 1, 3, 2)).astype(part.key.dtype),
        turn(of_value, (0, 1, 3, 2)).astype(part.value.dtype),
        None,  # pyright: ignore[reportArgumentType]
        of_bias,
      )
    )
  of_query *= query.shape[-1] ** -0.5
  return of_query.astype(query.dtype), tuple(of_parts)


_attend.defvjp(_forward, _backward)


def key_mask(real: Bool[Array, 'batch kv']) -> Bool[Array, 'batch 1 kv']:
  """Every query may attend to every real key."""
  return real[:, None, :]


def causal_mask(length: int) -> Bool[Array, '1 length length']:
  """Position q may attend to positions 0..q."""
  return jnp.tril(jnp.ones((1, length, length), bool))
