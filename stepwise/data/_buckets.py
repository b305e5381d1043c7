"""Batches of few shapes: records grouped by size, padded to a fixed grid.

jit compiles once for every shape, so batches come in the sizes of a grid and
the last ones of each size are filled up with empty rows.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float32, Int

from stepwise._errors import InputError


@dataclasses.dataclass(frozen=True)
class Buckets:
  """The sizes a batch may have, each ascending.

  Attributes:
    lengths: numbers of tokens.
    units: numbers of units.
  """

  lengths: tuple[int, ...]
  units: tuple[int, ...]

  def __post_init__(self):
    for name, sizes in dataclasses.asdict(self).items():
      if not sizes or sizes[0] < 1 or list(sizes) != sorted(set(sizes)):
        raise InputError(f'{name} is {sizes} but must be positive, ascending')

  @classmethod
  def geometric(
    cls, max_length: int, max_units: int, *, least: int = 8, ratio: float = 2.0
  ) -> 'Buckets':
    """Sizes from the largest down, each `ratio` times smaller, to `least`."""
    if ratio <= 1:
      raise InputError(f'ratio is {ratio} but must be greater than 1')
    return cls(
      lengths=_geometric(max_length, least, ratio),
      units=_geometric(max_units, least, ratio),
    )

  @classmethod
  def fitting(
    cls, sizes: Iterable[tuple[int, int]], *, least: int = 32
  ) -> 'Buckets':
    """Powers of two that hold records of these sizes, tokens and units."""
    lengths, units = zip(*sizes, strict=True)
    return cls.geometric(
      1 << (max(lengths) - 1).bit_length(),
      1 << (max(units) - 1).bit_length(),
      least=least,
    )

  @classmethod
  def single(cls, sizes: Iterable[tuple[int, int]]) -> 'Buckets':
    """One size for records of these sizes, rounded up by a quarter at most."""
    lengths, units = zip(*sizes, strict=True)
    return cls((_round_up(max(lengths)),), (_round_up(max(units)),))

  def bucket(self, length: int, units: int) -> tuple[int, int]:
    """The smallest sizes that hold `length` tokens and `units` units."""
    return (
      _smallest(self.lengths, length, 'tokens'),
      _smallest(self.units, units, 'units'),
    )


@dataclasses.dataclass(frozen=True)
class PaddedRecords:
  """Padded arrays, and the position of every row in the stream of records.

  Attributes:
    arrays: what `pad_batch` makes.
    index: -1 = a row of padding.
  """

  arrays: dict[str, np.ndarray]
  index: Int[np.ndarray, ' batch']


def pad_batch(
  records: Sequence[Any], *, length: int, units: int, steps: int, batch: int
) -> dict[str, np.ndarray]:
  """Stacks records into arrays of the given sizes.

  A record is a mapping or an object with `tokens` and `unit_ids` and, if it has
  them, `plan` and `targets`. Besides these four arrays the result has
  `num_units [batch]` and `valid [batch units]`, True = a real unit, whose shape
  is also what tells a model the number of units. Rows beyond the records are
  empty: no tokens, no units, no plan. If the records have `gains`, so has the
  result: `gains [batch steps units]`.
  """
  if len(records) > batch:
    raise InputError(f'{len(records)} records do not fit {batch} rows')
  arrays = {
    'tokens': np.zeros((batch, length), np.int32),
    'unit_ids': np.full((batch, length), -1, np.int32),
    'plan': np.full((batch, steps), -1, np.int32),
    'targets': np.full((batch, steps), -1, np.int32),
    'num_units': np.zeros(batch, np.int32),
  }
  for row, record in enumerate(records):
    num_tokens, num_units = _sizes(record)
    arrays['num_units'][row] = num_units
    for name in ('tokens', 'unit_ids'):
      _fill(arrays[name][row], _field(record, name)[:num_tokens], name)
    for name in ('plan', 'targets'):
      _fill(arrays[name][row], _chosen(record, name, num_units), name)
  _smallest((units,), int(arrays['num_units'].max(initial=0)), 'units')
  if any(_has_gains(record) for record in records):
    arrays['gains'] = _pad_gains(records, (batch, steps, units))
  arrays['valid'] = np.arange(units)[None] < arrays['num_units'][:, None]
  return arrays


def _has_gains(record: Any) -> bool:
  return isinstance(record, Mapping) and 'gains' in record


def _pad_gains(
  records: Sequence[Any], shape: tuple[int, int, int]
) -> Float32[np.ndarray, 'batch steps units']:
  padded = np.zeros(shape, np.float32)
  for row, record in zip(padded, records, strict=False):
    steps, units = record['gains'].shape
    row[:steps, :units] = record['gains']
  return padded


def batches(
  records: Iterable[Any],
  buckets: Buckets,
  *,
  steps: int,
  batch_size: int,
) -> Iterator[PaddedRecords]:
  """Streams batches of records of similar size, at most one shape per bucket.

  No more records are held than one unfinished batch per bucket; its rows are
  `batch_size`. What is left at the end fills as few batches as can be.
  `restore_order` undoes the grouping.
  """
  if batch_size < 1:
    raise InputError(f'batch_size is {batch_size} but must be positive')
  return _grouped(records, buckets, steps, batch_size)


def restore_order(
  outputs: Iterable[tuple[np.ndarray, Iterable[Any]]],
) -> list[Any]:
  """Rows of all batches in the order of the records, padding left out.

  Args:
    outputs: for every batch its `index` and one result per row.
  """
  placed = [
    (int(position), row)
    for index, rows in outputs
    for position, row in zip(index, rows, strict=True)
    if position >= 0
  ]
  return [row for _, row in sorted(placed, key=lambda pair: pair[0])]


def _round_up(size: int) -> int:
  grain = 1 << max(size.bit_length() - 3, 3)
  return -(-size // grain) * grain


def _geometric(largest: int, least: int, ratio: float) -> tuple[int, ...]:
  sizes = {largest}
  size = largest / ratio
  while size >= least:
    sizes.add(round(size))
    size /= ratio
  return tuple(sorted(sizes))


def _smallest(sizes: Sequence[int], needed: int, name: str) -> int:
  for size in sizes:
    if size >= needed:
      return size
  raise InputError(
    f'a record has {needed} {name} but the largest size is {sizes[-1]}'
  )


def _field(record: Any, name: str) -> np.ndarray:
  if isinstance(record, Mapping):
    value = record.get(name, ())
  else:
    value = getattr(record, name, ())
  return np.asarray(value, np.int32)


def _sizes(record: Any) -> tuple[int, int]:
  """Tokens and units of a record, its own padding left out."""
  tokens, unit_ids = _field(record, 'tokens'), _field(record, 'unit_ids')
  if tokens.shape != unit_ids.shape:
    raise InputError(
      f'a record has {len(tokens)} tokens but {len(unit_ids)} unit_ids'
    )
  return int(np.sum(unit_ids >= 0)), int(unit_ids.max(initial=-1)) + 1


def _chosen(record: Any, name: str, num_units: int) -> np.ndarray:
  """Plan or targets without empty slots."""
  chosen = _field(record, name)
  chosen = chosen[chosen >= 0]
  if chosen.max(initial=-1) >= num_units:
    raise InputError(
      f'{name} has unit {chosen.max()} but the record has {num_units} units'
    )
  return chosen


def _fill(row: np.ndarray, values: np.ndarray, name: str) -> None:
  if len(values) > len(row):
    raise InputError(
      f'{name} of a record has {len(values)} entries but only {len(row)} fit'
    )
  row[: len(values)] = values


def _grouped(
  records: Iterable[Any],
  buckets: Buckets,
  steps: int,
  rows: int,
) -> Iterator[PaddedRecords]:
  waiting = defaultdict(list)
  for position, record in enumerate(records):
    size = buckets.bucket(*_sizes(record))
    waiting[size].append((position, record))
    if len(waiting[size]) == rows:
      yield _batch(waiting.pop(size), size, steps, rows)
  for size, group in _merged(waiting, rows):
    yield _batch(group, size, steps, rows)


_Size = tuple[int, int]
_Group = list[tuple[int, Any]]


def _merged(
  waiting: Mapping[_Size, _Group], rows: int
) -> Iterator[tuple[_Size, _Group]]:
  """Full batches but for the last: large records take small ones along."""
  left = [
    (size, item)
    for size in sorted(waiting, reverse=True)
    for item in waiting[size]
  ]
  for start in range(0, len(left), rows):
    sizes, group = zip(*left[start : start + rows], strict=True)
    lengths, units = zip(*sizes, strict=True)
    yield (max(lengths), max(units)), list(group)


def _batch(
  group: list[tuple[int, Any]], size: tuple[int, int], steps: int, rows: int
) -> PaddedRecords:
  positions, records = zip(*group, strict=True)
  length, units = size
  index = np.full(rows, -1, np.int64)
  index[: len(positions)] = positions
  arrays = pad_batch(
    records, length=length, units=units, steps=steps, batch=rows
  )
  return PaddedRecords(arrays, index)
