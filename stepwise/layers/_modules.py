"""The small Flax modules every encoder is made of.

Parameters are float32 and carry logical axis names (see `_sharding.py`);
`dtype` is the dtype activations are computed in, `None` meaning that of the
inputs and parameters. Norms always compute in float32 or wider.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._typing import Array, DTypeLike, Float, Int

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
  'gelu_tanh': partial(nn.gelu, approximate=True),
  'gelu_exact': partial(nn.gelu, approximate=False),
}


def kernel_init(*axes: str, stddev: float = 0.02) -> Callable[..., Array]:
  """Truncated normal, cut at two sigma and not rescaled, on named axes."""
  return nn.with_logical_partitioning(
    nn.initializers.truncated_normal(stddev), axes
  )


def zeros_init(*axes: str) -> Callable[..., Array]:
  return nn.with_logical_partitioning(nn.initializers.zeros_init(), axes)


def ones_init(*axes: str) -> Callable[..., Array]:
  return nn.with_logical_partitioning(nn.initializers.ones_init(), axes)


class Norm(nn.Module):
  """Layer norm over the last axis: population variance, scale and shift."""

  epsilon: float = 1e-12
  dtype: DTypeLike | None = None

  @nn.compact
  def __call__(
    self, inputs: Float[Array, '*batch embed']
  ) -> Float[Array, '*batch embed']:
    normed = nn.LayerNorm(
      epsilon=self.epsilon,
      dtype=jnp.promote_types(inputs.dtype, jnp.float32),
      use_fast_variance=False,
      scale_init=ones_init('embed'),
      bias_init=zeros_init('embed'),
      name='norm',
    )(inputs)
    return normed.astype(self.dtype or inputs.dtype)


class HeadProjection(nn.Module):
  """Projects `embed` to `[heads, dim]`: a query, key or value."""

  heads: int
  dim: int
  dtype: DTypeLike | None = None

  @nn.compact
  def __call__(
    self, inputs: Float[Array, '*batch embed']
  ) -> Float[Array, '*batch heads dim']:
    return nn.DenseGeneral(
      features=(self.heads, self.dim),
      dtype=self.dtype,
      kernel_init=kernel_init('embed', 'heads', 'kv'),
      bias_init=zeros_init('heads', 'kv'),
      name='dense',
    )(inputs)


class OutputProjection(nn.Module):
  """Projects the heads of an attention back to `embed`."""

  features: int
  dtype: DTypeLike | None = None

  @nn.compact
  def __call__(
    self, inputs: Float[Array, '*batch heads dim']
  ) -> Float[Array, '*batch features']:
    return nn.DenseGeneral(
      features=self.features,
      axis=(-2, -1),
      dtype=self.dtype,
      kernel_init=kernel_init('heads', 'kv', 'embed'),
      bias_init=zeros_init('embed'),
      name='dense',
    )(inputs)


class FeedForward(nn.Module):
  """dense(mlp) -> activation -> dense(embed), with biases."""

  mlp: int
  activation: str = 'gelu_tanh'
  dtype: DTypeLike | None = None

  @nn.compact
  def __call__(
    self, inputs: Float[Array, '*batch embed']
  ) -> Float[Array, '*batch embed']:
    hidden = nn.Dense(
      self.mlp,
      dtype=self.dtype,
      kernel_init=kernel_init('embed', 'mlp'),
      bias_init=zeros_init('mlp'),
      name='in',
    )(inputs)
    return nn.Dense(
      inputs.shape[-1],
      dtype=self.dtype,
      kernel_init=kernel_init('mlp', 'embed'),
      bias_init=zeros_init('embed'),
      name='out',
    )(ACTIVATIONS[self.activation](hidden))


class Embedding(nn.Module):
  """A table of rows; also scores states against its rows when tied."""

  rows: int
  features: int
  axes: tuple[str, str] = ('vocab', 'embed')
  dtype: DTypeLike | None = None

  def setup(self) -> None:
    self.table = self.param(
      'embedding', kernel_init(*self.axes), (self.rows, self.features)
    )

  def __call__(
    self, ids: Int[Array, '*batch']
  ) -> Float[Array, '*batch {self.features}']:
    """Looks rows up."""
    return self._rows().at[ids].get(mode='clip')

  def attend(
    self, states: Float[Array, '*batch embed']
  ) -> Float[Array, '*batch {self.rows}']:
    """Scores states against every row: tied output logits, in float32."""
    return jax.lax.dot_general(
      states,
      self._rows(),
      (((states.ndim - 1,), (1,)), ((), ())),
      preferred_element_type=jnp.promote_types(states.dtype, jnp.float32),
    )

  def _rows(self) -> Float[Array, 'rows features']:
    return self.table if self.dtype is None else self.table.astype(self.dtype)
