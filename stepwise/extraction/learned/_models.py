"""Classifiers of candidates: a convolutional network, and an LSTM."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Float, Int
from stepwise.extraction.learned._features import REACH


@dataclasses.dataclass(frozen=True)
class ClassifierConfig:
  """Sizes of a classifier.

  Attributes:
    kind: 'conv' or 'lstm'.
    vocab: words, placeholders counted.
    labels: that a pair may have, NONE counted.
    embed: of a word.
    position: of each of its two distances.
    hidden: filters of every width, or units of the LSTM in each direction.
    widths: of the filters, in words.
  """

  kind: str
  vocab: int
  labels: int
  embed: int = 48
  position: int = 8
  hidden: int = 96
  widths: tuple[int, ...] = (2, 3, 5)

  def __post_init__(self) -> None:
    if self.kind not in ('conv', 'lstm'):
      raise InputError(f"kind is {self.kind!r}; 'conv' and 'lstm' exist.")


class Classifier(nn.Module):
  """Logits of the labels of candidates.

  Padded words are zeros, as is what filters read beyond the end of a sentence.
  """

  config: ClassifierConfig

  @nn.compact
  def __call__(
    self,
    words: Int[Array, 'rows words'],
    entity: Int[Array, 'rows words'],
    number: Int[Array, 'rows words'],
  ) -> Float[Array, 'rows labels']:
    config = self.config
    places = 2 * REACH + 1
    states = jnp.concatenate(
      [
        nn.Embed(config.vocab, config.embed, name='words')(words),
        nn.Embed(places, config.position, name='entity')(entity),
        nn.Embed(places, config.position, name='number')(number),
      ],
      axis=-1,
    )
    real = (words > 0)[..., None]
    states = jnp.where(real, states, 0)
    if config.kind == 'conv':
      pooled = self._convolve(states)
    else:
      pooled = self._recur(states, real)
    hidden = nn.relu(nn.Dense(2 * config.hidden, name='hidden')(pooled))
    return nn.Dense(config.labels, name='output')(hidden)

  def _convolve(
    self, states: Float[Array, 'rows words embed']
  ) -> Float[Array, 'rows pooled']:
    pooled = [
      nn.relu(self._conv(width)(states)).max(axis=1)
      for width in self.config.widths
    ]
    return jnp.concatenate(pooled, axis=-1)

  def _conv(self, width: int) -> nn.Conv:
    return nn.Conv(self.config.hidden, (width,), name=f'conv{width}')

  def _recur(
    self, states: Float[Array, 'rows words embed'], real: Any
  ) -> Float[Array, 'rows pooled']:
    lengths = real[..., 0].sum(axis=1)
    directions: list[Any] = [
      nn.RNN(
        nn.OptimizedLSTMCell(self.config.hidden),
        reverse=reverse,
        keep_order=True,
        name=name,
      )(states, seq_lengths=lengths)
      for name, reverse in (('forward', False), ('backward', True))
    ]
    both = jnp.concatenate(directions, axis=-1)
    return jnp.where(real, both, -jnp.inf).max(axis=1)


def log_probabilities(
  config: ClassifierConfig, params: Any, features: Any
) -> Float[Array, 'rows labels']:
  """Log probabilities of labels that fit the entity; -inf of the others."""
  logits: Any = Classifier(config).apply(
    {'params': params}, features.words, features.entity, features.number
  )
  return jax.nn.log_softmax(jnp.where(features.allowed, logits, -jnp.inf))
