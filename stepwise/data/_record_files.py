"""Files of records: one JSON object a line, with everything it needs.

Lines stand alone, so files can be concatenated, shuffled and split with the
usual tools. Unit lengths take the place of `unit_ids`; `oracle` holds indices
among the units of the whole document.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stepwise._errors import InputError
from stepwise._files import open_for_reading, replace_when_done
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
      line = json.dumps(_to_json(record, oracle), separators=(',', ':'))
      stream.write(line.encode() + b'\n')
      count += 1
  return count


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
      try:
        record, oracle = _from_json(json.loads(line))
      except (ValueError, KeyError, TypeError) as error:
        raise InputError(
          f'{path}:{number}: not a record ({error}); such files are written '
          'by `stepwise data build`.'
        ) from error
      if tokenizer not in (None, record.tokenizer):
        raise InputError(
          f'{path}:{number}: made with the tokeniser {record.tokenizer!r}; '
          f'{tokenizer!r} is needed.'
        )
      yield record, oracle


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
  if record.gains is not None:
    row['gains'] = np.round(record.gains / _GAIN_UNIT).astype(int).tolist()
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
  )
  return record, tuple(row['oracle'])


def _gains(row: dict[str, Any]) -> np.ndarray | None:
  if 'gains' not in row:
    return None
  gains = np.array(row['gains'], np.float32) * np.float32(_GAIN_UNIT)
  if gains.shape[1:] != (len(row['lengths']),):
    raise ValueError('`gains` and `lengths` differ in their units')
  return gains
