"""The realizer: an encoder-decoder that writes the text of a plan."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from stepwise.layers import EncoderDecoder, TransformerConfig
from stepwise.models._config import Limits, ModelConfig, PretrainedParts


@dataclass(frozen=True)
class RealizerConfig(TransformerConfig, ModelConfig):
  """Sizes of the encoder and the decoder, which share their weights."""

  chooses_units = False

  def build(self) -> EncoderDecoder:
    return EncoderDecoder(self)

  @property
  def limits(self) -> Limits:
    return Limits(tokens=self.positions)

  def smallest_inputs(self) -> tuple[Any, ...]:
    tokens = jnp.zeros((1, 1), jnp.int32)
    return tokens, tokens == 0, tokens

  def pretrained_parts(self, layers: int) -> PretrainedParts:
    """Everything; cross attention i is self attention i."""
    del layers
    return PretrainedParts(self, self.positions, path='', fresh=())
