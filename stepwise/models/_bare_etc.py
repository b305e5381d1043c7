"""A bare ETC encoder, and what its pretraining asks of it.

A document is read as the non-stepwise ETCSum reads it, so that the encoder goes
from one to the other without a change: `[CLS] document [SEP]`, and a global
token for every unit. Those of hidden units have an id of their own; under hard
g2l they see the masks of their unit, that is what is around it and how long it
is, and other global tokens.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers import Dense, ETCConfig, ETCEncoder, Norm, UnitStructure
from stepwise.models._batch import take, unit_spans
from stepwise.models._config import Limits, ModelConfig, PretrainedParts
from stepwise.models._etcsum import ETCSumConfig, ETCSumMemory, assemble


@dataclass(frozen=True)
class BareETCConfig(ModelConfig):
  """Sizes of a bare encoder.

  Attributes:
    reader: the ETCSum, not a stepwise one, whose encoder it is.
    hidden_token: id of the global token of a hidden unit, as ETC has it.
  """

  reader: ETCSumConfig = ETCSumConfig(begin_unit=None)
  hidden_token: int = 2

  chooses_units = False
  pretrains = True

  def __post_init__(self) -> None:
    if self.reader.stepwise:
      raise InputError(
        f'reader.begin_unit is {self.reader.begin_unit}, must be None: there is'
        ' no plan to read.'
      )

  @property
  def vocab(self) -> int:
    return self.reader.vocab

  @property
  def embed(self) -> int:
    return self.reader.embed

  @property
  def limits(self) -> Limits:
    return Limits(tokens=self.reader.limits.tokens)

  @property
  def global_units(self) -> int:
    """Units that have a global token; those after them have none."""
    return self.reader.max_global - 2 - int(self.reader.segment_globals)

  def build(self) -> 'BareETC':
    return BareETC(self)

  def smallest_inputs(self) -> tuple[Any, ...]:
    one = jnp.zeros((1, 1), jnp.int32)
    return (MaskedBatch(one, one, one == 0, one, one, one, one, one),)

  def with_settings(self, **settings: Any) -> 'BareETCConfig':
    return replace(self, reader=self.reader.with_settings(**settings))

  def pretrained_parts(self, layers: int) -> PretrainedParts:
    return self.reader.pretrained_parts(layers)._replace(fresh=('head',))


class MaskedBatch(NamedTuple):
  """Documents of one bucket, as `stepwise.data.pad_masked` makes them.

  Attributes:
    tokens: of the documents, masked.
    unit_ids: the unit of every token, -1 = padding.
    valid: which units are real.
    masked: positions of tokens to guess, -1 = empty.
    labels: what was there.
    hidden: units to guess, -1 = empty.
    hidden_tokens: what they were, one after another.
    hidden_slots: index among `hidden` of each of these tokens, -1 = padding.
  """

  tokens: Int[Array, 'batch length']
  unit_ids: Int[Array, 'batch length']
  valid: Bool[Array, 'batch units']
  masked: Int[Array, 'batch masked']
  labels: Int[Array, 'batch masked']
  hidden: Int[Array, 'batch hidden']
  hidden_tokens: Int[Array, 'batch slots']
  hidden_slots: Int[Array, 'batch slots']


class Guesses(NamedTuple):
  """What an encoder makes of masked documents.

  Attributes:
    logits: of all tokens at the masked positions.
    contexts: states of the global tokens of hidden units, in their documents.
    units: states that global tokens of the same units have alone.
  """

  logits: Float[Array, 'batch masked vocab']
  contexts: Float[Array, 'batch hidden embed']
  units: Float[Array, 'batch hidden embed']


class BareETC(nn.Module):
  """An ETC encoder with the head of masked tokens."""

  config: BareETCConfig

  def setup(self) -> None:
    sizes = self.config.reader.encoder
    self.encoder = ETCEncoder(sizes)
    self.head = TokenHead(sizes)

  def __call__(self, batch: MaskedBatch, deterministic: bool = True) -> Guesses:
    long, contexts = self._read_documents(batch, deterministic)
    # [CLS] is the first token.
    masked = take(long, batch.masked + 1)
    units = self._read_units(batch, deterministic)
    return Guesses(self.head(masked, self._token_table()), contexts, units)

  def _read_documents(
    self, batch: MaskedBatch, deterministic: bool
  ) -> tuple[
    Float[Array, 'batch long embed'], Float[Array, 'batch hidden embed']
  ]:
    memory = ETCSumMemory(batch.tokens, batch.unit_ids, batch.valid)
    inputs = assemble(memory, None, self.config.reader)
    hidden = take(inputs.unit_globals, batch.hidden)
    hidden = jnp.where(batch.hidden >= 0, hidden, -1)
    index = jnp.arange(inputs.global_tokens.shape[1])[None, None]
    is_hidden = (hidden[:, :, None] == index).any(axis=1)
    long, glob = self.encoder(
      inputs.tokens,
      jnp.where(is_hidden, self.config.hidden_token, inputs.global_tokens),
      inputs.structure,
      segments=inputs.segments,
      positions=inputs.positions,
      deterministic=deterministic,
    )
    return long, take(glob, hidden)

  def _read_units(
    self, batch: MaskedBatch, deterministic: bool
  ) -> Float[Array, 'batch hidden embed']:
    """Units of a document side by side, each of which sees itself alone."""
    reader, slots = self.config.reader, batch.hidden_slots
    count = batch.hidden.shape[1]
    real = batch.hidden >= 0
    index = jnp.arange(1, count + 1)[None]
    _, glob = self.encoder(
      batch.hidden_tokens,
      jnp.where(real, reader.unit_token, 0),
      UnitStructure(slots, slots + 1, jnp.where(real, index, 0)),
      positions=_positions(slots, count, reader.encoder.long_positions),
      deterministic=deterministic,
    )
    return glob

  def _token_table(self) -> Float[Array, 'vocab width']:
    # Boxed while the module is initialised.
    params = nn.unbox(self.encoder.variables['params'])
    return params['embeddings']['tokens']['embedding']


def _positions(
  slots: Int[Array, 'batch slots'], count: int, rows: int
) -> Int[Array, 'batch slots'] | None:
  """As in a document of that unit alone, after [CLS]."""
  if not rows:
    return None
  start = take(unit_spans(slots, count).start, slots)
  return (1 + jnp.arange(slots.shape[1])[None] - start) % rows


class TokenHead(nn.Module):
  """dense -> activation -> norm -> scores against the token table, as BERT."""

  config: ETCConfig

  @nn.compact
  def __call__(
    self,
    states: Float[Array, 'batch masked embed'],
    table: Float[Array, 'vocab width'],
  ) -> Float[Array, 'batch masked vocab']:
    config = self.config
    dense = Dense(
      table.shape[1:],
      ('embed', 'embedding'),
      config.dtype,
      dot_general=config.dot_general,
      name='dense',
    )
    exact = config.activation == 'gelu_exact'
    hidden = nn.gelu(dense(states), approximate=not exact)
    hidden = Norm(config.epsilon, config.dtype, name='norm')(hidden)
    bias: Any = self.param(
      'bias',
      nn.with_logical_partitioning(nn.initializers.zeros_init(), ('vocab',)),
      table.shape[:1],
    )
    logits = config.dot_general(
      hidden,
      table.astype(hidden.dtype),
      (((2,), (1,)), ((), ())),
      preferred_element_type=jnp.promote_types(hidden.dtype, jnp.float32),
    )
    return logits + jax.lax.broadcast(bias, logits.shape[:-1])
