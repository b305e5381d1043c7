"""BERT and RoBERTa: configuration, attention, one layer, and the encoder.

The layer comes in three steps, `attend_self`, `attend_cross` and `feed`, each
a residual sum with its own norm. The encoder, the encoder-decoder and the
hierarchical encoder are three ways to call these steps.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen.spmd import with_logical_constraint

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, DTypeLike, Float, Int
from stepwise.layers._attend import attend_by_head, key_mask
from stepwise.layers._modules import (
  ACTIVATIONS,
  Embedding,
  FeedForward,
  Norm,
  head_projection,
  output_projection,
)
from stepwise.layers._products import DotGeneral, find_products
from stepwise.layers._softmax import attention_dropout


@dataclasses.dataclass(frozen=True)
class TransformerConfig:
  """Sizes and options of a transformer; the defaults are RoBERTa base."""

  vocab: int = 50265
  embed: int = 768
  heads: int = 12
  mlp: int = 3072
  layers: int = 12
  positions: int = 512
  token_types: int = 0  # 0 = no token type table.
  activation: str = 'gelu_exact'
  norm_epsilon: float = 1e-5
  dropout: float = 0.1
  pre_norm: bool = False  # x + f(norm(x)), no final norm; else norm(x + f(x)).
  dtype: DTypeLike | None = None  # Of activations; parameters are float32.
  remat: bool = False  # Recompute layers in the backward pass.
  scan_layers: bool = False  # One stacked layer: compiles in constant time.
  products: str = 'float32'  # Precision of products, one of `PRODUCTS`.

  def __post_init__(self) -> None:
    if self.embed % self.heads:
      raise InputError(
        f'embed is {self.embed}, which is not a multiple of heads {self.heads}.'
      )
    if self.activation not in ACTIVATIONS:
      raise InputError(
        f'activation is {self.activation!r}; known are {sorted(ACTIVATIONS)}.'
      )
    find_products(self.products)

  @property
  def dot_general(self) -> DotGeneral:
    return find_products(self.products)


class KeyValues(NamedTuple):
  """The keys and values an attention reads.

  Head by head: a cache is read at every step, and is not turned over then.
  """

  key: Float[Array, 'batch heads kv dim']
  value: Float[Array, 'batch heads kv dim']

  def write(
    self, new: 'KeyValues', position: Int[Array, ''] | int
  ) -> 'KeyValues':
    """Replaces the rows that start at `position` by those of `new`."""

    def update(old: Array, rows: Array) -> Array:
      return jax.lax.dynamic_update_slice_in_dim(
        old, rows.astype(old.dtype), position, axis=2
      )

    return KeyValues(update(self.key, new.key), update(self.value, new.value))


class MultiHeadAttention(nn.Module):
  """Attention with its four projections.

  Reads `KeyValues`, so that they can be cached: self attention is
  `attention(x, attention.keys_values(x), mask)`. A query that may attend to
  nothing returns zeros (the output bias included).

  Attributes:
    heads, dim: how many heads, and the size of each.
    features: width of the output.
    dropout: rate, of probabilities.
    dtype: of activations; None = that of inputs and parameters.
    dot_general: the product.
  """

  heads: int
  dim: int
  features: int
  dropout: float = 0.0
  dtype: DTypeLike | None = None
  dot_general: DotGeneral = jax.lax.dot_general

  def setup(self) -> None:
    sizes = (self.heads, self.dim, self.dtype, self.dot_general)
    self.query = head_projection(*sizes)
    self.key = head_projection(*sizes)
    self.value = head_projection(*sizes)
    self.output = output_projection(self.features, self.dtype, self.dot_general)

  def keys_values(self, states: Float[Array, 'batch kv embed']) -> KeyValues:
    key, value = self.key(states), self.value(states)
    return KeyValues(key.swapaxes(1, 2), value.swapaxes(1, 2))

  def __call__(
    self,
    states: Float[Array, 'batch q embed'],
    memory: KeyValues,
    mask: Bool[Array, '#batch #q kv'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch q embed']:
    attended = attend_by_head(
      self.query(states).swapaxes(1, 2),
      *memory,
      mask,
      dropout=attention_dropout(self, self.dropout, deterministic),
      dot_general=self.dot_general,
    )
    outputs = self.output(attended.swapaxes(1, 2))
    return jnp.where(mask.any(-1)[..., None], outputs, 0)


def _attention(config: TransformerConfig) -> MultiHeadAttention:
  return MultiHeadAttention(
    config.heads,
    config.embed // config.heads,
    config.embed,
    config.dropout,
    config.dtype,
    config.dot_general,
  )


class TransformerLayer(nn.Module):
  """The steps of a layer; cross attention exists only where asked for."""

  config: TransformerConfig
  cross: bool = False

  def setup(self) -> None:
    config = self.config
    self.self_attention = _attention(config)
    self.self_norm = Norm(config.norm_epsilon, config.dtype)
    if self.cross:
      self.cross_attention = _attention(config)
      self.cross_norm = Norm(config.norm_epsilon, config.dtype)
    self.feed_forward = FeedForward(
      config.mlp, config.activation, config.dtype, config.dot_general
    )
    self.feed_norm = Norm(config.norm_epsilon, config.dtype)
    self.dropout = nn.Dropout(config.dropout)

  def __call__(
    self,
    states: Float[Array, 'batch length embed'],
    mask: Bool[Array, '#batch #length length'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch length embed']:
    """An encoder layer: self attention, then feed-forward."""
    return self.feed(
      self.attend_self(states, mask, deterministic), deterministic
    )

  def attend_self(
    self,
    states: Float[Array, 'batch length embed'],
    mask: Bool[Array, '#batch #length length'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch length embed']:
    inputs = self._before(self.self_norm, states)
    memory = self.self_attention.keys_values(inputs)
    update = self.self_attention(inputs, memory, mask, deterministic)
    return self._after(self.self_norm, states, update, deterministic)

  def attend_past(
    self,
    states: Float[Array, 'batch 1 embed'],
    past: KeyValues,
    position: Int[Array, ''] | int,
  ) -> tuple[Float[Array, 'batch 1 embed'], KeyValues]:
    """Causal self attention of one position, whose keys join the `past`."""
    inputs = self._before(self.self_norm, states)
    past = past.write(self.self_attention.keys_values(inputs), position)
    mask = jnp.arange(past.key.shape[2]) <= position
    update = self.self_attention(inputs, past, mask[None, None])
    return self._after(self.self_norm, states, update), past

  def cross_keys_values(
    self, memory: Float[Array, 'batch kv embed']
  ) -> KeyValues:
    return self.cross_attention.keys_values(memory)

  def attend_cross(
    self,
    states: Float[Array, 'batch q embed'],
    memory: KeyValues,
    mask: Bool[Array, '#batch #q kv'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch q embed']:
    inputs = self._before(self.cross_norm, states)
    update = self.cross_attention(inputs, memory, mask, deterministic)
    return self._after(self.cross_norm, states, update, deterministic)

  def feed(
    self,
    states: Float[Array, 'batch length embed'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch length embed']:
    update = self.feed_forward(self._before(self.feed_norm, states))
    return self._after(self.feed_norm, states, update, deterministic)

  def _before(self, norm: Norm, states: Array) -> Array:
    return norm(states) if self.config.pre_norm else states

  def _after(
    self, norm: Norm, states: Array, update: Array, deterministic: bool = True
  ) -> Array:
    summed = states + self.dropout(update, deterministic)
    return constrain(summed if self.config.pre_norm else norm(summed))


class LayerStack(nn.Module):
  """Layers one after another, as a loop or as one scan over stacked weights."""

  config: TransformerConfig
  cross: bool = False

  def setup(self) -> None:
    def layer() -> TransformerLayer:
      return TransformerLayer(self.config, self.cross)

    if self.config.scan_layers:
      self.layers = layer()
    else:
      self.layers = [layer() for _ in range(self.config.layers)]

  def encode(
    self,
    states: Float[Array, 'batch length embed'],
    mask: Bool[Array, '#batch #length length'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch length embed']:
    def body(layer: TransformerLayer, states: Array, _: None):
      return layer(states, mask, deterministic), None

    return self.run(body, states)[0]

  def run(
    self,
    body: Callable[[TransformerLayer, Any, Any], tuple[Any, Any]],
    carry: Any,
    inputs: tuple[Any, ...] | None = None,
  ) -> tuple[Any, tuple[Any, ...]]:
    """Threads `carry` through `body(layer, carry, inputs[i]) -> carry, output`.

    `inputs` has one entry per layer, and so do the outputs. Scanning stacks
    both, which copies them.
    """
    inputs = inputs or (None,) * self.config.layers
    if isinstance(self.layers, TransformerLayer):
      return self._scan(self.layers, body, carry, inputs)
    body = maybe_remat(self.config, body)
    outputs = []
    for layer, layer_inputs in zip(self.layers, inputs, strict=True):
      carry, output = body(layer, carry, layer_inputs)
      outputs.append(output)
    return carry, tuple(outputs)

  def _scan(
    self,
    layer: TransformerLayer,
    body: Callable,
    carry: Any,
    inputs: tuple[Any, ...],
  ) -> tuple[Any, tuple[Any, ...]]:
    scanned = nn.scan(
      # The loop itself keeps the recomputation apart: no barrier is needed.
      maybe_remat(self.config, body, prevent_cse=False),
      variable_axes={'params': 0},
      split_rngs={'params': True, 'dropout': True},
      length=self.config.layers,
      metadata_params={nn.PARTITION_NAME: 'layers'},
    )
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *inputs)
    carry, outputs = scanned(layer, carry, stacked)
    return carry, tuple(
      jax.tree.map(lambda leaf, i=i: leaf[i], outputs)
      for i in range(self.config.layers)
    )


class TokenEmbeddings(nn.Module):
  """Tokens, learned absolute positions and token types, summed and normed."""

  config: TransformerConfig

  def setup(self) -> None:
    config = self.config
    self.token = Embedding(
      config.vocab,
      config.embed,
      dtype=config.dtype,
      dot_general=config.dot_general,
    )
    self.position = position_table(config.positions, config)
    if config.token_types:
      self.token_type = Embedding(
        config.token_types, config.embed, ('token_types', 'embed'), config.dtype
      )
    self.norm = Norm(config.norm_epsilon, config.dtype)
    self.dropout = nn.Dropout(config.dropout)

  def __call__(
    self,
    tokens: Int[Array, 'batch length'],
    token_types: Int[Array, 'batch length'] | None = None,
    offset: Int[Array, ''] | int = 0,
    deterministic: bool = True,
  ) -> Float[Array, 'batch length embed']:
    """Embeds tokens at positions `offset`, `offset` + 1, ...

    Token types default to 0 where the table exists.
    """
    check_token_ids(tokens, self.config.positions)
    summed = self.token(tokens)
    if self.config.token_types:
      types = jnp.zeros_like(tokens) if token_types is None else token_types
      summed += self.token_type(types)
    elif token_types is not None:
      raise InputError('token_types are given, but config.token_types is 0.')
    positions = offset + jnp.arange(tokens.shape[1])
    summed += self.position(positions)[None]
    return constrain(self.dropout(self.norm(summed), deterministic))

  def logits(
    self, states: Float[Array, 'batch length embed']
  ) -> Float[Array, 'batch length vocab']:
    """Scores of every token: the token table, tied, without a bias."""
    return self.token.attend(states)


class TransformerEncoder(nn.Module):
  """BERT or RoBERTa without a pooler."""

  config: TransformerConfig

  def setup(self) -> None:
    self.embeddings = TokenEmbeddings(self.config)
    self.stack = LayerStack(self.config)

  def __call__(
    self,
    tokens: Int[Array, 'batch length'],
    mask: Bool[Array, 'batch length'],
    token_types: Int[Array, 'batch length'] | None = None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch length embed']:
    """Encodes tokens; `mask` is True at real tokens.

    No real token reads a padding token; states at padding mean nothing.
    """
    states = self.embeddings(tokens, token_types, deterministic=deterministic)
    return self.stack.encode(states, key_mask(mask), deterministic)


def position_table(rows: int, config: TransformerConfig) -> Embedding:
  return Embedding(rows, config.embed, ('positions', 'embed'), config.dtype)


def maybe_remat(
  config: TransformerConfig, body: Callable, prevent_cse: bool = True
) -> Callable:
  """`body`, recomputed in the backward pass if the configuration says so."""
  return nn.remat(body, prevent_cse=prevent_cse) if config.remat else body


def constrain(
  states: Float[Array, 'batch length embed'],
) -> Float[Array, 'batch length embed']:
  """Names the axes of an activation for the partitioner."""
  return with_logical_constraint(states, ('batch', 'length', 'embed'))


def check_token_ids(tokens: Int[Array, '...'], positions: int) -> None:
  """Refuses ids of another rank than 2, or longer than the position table."""
  if tokens.ndim != 2:
    raise InputError(
      f'token ids have shape {tokens.shape}; [batch, length] is needed.'
    )
  check_positions('tokens', tokens.shape[1], positions)


def check_positions(what: str, length: int, positions: int) -> None:
  """Refuses to number more things than a position table has rows."""
  if length > positions:
    raise InputError(
      f'{length} {what} are given, but the position table has {positions} rows.'
    )
