"""Files of records: one JSON object a line, with everything it needs.

Lines stand alone, so files can be concatenated, shuffled and split with the
usual tools. Unit lengths take the place of `unit_ids`; `oracle` holds indices
among the units of the whole document.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int64

from stepwise._errors import InputError
from stepwise._files import COMPRESSED, open_for_reading, replace_when_done
from stepwise.data._records import Record, unit_ids_of

# Gains are stored as whole multiples of this.
_GAIN_UNIT = 1e-4

LabelledRecord = tuple[Record, tuple[int, ...]]


def save_records(
  path: str | os.PathLike[str], records: Iterable[LabelledRecord]
) -> int:
  """Writes records with their oracle units; returns how many.

  The file appears when it is complete; it is compressed if its name ends in
  `.gz` or `.zst`.
  """
  count = 0
  with replace_when_done(Path(path)) as stream:
    for record, oracle in records:
      stream.write(f'{record_line(record, oracle)}\n'.encode())
      count += 1
  return count


def record_line(record: Record, oracle: Iterable[int]) -> str:
  """The line of a record in a file of them."""
  return json.dumps(_to_json(record, oracle), separators=(',', ':'))


def load_records(
  path: str | os.PathLike[str], *, tokenizer: str | None = None
) -> Iterator[LabelledRecord]:
  """Reads what `save_records` wrote, one record at a time.

  Args:
    path: the file.
    tokenizer: name of the tokeniser that the ids must come from.
  """
  path = Path(path)
  with open_for_reading(path) as stream:
    for number, line in enumerate(stream, start=1):
      record, oracle = _parse(path, number, line)
      if tokenizer not in (None, record.tokenizer):
        raise InputError(
          f'{path}:{number}: made with the tokeniser {record.tokenizer!r}; '
          f'{tokenizer!r} is needed.'
        )
      yield record, oracle


class RecordFiles(Sequence[LabelledRecord]):
  """Records of some files by position; each is read when it is asked for.

  Compressed files have no positions to go to: their records are kept.

  Attributes:
    sizes: `record_sizes` of every record.
  """

  sizes: Int64[np.ndarray, 'records 3']

  def __init__(
    self,
    paths: Sequence[Path],
    check: Callable[[Path, Record], None] = lambda path, record: None,
  ):
    """Reads all files once; `check` may refuse a record."""
    self._paths = list(paths)
    self._kept: dict[int, LabelledRecord] = {}
    where, sizes = [], []
    for number, path in enumerate(self._paths):
      offset = 0
      with open_for_reading(path) as stream:
        for line_number, line in enumerate(stream, start=1):
          record, oracle = _parse(path, line_number, line)
          check(path, record)
          if path.suffix in COMPRESSED:
            self._kept[len(where)] = record, oracle
          where.append((number, line_number, offset, len(line)))
          sizes.append(record_sizes(record, oracle))
          offset += len(line)
    self._where = np.array(where, np.int64).reshape(-1, 4)
    self.sizes = np.array(sizes, np.int64).reshape(-1, 3)

  def __len__(self) -> int:
    return len(self._where)

  def __getitem__(self, index: Any) -> Any:
    if isinstance(index, slice):
      return [self[i] for i in range(len(self))[index]]
    index = range(len(self))[index]
    if index in self._kept:
      return self._kept[index]
    number, line_number, offset, length = self._where[index].tolist()
    with self._paths[number].open('rb') as stream:
      stream.seek(offset)
      return _parse(self._paths[number], line_number, stream.read(length))


def record_sizes(record: Record, oracle: Sequence[int]) -> tuple[int, int, int]:
  """Tokens, units, and those units of the oracle that the record has."""
  last = record.num_units - record.special
  return len(record.tokens), record.num_units, sum(u < last for u in oracle)


def _parse(path: Path, number: int, line: bytes) -> LabelledRecord:
  try:
    return _from_json(json.loads(line))
  except (ValueError, KeyError, TypeError) as error:
    raise InputError(
      f'{path}:{number}: not a record ({error}); such files are written '
      'by `stepwise data build`.'
    ) from error


def _to_json(record: Record, oracle: Iterable[int]) -> dict[str, Any]:
  row = {
    'id': record.id,
    'tokenizer': record.tokenizer,
    'special_units': record.special_units,
    'tokens': record.tokens.tolist(),
    'lengths': np.bincount(record.unit_ids).tolist(),
    'spans': record.spans,
    'units_cut': record.units_cut,
    'units_shortened': record.units_shortened,
    'oracle': [int(unit) for unit in oracle],
  }
  if record.table:
    row['table'] = record.table
  if record.gains is not None:
    row['gains'] = np.round(record.gains / _GAIN_UNIT).astype(int).tolist()
  if record.reference is not None:
    row['reference'] = record.reference.tolist()
  return row


def _from_json(row: dict[str, Any]) -> LabelledRecord:
  if not len(row['tokens']) == sum(row['lengths']):
    raise ValueError('`lengths` do not add up to the number of tokens')
  if not len(row['spans']) == len(row['lengths']):
    raise ValueError('`spans` and `lengths` differ in length')
  record = Record(
    tokens=np.array(row['tokens'], np.int32),
    unit_ids=unit_ids_of(row['lengths']),
    spans=tuple((start, end) for start, end in row['spans']),
    special_units=tuple(row['special_units']),
    units_cut=row['units_cut'],
    units_shortened=row['units_shortened'],
    tokenizer=row['tokenizer'],
    id=row['id'],
    gains=_gains(row),
    reference=_reference(row),
    table=row.get('table', ''),
  )
  return record, tuple(row['oracle'])


def _reference(row: dict[str, Any]) -> np.ndarray | None:
  if 'reference' not in row:
    return None
  return np.array(row['reference'], np.int32)


def _gains(row: dict[str, Any]) -> np.ndarray | None:
  if 'gains' not in row:
    return None
  gains = np.array(row['gains'], np.float32) * np.float32(_GAIN_UNIT)
  if gains.shape[1:] != (len(row['lengths']),):
    raise ValueError('`gains` and `lengths` differ in their units')
  return gains
