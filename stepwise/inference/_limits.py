"""What a model reads of a document, and in which sizes of batches."""

import dataclasses

from stepwise.data import Buckets, Record, RecordOptions, Tokenizer, make_record
from stepwise.documents import Document
from stepwise.models import (
  BERTSumConfig,
  ETCSumConfig,
  HiBERTConfig,
  PointerConfig,
  System,
)

# Whatever chooses units: every model but the realiser, and the baselines.
Chooser = ETCSumConfig | HiBERTConfig | BERTSumConfig | PointerConfig | System

# Sizes of batches where a model sets no limit of its own.
_MAX_TOKENS, _MAX_UNITS, _LEAST = 8192, 512, 32


def special_units(model: Chooser) -> tuple[str, ...]:
  """Names of the special units that its records begin with."""
  if isinstance(model, System) or not model.stepwise:
    return ()
  if model.begin_unit == 1:
    return ('eot', 'beg')
  return ('eos', 'eot', 'beg')


def reading_limits(model: Chooser) -> RecordOptions:
  """How a model's records are cut when a document is longer than it reads."""
  special = special_units(model)
  match model:
    case System():
      return RecordOptions(special)
    case ETCSumConfig():
      return RecordOptions(special, max_tokens=model.document_tokens)
    case BERTSumConfig():
      return RecordOptions(special, max_tokens=model.encoder.positions)
    case PointerConfig():
      return RecordOptions(special, max_unit_tokens=model.max_unit_tokens - 1)
  max_units = model.encoder.document_positions or None
  if model.encoder.window:
    return RecordOptions(special, max_units=max_units, max_tokens=_MAX_TOKENS)
  return RecordOptions(
    special, max_units=max_units, max_unit_tokens=model.max_unit_tokens - 1
  )


def read_document(
  document: Document, tokenizer: Tokenizer, model: Chooser
) -> Record:
  """The record of a document, cut to what the model reads of it."""
  limits = dataclasses.asdict(reading_limits(model))
  if limits['max_unit_tokens'] is None:
    limits['max_tokens'] = limits['max_tokens'] or _MAX_TOKENS
  limits['max_units'] = limits['max_units'] or _MAX_UNITS
  return make_record(document, tokenizer, **limits)


def longest_plan(model: Chooser) -> int | None:
  """Units that a plan can have; None if the model sets no limit."""
  if isinstance(model, HiBERTConfig) and model.stepwise:
    # One position is that of BEG.
    return model.encoder.summary_positions - 1
  return None


def inference_buckets(model: Chooser) -> Buckets:
  """Sizes that hold whatever the model reads."""
  limits = reading_limits(model)
  units = limits.max_units or _MAX_UNITS
  unit_tokens = limits.max_unit_tokens
  tokens = limits.max_tokens or (
    units * unit_tokens if unit_tokens else _MAX_TOKENS
  )
  sizes = Buckets.geometric(tokens, units, least=_LEAST)
  if not isinstance(model, HiBERTConfig):
    return sizes
  if model.encoder.window:
    # Its work is that of its windows.
    least = model.encoder.window
    lengths = Buckets.geometric(tokens, units, least=least, ratio=1.5).lengths
    rounded = {-(-length // least) * least for length in (least, *lengths)}
    return Buckets(tuple(sorted(rounded)), sizes.units)
  # Its work depends on units alone: more lengths would only be compiled.
  return Buckets(sizes.lengths[-1:], sizes.units)
