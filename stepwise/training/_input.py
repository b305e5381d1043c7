"""Batches of a run: deterministic by seed, random access, checkpointable.

Batch k is a pure function of the records, the seed and k, so a run that was
killed needs only its position to continue with the very same batches, and
grain can prepare them ahead in threads.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import grain
import numpy as np

from stepwise._errors import InputError
from stepwise.data import (
  Buckets,
  Record,
  batches,
  extractive_example,
  load_records,
  pad_batch,
  stepwise_examples,
)
from stepwise.models import ModelConfig
from stepwise.training._config import InputConfig

Labelled = tuple[Record, tuple[int, ...]]
Example = dict[str, np.ndarray]
Arrays = dict[str, np.ndarray]

_LEAST_BUCKET = 32
_PREFETCH = grain.ReadOptions(num_threads=2, prefetch_buffer_size=4)


def load_labelled(path: str, config: ModelConfig) -> list[Labelled]:
  """All records of a file, checked against the model that is to read them."""
  labelled = list(load_records(path))
  if not labelled:
    raise InputError(f'{path}: empty; at least one record is needed.')
  needed, rows = config.special_units, config.vocab
  for record, _ in labelled:
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
  return labelled


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
  ):
    stepwise = bool(labelled[0][0].special_units)
    sampled = stepwise and mode == 'sample'
    self._single = stepwise and mode != 'all'
    self._learn_steps = learn_steps
    self._labelled: list[Labelled] = []
    self._made: list[Example | None] = []
    for record, oracle in labelled:
      made = [None]
      if not sampled:
        made = _examples(record, oracle, mode, learn_steps)
      self._made += made
      self._labelled += [(record, oracle)] * len(made)
    self.buckets = buckets or _fitting_buckets(labelled)
    longest = 1 + max(len(oracle) for _, oracle in labelled)
    self.steps = steps or min(longest, learn_steps or longest)

  def __len__(self) -> int:
    return len(self._made)

  def draw(self, index: int, rng: np.random.Generator | None = None) -> Example:
    """The example; where a step is to be sampled, `rng` draws it."""
    made = self._made[index]
    if made is not None:
      return made
    return stepwise_examples(
      *self._labelled[index], 'sample', rng, self._learn_steps
    )[0]

  def bucket(self, index: int) -> tuple[int, int]:
    record, _ = self._labelled[index]
    return self.buckets.bucket(len(record.tokens), record.num_units)

  def narrow(self, arrays: Arrays) -> Arrays:
    """Cuts columns that are empty in every batch: each costs a forward pass."""
    narrow = ('targets', 'gains') if self._single else ('plan',)
    cut = {name: arrays[name][:, :1] for name in narrow if name in arrays}
    return arrays | cut


def _examples(
  record: Record, oracle: Sequence[int], mode: Any, learn_steps: int | None
) -> list[Example]:
  if record.special_units:
    return stepwise_examples(record, oracle, mode, learn_steps=learn_steps)
  return [extractive_example(record, oracle)]


def _fitting_buckets(labelled: Sequence[Labelled]) -> Buckets:
  tokens = max(len(record.tokens) for record, _ in labelled)
  units = max(record.num_units for record, _ in labelled)
  return Buckets.geometric(
    _power_of_two(tokens), _power_of_two(units), least=_LEAST_BUCKET
  )


def _power_of_two(least: int) -> int:
  return 1 << (least - 1).bit_length()


class TrainingBatches:
  """Epoch after epoch of shuffled batches, by index.

  Every example comes once an epoch. Batches hold examples of one bucket; the
  last one of a bucket is filled up with empty rows, which weigh nothing.
  """

  def __init__(
    self, examples: Examples, batch_size: int, *, seed: int, length: int
  ):
    self._examples = examples
    self._batch_size = batch_size
    self._seed = seed
    self._length = length
    sizes = [examples.bucket(index) for index in range(len(examples))]
    self._by_bucket = {
      size: np.array([i for i, other in enumerate(sizes) if other == size])
      for size in sorted(set(sizes))
    }
    self._epoch = functools.lru_cache(maxsize=2)(self._plan_epoch)

  @property
  def per_epoch(self) -> int:
    return sum(
      -(-len(group) // self._batch_size) for group in self._by_bucket.values()
    )

  def __len__(self) -> int:
    return self._length

  def __getitem__(self, index: int) -> Arrays:
    epoch, position = divmod(index, self.per_epoch)
    (length, units), chosen = self._epoch(epoch)[position]
    rows = [
      self._examples.draw(i, self._rng(epoch, i)) for i in chosen.tolist()
    ]
    arrays = pad_batch(
      rows,
      length=length,
      units=units,
      steps=self._examples.steps,
      batch=self._batch_size,
    )
    return self._examples.narrow(arrays)

  def _plan_epoch(self, epoch: int) -> list[tuple[tuple[int, int], np.ndarray]]:
    rng = self._rng(epoch)
    plan = [
      (size, part)
      for size, group in self._by_bucket.items()
      for part in _split(rng.permutation(group), self._batch_size)
    ]
    return [plan[i] for i in rng.permutation(len(plan))]

  def _rng(self, *key: int) -> np.random.Generator:
    return np.random.default_rng((self._seed, *key))


def _split(array: np.ndarray, size: int) -> list[np.ndarray]:
  return [array[start : start + size] for start in range(0, len(array), size)]


def training_examples(config: InputConfig, model: ModelConfig) -> Examples:
  """The examples that a run learns from."""
  return Examples(
    load_labelled(config.train, model),
    config.examples,
    config.buckets,
    config.plan_steps,
    config.learn_steps,
  )


def open_batches(
  examples: Examples, config: InputConfig, *, seed: int, steps: int
) -> grain.DatasetIterator[Arrays]:
  """An iterator over batches, with `get_state` and `set_state`."""
  source = TrainingBatches(examples, config.batch_size, seed=seed, length=steps)
  dataset = grain.MapDataset.source(source)
  return iter(dataset.to_iter_dataset(_PREFETCH))


def validation_batches(
  labelled: Sequence[Labelled], mode: str, batch_size: int
) -> Iterator[Arrays]:
  """Every step of every record once, in the order of the file."""
  examples = Examples(labelled, 'steps' if mode == 'steps' else 'all')
  grouped = batches(
    map(examples.draw, range(len(examples))),
    examples.buckets,
    steps=examples.steps,
    batch_size=batch_size,
  )
  return (examples.narrow(batch.arrays) for batch in grouped)
