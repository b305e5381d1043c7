"""BERTSum and RoBERTaSum: a flat transformer over the first 512 tokens.

Every unit is written as `[CLS] unit [SEP]`, one after another, and scored from
the state at its `[CLS]` (Liu and Lapata 2019, without segment embeddings). The
stepwise variant appends BEG and the units of the plan in the same form; as
the plan grows, the document loses units at its end.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers import TransformerConfig, TransformerEncoder
from stepwise.models._batch import (
  Batch,
  Spans,
  concatenate_ragged,
  take,
  unit_spans,
)
from stepwise.models._config import (
  Limits,
  ModelConfig,
  PretrainedParts,
  replace_settings,
)
from stepwise.models._scorer import Scorer, with_begin


@dataclass(frozen=True)
class BERTSumConfig(ModelConfig):
  """Sizes of a BERTSum.

  Attributes:
    encoder: a BERT or RoBERTa encoder; its positions bound the input.
    cls, sep: token ids around every unit.
    begin_unit: the unit that opens every summary; None = not stepwise.
  """

  encoder: TransformerConfig
  cls: int
  sep: int
  begin_unit: int | None = None

  @property
  def vocab(self) -> int:
    return self.encoder.vocab

  @property
  def embed(self) -> int:
    return self.encoder.embed

  @property
  def limits(self) -> Limits:
    return Limits(tokens=self.encoder.positions)

  def build(self) -> 'BERTSum':
    return BERTSum(self)

  def twin(self) -> 'BERTSumConfig':
    return replace(self, begin_unit=None)

  def with_settings(self, **settings: Any) -> 'BERTSumConfig':
    return replace(self, encoder=replace_settings(self.encoder, settings))

  def pretrained_parts(self, layers: int) -> PretrainedParts:
    del layers
    return PretrainedParts(
      self.encoder, self.encoder.positions, first_token=self.cls
    )


class BERTSumMemory(NamedTuple):
  """The document; everything else depends on the plan."""

  tokens: Int[Array, 'batch length']
  unit_ids: Int[Array, 'batch length']
  valid: Bool[Array, 'batch units']


class BERTSum(nn.Module):
  """BERTSum or RoBERTaSum, stepwise if there is a `begin_unit`."""

  config: BERTSumConfig

  def setup(self) -> None:
    self.encoder = TransformerEncoder(self.config.encoder)
    self.scorer = Scorer()

  def __call__(self, batch: Batch) -> Float[Array, 'batch units']:
    """Both methods at once, for initialisation."""
    plan = batch.plan if self.config.stepwise else None
    return self.score(self.encode(batch), plan)

  def encode(self, batch: Batch, deterministic: bool = True) -> BERTSumMemory:
    """Keeps the document: the encoder reads it together with the plan."""
    del deterministic
    return BERTSumMemory(batch.tokens, batch.unit_ids, batch.valid)

  def score(
    self,
    memory: BERTSumMemory,
    plan: Int[Array, 'batch steps'] | None = None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch units']:
    """Logits of all units, -inf for those cut away; a twin takes no plan."""
    inputs = flatten_units(memory, plan, self.config)
    states = self.encoder(
      inputs.tokens, inputs.real, deterministic=deterministic
    )
    logits = self.scorer(take(states, inputs.unit_starts))
    return jnp.where(inputs.kept, logits, -jnp.inf)


class FlatInputs(NamedTuple):
  """`[CLS] unit [SEP]` of all units that fit, and where each begins."""

  tokens: Int[Array, 'batch slots']
  real: Bool[Array, 'batch slots']
  kept: Bool[Array, 'batch units']
  unit_starts: Int[Array, 'batch units']


def flatten_units(
  memory: BERTSumMemory,
  plan: Int[Array, 'batch steps'] | None,
  config: BERTSumConfig,
) -> FlatInputs:
  """Writes document, then plan; what does not fit is cut at a whole unit."""
  batch, num_units = memory.valid.shape
  spans = unit_spans(memory.unit_ids, num_units)
  exists = memory.valid & (spans.length > 0)
  document = jnp.broadcast_to(jnp.arange(num_units), (batch, num_units))
  summary = with_begin(plan, config.begin_unit)
  if summary is None:
    summary = jnp.zeros((batch, 0), document.dtype)
  slots = config.encoder.positions
  framed = jnp.where(exists, spans.length + 2, 0)
  summary_lengths = _fitting(
    jnp.where(summary >= 0, take(framed, summary), 0), slots
  )
  room = slots - summary_lengths.sum(axis=1, keepdims=True)
  document_lengths = _fitting(framed, room)
  pieces = jnp.concatenate([document, summary.astype(document.dtype)], axis=1)
  lengths = jnp.concatenate([document_lengths, summary_lengths], axis=1)
  tokens, real = _frame(memory, spans, pieces, lengths, config)
  return FlatInputs(
    tokens,
    real,
    document_lengths > 0,
    jnp.cumsum(document_lengths, axis=1) - document_lengths,
  )


def _fitting(
  lengths: Int[Array, 'batch pieces'], room: Int[Array, 'batch 1'] | int
) -> Int[Array, 'batch pieces']:
  """Lengths of the first pieces that fit together, 0 for the others."""
  return jnp.where(jnp.cumsum(lengths, axis=1) <= room, lengths, 0)


def _frame(
  memory: BERTSumMemory,
  spans: Spans,
  pieces: Int[Array, 'batch pieces'],
  lengths: Int[Array, 'batch pieces'],
  config: BERTSumConfig,
) -> tuple[Int[Array, 'batch slots'], Bool[Array, 'batch slots']]:
  """Tokens of the pieces, each between `[CLS]` and `[SEP]`."""
  # The document, every unit of the plan as long as it, and the delimiters.
  copies = 1 + pieces.shape[1] - memory.valid.shape[1]
  most = copies * memory.tokens.shape[1] + 2 * pieces.shape[1]
  layout = concatenate_ragged(lengths, min(config.encoder.positions, most))
  unit = take(pieces, layout.piece)
  position = take(spans.start, unit) + layout.offset - 1
  tokens = take(memory.tokens, position)
  tokens = jnp.where(layout.offset == 0, config.cls, tokens)
  is_last = layout.offset == take(lengths, layout.piece) - 1
  tokens = jnp.where(is_last, config.sep, tokens)
  return jnp.where(layout.real, tokens, 0), layout.real
