"""The small Flax modules every encoder is made of.

Parameters are float32 and carry logical axis names (see `_sharding.py`);
`dtype` is the dtype activations are computed in, `None` meaning that of the
inputs and parameters. Norms always compute in float32 or wider.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen.dtypes import promote_dtype

from stepwise._typing import Array, DTypeLike, Float, Int
from stepwise.layers._products import DotGeneral
from stepwise.layers._sharding import gather_parts

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
  'gelu_tanh': partial(nn.gelu, approximate=True),
  'gelu_exact': partial(nn.gelu, approximate=False),
}


def kernel_init(*axes: str, stddev: float = 0.02) -> Callable[..., Any]:
  """Truncated normal, cut at two sigma and not rescaled, on named axes."""
  return nn.with_logical_partitioning(
    nn.initializers.truncated_normal(stddev), axes
  )


def zeros_init(*axes: str) -> Callable[..., Any]:
  return nn.with_logical_partitioning(nn.initializers.zeros_init(), axes)


def ones_init(*axes: str) -> Callable[..., Any]:
  return nn.with_logical_partitioning(nn.initializers.ones_init(), axes)


class Norm(nn.Module):
  """Layer norm over the last axis: population variance, scale and shift."""

  epsilon: float = 1e-12
  dtype: DTypeLike | None = None

  @nn.compact
  def __call__(
    self, inputs: Float[Array, '*batch embed']
  ) -> Float[Array, '*batch embed']:
    shape = inputs.shape[-1:]
    scale = self.param('scale', ones_init('embed'), shape)
    bias = self.param('bias', zeros_init('embed'), shape)
    wide = inputs.astype(jnp.promote_types(inputs.dtype, jnp.float32))
    centred = wide - wide.mean(axis=-1, keepdims=True)
    variance = jnp.square(centred).mean(axis=-1, keepdims=True)
    normed = centred * jax.lax.rsqrt(variance + self.epsilon)
    output = normed * jnp.broadcast_to(scale, normed.shape)
    output += jnp.broadcast_to(bias, normed.shape)
    return output.astype(self.dtype or inputs.dtype)


class Dense(nn.Module):
  """A dense layer with bias between any number of trailing axes.

  Attributes:
    features: shape of the output axes.
    axes: logical names of the kernel: input axes, then output axes.
    dtype: dtype of the computation; None = that of inputs and parameters.
    stddev: spread of the initial kernel.
    dot_general: the product.
  """

  features: tuple[int, ...]
  axes: tuple[str, ...]
  dtype: DTypeLike | None = None
  stddev: float = 0.02
  dot_general: DotGeneral = jax.lax.dot_general

  @nn.compact
  def __call__(self, inputs: Float[Array, '...']) -> Float[Array, '...']:
    contracted = len(self.axes) - len(self.features)
    shape = inputs.shape[-contracted:] + self.features
    kernel = self.param(
      'kernel', kernel_init(*self.axes, stddev=self.stddev), shape
    )
    bias = self.param(
      'bias', zeros_init(*self.axes[contracted:]), self.features
    )
    inputs, kernel, bias = promote_dtype(inputs, kernel, bias, dtype=self.dtype)
    last = tuple(range(inputs.ndim - contracted, inputs.ndim))
    numbers = ((last, tuple(range(contracted))), ((), ()))
    output = self.dot_general(inputs, kernel, numbers)
    return output + jnp.broadcast_to(bias, output.shape)


def head_projection(
  heads: int,
  dim: int,
  dtype: DTypeLike | None = None,
  dot_general: DotGeneral = jax.lax.dot_general,
  name: str | None = None,
) -> Dense:
  """`[..., embed]` to `[..., heads, dim]`: a query, key or value."""
  axes = ('embed', 'heads', 'kv')
  return Dense((heads, dim), axes, dtype, dot_general=dot_general, name=name)


def output_projection(
  features: int,
  dtype: DTypeLike | None = None,
  dot_general: DotGeneral = jax.lax.dot_general,
  name: str | None = None,
) -> Dense:
  """`[..., heads, dim]` back to `[..., embed]`."""
  axes = ('heads', 'kv', 'embed')
  return Dense((features,), axes, dtype, dot_general=dot_general, name=name)


class FeedForward(nn.Module):
  """dense(mlp) -> activation -> dense(embed), with biases."""

  mlp: int
  activation: str = 'gelu_tanh'
  dtype: DTypeLike | None = None
  dot_general: DotGeneral = jax.lax.dot_general

  @nn.compact
  def __call__(
    self, inputs: Float[Array, '*batch embed']
  ) -> Float[Array, '*batch embed']:
    dense = partial(Dense, dtype=self.dtype, dot_general=self.dot_general)
    hidden = dense((self.mlp,), ('embed', 'mlp'), name='in')(inputs)
    hidden = ACTIVATIONS[self.activation](hidden)
    return dense(inputs.shape[-1:], ('mlp', 'embed'), name='out')(hidden)


class Embedding(nn.Module):
  """A table of rows; also scores states against its rows when tied."""

  rows: int
  features: int
  axes: tuple[str, str] = ('vocab', 'table')
  dtype: DTypeLike | None = None
  dot_general: DotGeneral = jax.lax.dot_general

  def setup(self) -> None:
    self.table = self.param(
      'embedding', kernel_init(*self.axes), (self.rows, self.features)
    )

  def __call__(
    self, ids: Int[Array, '*batch']
  ) -> Float[Array, '*batch {self.features}']:
    """Looks rows up; gradients add up in the dtype of the table."""
    table = gather_parts(self.table, self.axes)
    return self._cast(table.at[ids].get(mode='clip'))

  def attend(
    self, states: Float[Array, '*batch embed']
  ) -> Float[Array, '*batch {self.rows}']:
    """Scores states against every row: tied output logits, in float32."""
    return self.dot_general(
      states,
      self._cast(self.table),
      (((states.ndim - 1,), (1,)), ((), ())),
      preferred_element_type=jnp.promote_types(states.dtype, jnp.float32),
    )

  def _cast(self, rows: Float[Array, '...']) -> Float[Array, '...']:
    return rows if self.dtype is None else rows.astype(self.dtype)
