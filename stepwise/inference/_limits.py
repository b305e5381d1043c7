"""What a model reads of a document, and in which sizes of batches."""

import dataclasses

from stepwise.data import Buckets, Record, RecordOptions, Tokenizer, make_record
from stepwise.documents import Document
from stepwise.models import ModelConfig

# Sizes of batches where a model sets no limit of its own.
_MAX_TOKENS, _MAX_UNITS = 8192, 512


def reading_limits(model: ModelConfig) -> RecordOptions:
  """How a model's records are cut when a document is longer than it reads."""
  limits = model.limits
  return RecordOptions(
    model.special_units,
    max_units=limits.units,
    max_tokens=limits.tokens,
    max_unit_tokens=limits.unit_tokens,
  )


def read_document(
  document: Document,
  tokenizer: Tokenizer,
  model: ModelConfig,
  *,
  reference: bool = False,
) -> Record:
  """The record of a document, cut to what the model reads of it.

  Args:
    document: at least one unit.
    tokenizer: of the model.
    model: its configuration.
    reference: keep the pieces of the summary, too.
  """
  limits = dataclasses.asdict(reading_limits(model))
  if limits['max_unit_tokens'] is None:
    limits['max_tokens'] = limits['max_tokens'] or _MAX_TOKENS
  limits['max_units'] = limits['max_units'] or _MAX_UNITS
  limits['reference'] = reference
  return make_record(document, tokenizer, **limits)


def inference_buckets(model: ModelConfig) -> Buckets:
  """Sizes that hold whatever the model reads."""
  limits = model.limits
  units = limits.units or _MAX_UNITS
  tokens = limits.tokens or (
    units * limits.unit_tokens if limits.unit_tokens else _MAX_TOKENS
  )
  return make_buckets(model, tokens, units)


def make_buckets(model: ModelConfig, tokens: int, units: int) -> Buckets:
  """Sizes up to these, as they suit the model."""
  sizes = model.batch_sizes
  grid = Buckets.geometric(tokens, units, least=sizes.least, ratio=sizes.ratio)
  lengths = grid.lengths[-1:]
  if not sizes.one_length:
    lengths = min(sizes.least, tokens), *grid.lengths
  grain = sizes.multiple
  rounded = {-(-length // grain) * grain for length in lengths}
  counts = Buckets.geometric(tokens, units, least=sizes.least_units).units
  return Buckets(tuple(sorted(rounded)), counts)
