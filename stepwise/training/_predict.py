"""What a trained model chooses, for documents of any size."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Int
from stepwise.data import Buckets, Document, Record, batches, restore_order
from stepwise.decoding import trigram_overlap
from stepwise.models import (
  Batch,
  build_model,
  decode,
  no_repeats,
  select,
)
from stepwise.training._config import PredictConfig
from stepwise.training._models import Selector


class Reading(NamedTuple):
  """A document and what the model reads of it."""

  document: Document
  record: Record


@dataclass(frozen=True)
class Predictor:
  """A model with its parameters.

  Attributes:
    model: its configuration.
    params: its parameters.
    config: how it chooses.
    buckets: sizes of batches; jit compiles once for each.
  """

  model: Selector
  params: Any
  config: PredictConfig
  buckets: Buckets

  def __post_init__(self) -> None:
    begin, never = self.model.begin_unit, self.config.decode.never
    if self.model.stepwise and begin not in never:
      raise InputError(
        f'decode.never is {never}, must have unit {begin}, the BEG of the'
        ' model.'
      )

  def __call__(self, readings: Sequence[Reading]) -> list[list[int]]:
    """Units of every document, in the order of its summary."""
    grouped = batches(
      (reading.record for reading in readings),
      self.buckets,
      steps=1,
      batch_size=self.config.batch_size,
    )
    outputs = []
    for batch in grouped:
      arrays = {k: batch.arrays[k] for k in ('tokens', 'unit_ids', 'valid')}
      overlap = None
      if self.config.trigram_blocking:
        overlap = _overlaps(readings, batch.index, arrays['valid'].shape)
      chosen = _choose(
        build_model(self.model),
        {'params': self.params},
        Batch.of(arrays),
        overlap,
        self.model.stepwise,
        self.config,
      )
      outputs.append((batch.index, np.asarray(chosen)))
    return [
      [int(unit) - reading.record.special for unit in row if unit >= 0]
      for reading, row in zip(readings, restore_order(outputs), strict=True)
    ]


def _overlaps(
  readings: Sequence[Reading], index: np.ndarray, shape: tuple[int, ...]
) -> Bool[np.ndarray, 'batch units units']:
  overlaps = np.zeros((*shape, shape[1]), bool)
  for row, position in enumerate(index):
    if position >= 0:
      document, record = readings[position]
      texts = [''] * record.special + list(document.units)
      size = record.num_units
      overlaps[row, :size, :size] = trigram_overlap(texts[:size])
  return overlaps


@functools.partial(jax.jit, static_argnums=(0, 4, 5))
def _choose(
  model: nn.Module,
  variables: Any,
  batch: Batch,
  overlap: Bool[Array, 'batch units units'] | None,
  stepwise: bool,
  config: PredictConfig,
) -> Int[Array, 'batch chosen']:
  if not stepwise:
    return select(model, variables, batch, config.top_k, overlap)
  constraints = no_repeats(batch.valid, overlap)
  return decode(model, variables, batch, config.decode, constraints).plans[:, 0]
