"""Batches of a run: deterministic by seed, random access, checkpointable.

Batch k is a pure function of the records, the seed and k, so a run that was
killed needs only its position to continue with the very same batches, and
grain can prepare them ahead in threads. Every process makes only the rows that
its devices hold: how many processes there are changes no batch.
"""

import functools
import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import grain
import numpy as np
from etils import epath
from jaxtyping import Int32

from stepwise._errors import InputError
from stepwise._files import temporary_folder
from stepwise.data import (
  Buckets,
  Record,
  RecordFiles,
  extractive_example,
  pad_batch,
  record_sizes,
  stepwise_examples,
)
from stepwise.models import ModelConfig
from stepwise.training._config import InputConfig

Labelled = tuple[Record, tuple[int, ...]]
Example = dict[str, np.ndarray]
Arrays = dict[str, np.ndarray]
# Tokens and units of a batch, and which examples it has.
Planned = tuple[tuple[int, int], np.ndarray]

_PREFETCH = grain.ReadOptions(num_threads=2, prefetch_buffer_size=4)


def load_labelled(
  pattern: str, config: ModelConfig, unit_tokens: int | None = None
) -> Sequence[Labelled]:
  """All records of files, checked against the model that is to read them.

  Args:
    pattern: a file, or `*` and `?` in the names of some; local, or in a bucket.
    config: of the model.
    unit_tokens: most tokens of a unit; None = any number.
  """
  needed, rows = config.special_units, config.vocab

  def check(path: Path, record: Record) -> None:
    if record.special_units != needed:
      raise InputError(
        f'{path}: record {record.id!r} has special units'
        f' {record.special_units}, the model needs {needed}.'
      )
    if record.tokens.max() >= rows:
      raise InputError(
        f'{path}: record {record.id!r} has token {record.tokens.max()} of'
        f' {record.tokenizer!r}, the model has only {rows} rows.'
      )
    longest = int(np.bincount(record.unit_ids).max())
    if unit_tokens is not None and longest > unit_tokens:
      raise InputError(
        f'{path}: record {record.id!r} has a unit of {longest} tokens, but'
        f' unit_tokens is {unit_tokens}: raise it, or build the records with'
        f' --max-unit-tokens {unit_tokens}.'
      )

  labelled = RecordFiles(local_files(pattern), check)
  if not len(labelled):
    raise InputError(f'{pattern}: empty; at least one record is needed.')
  return labelled


def local_files(pattern: str) -> list[Path]:
  """Files that match, in the order of their names; copied from a bucket."""
  if '://' in pattern:
    return list(_copied_files(pattern))
  found = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
  if not found:
    raise InputError(f'{pattern}: no such file.')
  return [Path(name) for name in found]


@functools.cache
def _copied_files(pattern: str) -> tuple[Path, ...]:
  """Once in a process."""
  path = epath.Path(pattern)
  files = sorted(path.parent.glob(path.name))
  if not files:
    raise InputError(f'{pattern}: no such file.')
  folder = temporary_folder()
  for file in files:
    file.copy(folder / file.name)
  return tuple(folder / file.name for file in files)


@runtime_checkable
class BatchSource(Protocol):
  """Examples in groups of one size, that batches are made of."""

  by_bucket: dict[tuple[int, int], np.ndarray]

  def batch(
    self, planned: Planned, rows: np.ndarray, seed: tuple[int, ...] = ()
  ) -> Arrays:
    """Some rows of a batch; those past its examples are empty."""
    ...


class Examples:
  """Examples of labelled records, by index.

  Attributes:
    buckets: sizes that hold all of them.
    steps: slots that hold every plan and all targets.
  """

  def __init__(
    self,
    labelled: Sequence[Labelled],
    mode: str,
    buckets: Buckets | None = None,
    steps: int | None = None,
    learn_steps: int | None = None,
    reference_tokens: int | None = None,
  ):
    sizes = _sizes(labelled)
    stepwise = bool(labelled[0][0].special_units)
    self._labelled = labelled
    self._mode = mode if stepwise else 'all'
    self._stepwise = stepwise
    self._learn_steps = learn_steps
    self._gains = labelled[0][0].gains is not None
    self._reference_tokens = reference_tokens
    if reference_tokens and labelled[0][0].reference is None:
      raise InputError(
        f'reference_tokens is {reference_tokens}, but record'
        f' {labelled[0][0].id!r} has no reference: build records with'
        ' --reference.'
      )
    # The stop is one more step; a set has none.
    learnt = sizes[:, 2] + stepwise
    if stepwise and learn_steps:
      learnt = np.minimum(learnt, learn_steps)
    repeats = learnt if self._mode == 'steps' else np.ones_like(learnt)
    self._record = np.repeat(np.arange(len(labelled)), repeats)
    self._step = np.concatenate([np.arange(count) for count in repeats])
    self.buckets = buckets or Buckets.fitting(map(tuple, sizes[:, :2].tolist()))
    self.steps = steps or max(int(learnt.max()), 1)
    self._check_steps(int(learnt.argmax()), int(learnt.max()))
    self.by_bucket = self._group(sizes)

  def __len__(self) -> int:
    return len(self._record)

  def draw(self, index: int, rng: np.random.Generator | None = None) -> Example:
    """The example; where a step is to be sampled, `rng` draws it."""
    record, oracle = self._labelled[int(self._record[index])]
    if not self._stepwise:
      return extractive_example(record, oracle)
    mode: Any = self._mode
    made = stepwise_examples(record, oracle, mode, rng, self._learn_steps)
    return made[self._step[index]]

  def batch(
    self, planned: Planned, rows: np.ndarray, seed: tuple[int, ...] = ()
  ) -> Arrays:
    """Some rows of a batch; those past its examples are empty."""
    (length, units), chosen = planned
    present = [int(chosen[row]) for row in rows if row < len(chosen)]
    drawn = [self.draw(i, np.random.default_rng((*seed, i))) for i in present]
    arrays = pad_batch(
      drawn,
      length=length,
      units=units,
      steps=self.steps,
      batch=len(rows),
    )
    if self._gains:
      none = np.zeros((len(rows), self.steps, units), np.float32)
      arrays.setdefault('gains', none)
    if self._reference_tokens:
      shape = len(rows), self._reference_tokens
      arrays['reference'] = _pad_references(drawn, shape)
    return _narrow(arrays, self._mode)

  def _group(self, sizes: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """The examples of every bucket, in the order of the records."""
    bucket = functools.lru_cache(maxsize=None)(self.buckets.bucket)
    found = [bucket(tokens, units) for tokens, units, _ in sizes.tolist()]
    buckets = [found[record] for record in self._record]
    return {
      size: np.array([i for i, other in enumerate(buckets) if other == size])
      for size in sorted(set(buckets))
    }

  def _check_steps(self, index: int, needed: int) -> None:
    """Before the first update, not when the record's turn has come."""
    if needed > self.steps:
      raise InputError(
        f'record {self._labelled[index][0].id!r} has {needed} steps but'
        f' plan_steps is {self.steps}: raise it, or learn fewer with'
        ' learn_steps.'
      )


def _pad_references(
  examples: Sequence[Example], shape: tuple[int, int]
) -> Int32[np.ndarray, 'rows pieces']:
  """Beginnings of summaries, -1 where they have ended."""
  padded = np.full(shape, -1, np.int32)
  for row, example in zip(padded, examples, strict=False):
    kept = example['reference'][: shape[1]]
    row[: len(kept)] = kept
  return padded


def _narrow(arrays: Arrays, mode: str) -> Arrays:
  """Cuts columns that are empty in every batch: each costs a forward pass."""
  narrow = ('plan',) if mode == 'all' else ('targets', 'gains')
  cut = {name: arrays[name][:, :1] for name in narrow if name in arrays}
  return arrays | cut


def empty_batch(
  config: InputConfig, size: tuple[int, int], rows: int, *, stepwise: bool
) -> Arrays:
  """A batch of the shapes that a run has, without reading any record."""
  if config.plan_steps is None and config.learn_steps is None:
    raise InputError('without records, InputConfig.plan_steps must be set.')
  length, units = size
  steps = config.plan_steps or config.learn_steps or 1
  arrays = pad_batch([], length=length, units=units, steps=steps, batch=rows)
  if config.reference_tokens:
    arrays['reference'] = _pad_references([], (rows, config.reference_tokens))
  return _narrow(arrays, config.examples if stepwise else 'all')


def _sizes(labelled: Sequence[Labelled]) -> np.ndarray:
  if isinstance(labelled, RecordFiles):
    return labelled.sizes
  return np.array([record_sizes(*pair) for pair in labelled])


class TrainingBatches:
  """Epoch after epoch of shuffled batches, by index.

  Every example comes once an epoch. Batches hold examples of one bucket; the
  last one of a bucket is filled up with empty rows, and weighs less.
  """

  def __init__(
    self,
    examples: BatchSource,
    batch_size: int,
    *,
    seed: int,
    length: int,
    rows: np.ndarray | None = None,
  ):
    """`rows` are those of every batch that this process makes; None = all."""
    self._examples = examples
    self._batch_size = batch_size
    self._seed = seed
    self._length = length
    self._rows = np.arange(batch_size) if rows is None else rows
    self._epoch = functools.lru_cache(maxsize=2)(self._plan_epoch)

  @property
  def per_epoch(self) -> int:
    groups = self._examples.by_bucket.values()
    return sum(-(-len(group) // self._batch_size) for group in groups)

  def __len__(self) -> int:
    return self._length

  def __getitem__(self, index: int) -> Arrays:
    epoch, position = divmod(index, self.per_epoch)
    planned = self._epoch(epoch)[position]
    seed = (self._seed, epoch)
    return self._examples.batch(planned, self._rows, seed)

  def _plan_epoch(self, epoch: int) -> list[Planned]:
    rng = np.random.default_rng((self._seed, epoch))
    plan = [
      (size, part)
      for size, group in self._examples.by_bucket.items()
      for part in _split(rng.permutation(group), self._batch_size)
    ]
    return [plan[i] for i in rng.permutation(len(plan))]


def _split(array: np.ndarray, size: int) -> list[np.ndarray]:
  return [array[start : start + size] for start in range(0, len(array), size)]


def training_examples(config: InputConfig, model: ModelConfig) -> Examples:
  """The examples that a run learns from."""
  labelled = load_labelled(config.train, model, config.unit_tokens)
  return _examples(labelled, config, config.examples)


def validation_examples(
  labelled: Sequence[Labelled], config: InputConfig
) -> Examples:
  """Every step once, in sizes that training has, too.

  A run that samples steps scores one of a document at a time: all at once
  would need as many times its memory.
  """
  mode = 'all' if config.examples == 'all' else 'steps'
  return _examples(labelled, config, mode)


def _examples(
  labelled: Sequence[Labelled], config: InputConfig, mode: str
) -> Examples:
  return Examples(
    labelled,
    mode,
    config.buckets,
    config.plan_steps,
    config.learn_steps,
    config.reference_tokens,
  )


def open_batches(
  examples: BatchSource,
  config: InputConfig,
  *,
  seed: int,
  steps: int,
  rows: np.ndarray | None = None,
) -> grain.DatasetIterator[Arrays]:
  """An iterator over batches, with `get_state` and `set_state`."""
  source = TrainingBatches(
    examples, config.batch_size, seed=seed, length=steps, rows=rows
  )
  dataset = grain.MapDataset.source(source)
  return iter(dataset.to_iter_dataset(_PREFETCH))


def validation_batches(
  examples: BatchSource, batch_size: int, rows: np.ndarray | None = None
) -> Iterator[Arrays]:
  """Every example once, bucket by bucket in the order of the records."""
  rows = np.arange(batch_size) if rows is None else rows
  for size, group in examples.by_bucket.items():
    for part in _split(group, batch_size):
      yield examples.batch((size, part), rows)
