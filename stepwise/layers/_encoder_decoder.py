"""Encoder-decoder of transformer layers, with tied output embeddings.

Shared, it is RoBERTaShare (Rothe et al., 2020): encoder and decoder are the
same weights, except for the cross attention and its norm, which only the
decoder has.
"""

from typing import NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers._attend import causal_mask, key_mask
from stepwise.layers._transformer import (
  KeyValues,
  LayerStack,
  TokenEmbeddings,
  TransformerConfig,
  TransformerEncoder,
  TransformerLayer,
  check_positions,
)


class LayerCache(NamedTuple):
  """What one decoder layer keeps between steps."""

  past: KeyValues  # Of the positions decoded so far; written at every step.
  memory: KeyValues  # Of the encoder's states; never changes.


class DecodeCache(NamedTuple):
  """What `decode_step` keeps between steps; batch leads on every array."""

  layers: tuple[LayerCache, ...]
  memory_mask: Bool[Array, 'batch source']


class EncoderDecoder(nn.Module):
  """Reads source tokens, writes target tokens.

  Without `share`, encoder and decoder have separate embeddings and layers; the
  output is tied to the decoder's embeddings.
  """

  config: TransformerConfig
  share: bool = True

  def setup(self) -> None:
    self.embeddings = TokenEmbeddings(self.config)
    self.stack = LayerStack(self.config, cross=True)
    if not self.share:
      self.encoder = TransformerEncoder(self.config)

  def __call__(
    self,
    tokens: Int[Array, 'batch source'],
    mask: Bool[Array, 'batch source'],
    targets: Int[Array, 'batch length'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch length vocab']:
    memory = self.encode(tokens, mask, deterministic)
    return self.decode(targets, memory, mask, deterministic)

  def encode(
    self,
    tokens: Int[Array, 'batch source'],
    mask: Bool[Array, 'batch source'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch source embed']:
    """The states the decoder reads; `mask` is True at real tokens."""
    if not self.share:
      return self.encoder(tokens, mask, deterministic=deterministic)
    states = self.embeddings(tokens, deterministic=deterministic)
    return self.stack.encode(states, key_mask(mask), deterministic)

  def decode(
    self,
    targets: Int[Array, 'batch length'],
    memory: Float[Array, 'batch source embed'],
    memory_mask: Bool[Array, 'batch source'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch length vocab']:
    """Teacher forcing: logits at t are of the token after `targets[:, :t + 1]`.

    `targets` start with the begin token. Padding at their end needs no mask,
    for no earlier position reads it.
    """
    mask, cross_mask = causal_mask(targets.shape[1]), key_mask(memory_mask)

    def body(layer: TransformerLayer, states: Array, _: None):
      states = layer.attend_self(states, mask, deterministic)
      states = layer.attend_cross(
        states, layer.cross_keys_values(memory), cross_mask, deterministic
      )
      return layer.feed(states, deterministic), None

    states = self.embeddings(targets, deterministic=deterministic)
    return self.embeddings.logits(self.stack.run(body, states)[0])

  def init_cache(
    self,
    memory: Float[Array, 'batch source embed'],
    memory_mask: Bool[Array, 'batch source'],
    length: int,
  ) -> DecodeCache:
    """An empty cache for `length` steps, the memory's keys computed once."""
    check_positions('decoding steps', length, self.config.positions)

    def body(layer: TransformerLayer, carry: None, _: None):
      keys_values = layer.cross_keys_values(memory)
      return carry, LayerCache(_empty_past(keys_values, length), keys_values)

    return DecodeCache(self.stack.run(body, None)[1], memory_mask)

  def decode_step(
    self,
    token: Int[Array, ' batch'],
    position: Int[Array, ''] | int,
    cache: DecodeCache,
  ) -> tuple[Float[Array, 'batch vocab'], DecodeCache]:
    """Logits of the token after `token`, which stands at `position`.

    Positions must come in order from 0, and stay below the cache's length.
    """
    mask = key_mask(cache.memory_mask)

    def body(layer: TransformerLayer, states: Array, kept: LayerCache):
      states, past = layer.attend_past(states, kept.past, position)
      states = layer.attend_cross(states, kept.memory, mask)
      return layer.feed(states), kept._replace(past=past)

    states = self.embeddings(token[:, None], offset=position)
    states, layers = self.stack.run(body, states, cache.layers)
    logits = self.embeddings.logits(states)
    return logits[:, 0], cache._replace(layers=layers)


def _empty_past(like: KeyValues, length: int) -> KeyValues:
  batch, heads, _, dim = like.key.shape
  zeros = jnp.zeros((batch, heads, length, dim), like.key.dtype)
  return KeyValues(zeros, zeros)
