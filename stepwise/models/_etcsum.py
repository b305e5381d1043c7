"""ETCSum: the document and the plan so far, read by one ETC encoder.

The long input is `[CLS] document [SEP] summary [SEP]`, laid out on the device
from the flat tokens of a batch; the summary is BEG and the units of the plan.
Global tokens follow the same order:

  long     [CLS]  document tokens . . . . . .  [SEP]  summary tokens .  [SEP]
  global   S C    one per document unit . .    P S    one per unit      P

S stands for a whole segment and reads all of its tokens, C and P are the
delimiters, and a unit's global token reads the tokens of that unit. Document
and summary are out of each other's local reach, as in a fixed layout with
padding between them: whatever a batch is padded to, the scores are the same.
They meet through the global tokens. Absolute positions, if the encoder has a
table of them, are counted within a segment and start again after its last row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers import (
  ETCConfig,
  ETCEncoder,
  UnitStructure,
  mean_by_unit,
)
from stepwise.models._batch import (
  Batch,
  Ragged,
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

# What other encoders call these settings.
_SETTINGS = {'norm_epsilon': 'epsilon', 'remat': 'remat_period'}


@dataclass(frozen=True)
class ETCSumConfig(ModelConfig):
  """Sizes of an ETCSum; the defaults are the paper's, for news.

  Attributes:
    encoder: the ETC encoder.
    begin_unit: the unit that opens every summary; None = not stepwise: the
      input is `[CLS] document [SEP]` and every unit is scored on its own.
    document_tokens: longer documents lose their last units.
    summary_tokens: longer summaries lose their last units.
    max_global: global tokens; units at the end of the document go without
      one first, then units at the end of the summary.
    pooling: a unit's vector is the long state of its first token, the mean of
      its long states, or the state of its global token.
    segment_globals: have a global token for either segment.
    summary_segment: segment id of the summary; the document's is 1.
    from_end: rows of the encoder's `global_positions` are for units of the
      plan, counted from the last choice back: what was chosen last has row 1 in
      every plan, however long; early choices share the last row, and everything
      else has row 0. Relative labels only tell near tokens apart, and all of
      the document is far from the end of the plan.
    cls, sep: token ids of the delimiters, long and global.
    unit_token, segment_token: ids of global tokens, as ETC was pretrained.
  """

  rereads = True
  encoder: ETCConfig = ETCConfig()
  begin_unit: int | None = 1
  document_tokens: int = 6141
  summary_tokens: int = 2048
  max_global: int = 512
  pooling: str = 'first'
  segment_globals: bool = True
  summary_segment: int = 1
  from_end: bool = False
  cls: int = 101
  sep: int = 102
  unit_token: int = 1
  segment_token: int = 5

  def __post_init__(self) -> None:
    if self.pooling not in ('first', 'mean', 'global'):
      raise InputError(
        f"pooling is {self.pooling!r}, must be 'first', 'mean' or 'global'."
      )
    if self.max_global < 6:
      raise InputError(
        f'max_global is {self.max_global}, must be at least 6: five delimiters'
        ' and segments, and a unit.'
      )
    if self.from_end and self.encoder.global_positions < 2:
      raise InputError(
        f'global_positions of the encoder is {self.encoder.global_positions},'
        ' must be at least 2 for from_end: one for the plan, one for the rest.'
      )

  @property
  def vocab(self) -> int:
    return self.encoder.vocab

  @property
  def embed(self) -> int:
    return self.encoder.embed

  @property
  def limits(self) -> Limits:
    # Every unit has one token at least; BEG is one.
    plan = min(self.summary_tokens, self.max_global) - 1
    return Limits(tokens=self.document_tokens, plan=plan)

  def build(self) -> 'ETCSum':
    return ETCSum(self)

  def build_for(self, unit_tokens: int) -> 'ETCSum':
    return ETCSum(self, unit_tokens)

  def twin(self) -> 'ETCSumConfig':
    return replace(self, begin_unit=None)

  def with_settings(self, **settings: Any) -> 'ETCSumConfig':
    named = {_SETTINGS.get(name, name): v for name, v in settings.items()}
    if 'remat' in settings:
      named['remat_period'] = int(settings['remat'])
    return replace(self, encoder=replace_settings(self.encoder, named))

  def spread_length(self) -> 'ETCSumConfig':
    """The same model, its long axis on the axis `sequence` of a mesh.

    >>> ETCSumConfig().spread_length().encoder.implementation
    'sequence'
    """
    return self.with_settings(implementation='sequence')

  def pretrained_parts(self, layers: int) -> PretrainedParts:
    del layers
    return PretrainedParts(
      self.encoder,
      max(self.encoder.long_positions, self.encoder.global_positions),
      global_local=True,
      first_token=self.cls,
    )


class ETCSumMemory(NamedTuple):
  """The document; everything else depends on the plan."""

  tokens: Int[Array, 'batch length']
  unit_ids: Int[Array, 'batch length']
  valid: Bool[Array, 'batch units']


class ETCSum(nn.Module):
  """Stepwise ETCSum, or its non-stepwise twin if there is no `begin_unit`.

  Attributes:
    config: its sizes.
    unit_tokens: no unit that a plan can have is longer: a plan of k slots gets
      room for BEG and k such units, and no plan, in whatever order and with
      repeats, loses a token. None = room for `summary_tokens`, however few the
      slots.
  """

  config: ETCSumConfig
  unit_tokens: int | None = None

  def setup(self) -> None:
    self.encoder = ETCEncoder(self.config.encoder)
    self.scorer = Scorer()

  def __call__(self, batch: Batch) -> Float[Array, 'batch units']:
    """Both methods at once, for initialisation."""
    plan = batch.plan if self.config.stepwise else None
    return self.score(self.encode(batch), plan)

  def encode(self, batch: Batch, deterministic: bool = True) -> ETCSumMemory:
    """Keeps the document: the encoder reads it together with the plan."""
    del deterministic
    return ETCSumMemory(batch.tokens, batch.unit_ids, batch.valid)

  def score(
    self,
    memory: ETCSumMemory,
    plan: Int[Array, 'batch steps'] | None = None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch units']:
    """Logits of all units, -inf for those cut away; a twin takes no plan."""
    inputs = assemble(memory, plan, self.config, self.unit_tokens)
    long, glob = self.encoder(
      inputs.tokens,
      inputs.global_tokens,
      inputs.structure,
      segments=inputs.segments,
      positions=inputs.positions,
      global_positions=inputs.global_positions,
      deterministic=deterministic,
    )
    logits = self.scorer(self._pool(long, glob, inputs))
    return jnp.where(inputs.kept, logits, -jnp.inf)

  def _pool(
    self,
    long: Float[Array, 'batch length embed'],
    glob: Float[Array, 'batch globals embed'],
    inputs: 'ETCSumInputs',
  ) -> Float[Array, 'batch units embed']:
    if self.config.pooling == 'global':
      return take(glob, inputs.unit_globals)
    if self.config.pooling == 'first':
      return take(long, inputs.unit_starts)
    num_units = inputs.unit_starts.shape[1]
    return mean_by_unit(long, inputs.document_units, num_units)


class ETCSumInputs(NamedTuple):
  """What the encoder reads, and where in it the units of the document are.

  Attributes:
    tokens: the long input.
    global_tokens: the global input.
    structure: who may read whom.
    segments: segment ids of the long input; None = the encoder's default.
    positions: absolute positions; None = the encoder has no table of them.
    global_positions: the same of global tokens; None = as they come.
    kept: units of the document that were not cut away.
    unit_starts: long index of the first token of every unit.
    unit_globals: global index of every unit; too large for units without one.
    document_units: unit of every long token of the document, -1 elsewhere.
  """

  tokens: Int[Array, 'batch length']
  global_tokens: Int[Array, 'batch globals']
  structure: UnitStructure
  segments: Int[Array, 'batch length'] | None
  positions: Int[Array, 'batch length'] | None
  global_positions: Int[Array, 'batch globals'] | None
  kept: Bool[Array, 'batch units']
  unit_starts: Int[Array, 'batch units']
  unit_globals: Int[Array, 'batch units']
  document_units: Int[Array, 'batch length']


def assemble(
  memory: ETCSumMemory,
  plan: Int[Array, 'batch steps'] | None,
  config: ETCSumConfig,
  unit_tokens: int | None = None,
) -> ETCSumInputs:
  """Lays out long and global input from the flat document and the plan."""
  num_units = memory.valid.shape[1]
  spans = unit_spans(memory.unit_ids, num_units)
  length = min(memory.tokens.shape[1], config.document_tokens)
  ends = spans.start + spans.length
  kept = memory.valid & (spans.length > 0) & (ends <= length)
  if unit_tokens is not None and plan is not None:
    room = 1 + plan.shape[1] * unit_tokens  # BEG is one token.
    room = min(room, config.summary_tokens)
    config = replace(config, summary_tokens=room)
  summary = _summary(memory, spans, kept, plan, config)
  indices = _global_indices(kept, summary, config)
  document, document_units = _document(memory, kept, indices, length)
  columns = [
    _delimiter(config.cls, indices.cls, _DOCUMENT),
    document,
    _delimiter(config.sep, indices.document_sep, _SUMMARY),
  ]
  if summary is not None:
    columns += [
      _summary_column(memory, spans, summary, indices),
      _delimiter(config.sep, indices.summary_sep, _END),
    ]
  long = Column(
    *(jnp.concatenate(p, axis=1) for p in zip(*columns, strict=True))
  )
  global_tokens = _global_tokens(indices, num_units, summary, config)
  has_global = jnp.arange(num_units)[None] < indices.document_count
  return ETCSumInputs(
    tokens=long.tokens,
    global_tokens=global_tokens,
    structure=UnitStructure(
      unit_ids=long.owners,
      long_examples=(long.windows >= 0).astype(jnp.int32),
      global_examples=(global_tokens > 0).astype(jnp.int32),
      parent_ids=long.parents,
      window_ids=long.windows,
    ),
    segments=_segments(long.windows, config),
    positions=_positions(columns, config.encoder.long_positions),
    global_positions=_places_from_end(global_tokens, indices, config),
    kept=kept & has_global if config.pooling == 'global' else kept,
    unit_starts=1 + spans.start,
    unit_globals=indices.document + jnp.arange(num_units)[None],
    document_units=jnp.pad(
      document_units,
      ((0, 0), (1, long.tokens.shape[1] - 1 - length)),
      constant_values=-1,
    ),
  )


# Window ids: parts of the long input out of each other's local reach.
_PADDING, _DOCUMENT, _SUMMARY, _END = -1, 0, 1, 2


class Column(NamedTuple):
  """Some columns of the long input."""

  tokens: Int[Array, 'batch slots']
  owners: Int[Array, 'batch slots']
  parents: Int[Array, 'batch slots']
  windows: Int[Array, 'batch slots']


class _Summary(NamedTuple):
  """BEG and the units of the plan, as far as they fit."""

  units: Int[Array, 'batch pieces']
  count: Int[Array, 'batch 1']
  layout: Ragged


class GlobalIndices(NamedTuple):
  """Where global tokens stand; -1 = there is no such token.

  `document` and `summary` are the first of `document_count` and
  `summary_count` tokens of units.
  """

  document_segment: Int[Array, 'batch 1']
  cls: Int[Array, 'batch 1']
  document: Int[Array, 'batch 1']
  document_count: Int[Array, 'batch 1']
  document_sep: Int[Array, 'batch 1']
  summary_segment: Int[Array, 'batch 1']
  summary: Int[Array, 'batch 1']
  summary_count: Int[Array, 'batch 1']
  summary_sep: Int[Array, 'batch 1']


def _summary(
  memory: ETCSumMemory,
  spans: Spans,
  kept: Bool[Array, 'batch units'],
  plan: Int[Array, 'batch steps'] | None,
  config: ETCSumConfig,
) -> _Summary | None:
  units = with_begin(plan, config.begin_unit)
  if units is None:
    return None
  pieces = units.shape[1]
  slots = min(config.summary_tokens, pieces * memory.tokens.shape[1])
  chosen = (units >= 0) & take(kept, units)
  lengths = jnp.where(chosen, take(spans.length, units), 0)
  lengths = jnp.where(jnp.cumsum(lengths, axis=1) <= slots, lengths, 0)
  last = jnp.where(lengths > 0, jnp.arange(1, pieces + 1)[None], 0)
  count = last.max(axis=1, keepdims=True)
  return _Summary(units, count, concatenate_ragged(lengths, slots))


def _global_indices(
  kept: Bool[Array, 'batch units'],
  summary: _Summary | None,
  config: ETCSumConfig,
) -> GlobalIndices:
  """Consecutive indices in the order of the input."""
  wanted = kept.sum(axis=1, keepdims=True)
  none = jnp.full_like(wanted, -1)
  segment = int(config.segment_globals)
  first = none + 1 + segment
  if summary is None:
    count = jnp.minimum(wanted, config.max_global - 2 - segment)
    return GlobalIndices(
      document_segment=first - segment if segment else none,
      cls=first,
      document=first + 1,
      document_count=count,
      document_sep=first + 1 + count,
      summary_segment=none,
      summary=none,
      summary_count=none + 1,
      summary_sep=none,
    )
  room = config.max_global - 3 - 2 * segment
  summary_count = jnp.minimum(summary.count, room)
  count = jnp.minimum(wanted, room - summary_count)
  sep = first + 1 + count
  return GlobalIndices(
    document_segment=first - segment if segment else none,
    cls=first,
    document=first + 1,
    document_count=count,
    document_sep=sep,
    summary_segment=sep + 1 if segment else none,
    summary=sep + 1 + segment,
    summary_count=summary_count,
    summary_sep=sep + 1 + segment + summary_count,
  )


def _document(
  memory: ETCSumMemory,
  kept: Bool[Array, 'batch units'],
  indices: GlobalIndices,
  length: int,
) -> tuple[Column, Int[Array, 'batch slots']]:
  """The document's columns, and the unit of each, -1 = none or cut away."""
  units = memory.unit_ids[:, :length]
  real = (units >= 0) & take(kept, units)
  has_global = real & (units < indices.document_count)
  column = Column(
    memory.tokens[:, :length],
    jnp.where(has_global, indices.document + units, -1),
    jnp.where(real, indices.document_segment, -1),
    jnp.where(real, _DOCUMENT, _PADDING),
  )
  return column, jnp.where(real, units, -1)


def _summary_column(
  memory: ETCSumMemory, spans: Spans, summary: _Summary, indices: GlobalIndices
) -> Column:
  piece, offset, real = summary.layout
  position = take(spans.start, take(summary.units, piece)) + offset
  has_global = real & (piece < indices.summary_count)
  return Column(
    jnp.where(real, take(memory.tokens, position), 0),
    jnp.where(has_global, indices.summary + piece, -1),
    jnp.where(real, indices.summary_segment, -1),
    jnp.where(real, _SUMMARY, _PADDING),
  )


def _delimiter(token: int, owner: Int[Array, 'batch 1'], window: int) -> Column:
  """One token that is of no segment and stands for itself."""
  return Column(
    jnp.full_like(owner, token),
    owner,
    jnp.full_like(owner, -1),
    jnp.full_like(owner, window),
  )


def _global_tokens(
  indices: GlobalIndices,
  num_units: int,
  summary: _Summary | None,
  config: ETCSumConfig,
) -> Int[Array, 'batch globals']:
  """Token ids of the global input, 0 = padding."""
  pieces = 0 if summary is None else summary.units.shape[1]
  index = jnp.arange(min(config.max_global, num_units + pieces + 5))[None]

  def among(first, count):
    return (index >= first) & (index < first + count)

  tokens = jnp.zeros_like(index + indices.cls)
  for where, token in (
    (among(indices.document, indices.document_count), config.unit_token),
    (among(indices.summary, indices.summary_count), config.unit_token),
    (index == indices.cls, config.cls),
    (index == indices.document_sep, config.sep),
    (index == indices.summary_sep, config.sep),
    (index == indices.document_segment, config.segment_token),
    (index == indices.summary_segment, config.segment_token),
  ):
    tokens = jnp.where(where, token, tokens)
  return tokens


def _positions(
  columns: Sequence[Column], rows: int
) -> Int[Array, 'batch length'] | None:
  """Counted from the start of `[CLS] document`, `[SEP] summary` and `[SEP]`.

  What comes after a segment must not depend on how far that is padded.
  """
  if not rows:
    return None
  batch = columns[0].tokens.shape[0]
  widths = [
    sum(column.tokens.shape[1] for column in columns[start : start + 2])
    for start in range(0, len(columns), 2)
  ]
  index = np.concatenate([np.arange(width) % rows for width in widths])
  return jnp.tile(jnp.asarray(index), (batch, 1))


def _places_from_end(
  global_tokens: Int[Array, 'batch globals'],
  indices: GlobalIndices,
  config: ETCSumConfig,
) -> Int[Array, 'batch globals'] | None:
  """1 for the unit that the plan has last, 2 for the one before, else 0."""
  if not config.from_end:
    return None
  index = jnp.arange(global_tokens.shape[1])[None]
  place = indices.summary + indices.summary_count - index
  place = jnp.where(index >= indices.summary, place, 0)
  return jnp.clip(place, 0, config.encoder.global_positions - 1)


def _segments(
  windows: Int[Array, 'batch length'], config: ETCSumConfig
) -> Int[Array, 'batch length'] | None:
  """Segment ids, where the summary's differ from the encoder's default."""
  if config.summary_segment == 1:
    return None
  return jnp.where(windows == _SUMMARY, config.summary_segment, 1)
