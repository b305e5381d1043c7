"""Pretraining a bare encoder, as a task of `stepwise.training`."""

from pathlib import Path

import grain
import numpy as np

from stepwise._errors import InputError
from stepwise._typing import Array, Int
from stepwise.data import (
  Buckets,
  MaskedSizes,
  Record,
  RecordFiles,
  WordPieces,
  load_tokenizer,
  mask_record,
  pad_masked,
  word_pieces,
)
from stepwise.models import BareETCConfig, MaskedBatch
from stepwise.pretraining._losses import pretraining_loss
from stepwise.training import (
  Arrays,
  Planned,
  PretrainingConfig,
  TrainConfig,
  TrainingTask,
  Validation,
  local_files,
  open_batches,
  resolve_model,
  validation_batches,
)


def row_tokens(batch: MaskedBatch) -> Int[Array, ' batch']:
  """Real tokens of every document; a row without any is empty."""
  return (batch.unit_ids >= 0).sum(axis=1)


def pretraining_task(config: TrainConfig) -> TrainingTask:
  """Pretraining on records of `stepwise data build`; oracles do not matter."""
  model = resolve_model(config.model)
  if not isinstance(model, BareETCConfig):
    raise InputError(f'{config.model.name} is no bare encoder to pretrain.')
  options = config.pretraining or PretrainingConfig()
  module = model.build()
  loss = pretraining_loss(module, options.mlm_weight, options.cpc_weight)

  def examples(pattern: str) -> 'MaskedExamples':
    return MaskedExamples(pattern, model, options, config.input.buckets)

  def open_input(rows: np.ndarray) -> grain.DatasetIterator[Arrays]:
    return open_batches(
      examples(config.input.train),
      config.input,
      seed=config.seed,
      steps=config.steps,
      rows=rows,
    )

  def open_validation() -> Validation | None:
    if config.evaluation.validation is None:
      return None
    found, size = (
      examples(config.evaluation.validation),
      config.validation_batch,
    )
    return Validation(lambda rows: validation_batches(found, size, rows))

  def empty(size: tuple[int, int], rows: int) -> Arrays:
    sizes = options.masking.sizes(*size)
    length, units = size
    return pad_masked([], length=length, units=units, sizes=sizes, batch=rows)

  return TrainingTask(
    model=model,
    module=module,
    embed=model.embed,
    loss=loss,
    dummy=model.smallest_inputs,
    batch=MaskedBatch,
    tokens=row_tokens,
    empty=empty,
    open_input=open_input,
    open_validation=open_validation,
  )


class MaskedExamples:
  """Masked documents by index, drawn anew whenever the seed is another.

  Attributes:
    by_bucket: documents of every size of batches.
  """

  def __init__(
    self,
    pattern: str,
    model: BareETCConfig,
    options: PretrainingConfig,
    buckets: Buckets | None = None,
  ):
    tokenizer = load_tokenizer(options.masking.tokenizer)
    self._words: WordPieces = word_pieces(tokenizer)
    self._masking = options.masking
    self._max_unit = model.global_units
    self._records = RecordFiles(
      local_files(pattern),
      lambda path, record: _check(path, record, model, tokenizer.name),
    )
    self.by_bucket = self._group(pattern, model, buckets)

  def batch(
    self, planned: Planned, rows: np.ndarray, seed: tuple[int, ...] = ()
  ) -> Arrays:
    """Some rows of a batch; those past its documents are empty."""
    (length, units), chosen = planned
    sizes = self._masking.sizes(length, units)
    present = [int(chosen[row]) for row in rows if row < len(chosen)]
    return pad_masked(
      [self._draw(index, sizes, seed) for index in present],
      length=length,
      units=units,
      sizes=sizes,
      batch=len(rows),
    )

  def _draw(
    self, index: int, sizes: MaskedSizes, seed: tuple[int, ...]
  ) -> dict[str, np.ndarray]:
    record, _ = self._records[index]
    rng = np.random.default_rng((*seed, index))
    return mask_record(
      record, self._words, self._masking, sizes, rng, self._max_unit
    )

  def _group(
    self, pattern: str, model: BareETCConfig, buckets: Buckets | None
  ) -> dict[tuple[int, int], np.ndarray]:
    sizes = self._records.sizes
    special = self._records[0][0].special if len(self._records) else 0
    least = self._masking.min_units + special
    kept = np.flatnonzero(sizes[:, 1] >= least)
    if not len(kept):
      raise InputError(
        f'{pattern} has no record of {self._masking.min_units} units, which'
        ' Masking.min_units asks for.'
      )
    pairs = [(tokens, units) for tokens, units, _ in sizes[kept].tolist()]
    buckets = buckets or Buckets.fitting(pairs)
    longest, limit = max(pairs)[0], model.limits.tokens
    if limit is not None and longest > limit:
      raise InputError(
        f'{pattern} has a record of {longest} tokens, the model reads {limit}:'
        ' build the records with --max-tokens.'
      )
    found = [buckets.bucket(*pair) for pair in pairs]
    return {
      size: kept[[other == size for other in found]]
      for size in sorted(set(found))
    }


def _check(
  path: Path, record: Record, model: BareETCConfig, tokenizer: str
) -> None:
  if record.tokens.max() >= model.vocab:
    raise InputError(
      f'{path}: record {record.id!r} has token {record.tokens.max()} of'
      f' {record.tokenizer!r}, the model has only {model.vocab} rows.'
    )
  if record.tokenizer not in ('', tokenizer):
    raise InputError(
      f'{path}: record {record.id!r} was made with {record.tokenizer!r}, words'
      f' are looked up in {tokenizer!r}: set Masking.tokenizer.'
    )
