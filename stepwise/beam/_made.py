"""What is made of a part: lines of an output file, bad lines, counts."""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any

from stepwise._errors import InputError
from stepwise._extras import needs
from stepwise._files import COMPRESSED, compress
from stepwise.beam._parts import Part
from stepwise.beam._storage import write_json, write_whole
from stepwise.documents import BadLine

# Types of the columns of Parquet files: all files of an output have the same.
_WHOLE, _TEXT, _REAL = 'int64', 'string', 'double'
COLUMNS: dict[str, dict[str, Any]] = {
  'oracles': {
    'id': _TEXT,
    'line': _WHOLE,
    'oracle': [_WHOLE],
    'rouge': {'rouge1': _REAL, 'rouge2': _REAL, 'rougeLsum': _REAL},
  },
  'records': {
    'id': _TEXT,
    'tokenizer': _TEXT,
    'special_units': [_TEXT],
    'tokens': [_WHOLE],
    'lengths': [_WHOLE],
    'spans': [[_WHOLE]],
    'units_cut': _WHOLE,
    'units_shortened': _WHOLE,
    'oracle': [_WHOLE],
    'table': _TEXT,
    'gains': [[_WHOLE]],
  },
  'summaries': {
    'line': _WHOLE,
    'id': _TEXT,
    'units': [_WHOLE],
    'summary': [_TEXT],
    'warnings': [_TEXT],
    'error': _TEXT,
  },
  'plans': {
    'id': _TEXT,
    'planner': _TEXT,
    'plan': [[[_TEXT]]],
    'choices': [
      {
        'entity': _TEXT,
        'value': _TEXT,
        'type': _TEXT,
        'score': _REAL,
        'reasons': [_TEXT],
      }
    ],
    'warnings': [_TEXT],
  },
}


@dataclass(frozen=True)
class Made:
  """Lines that were made of a part, and what was not.

  Attributes:
    part: of the input.
    kind: of lines, a name in `COLUMNS`.
    lines: JSON, in the order of the input.
    bad: lines of the input that nothing was made of.
    counts: of what happened, to be added up.
    error: a mistake that ends the job; then there are no lines.
  """

  part: Part
  kind: str
  lines: tuple[str, ...] = ()
  bad: tuple[BadLine, ...] = ()
  counts: dict[str, int] = field(default_factory=dict)
  error: str = ''


def split_name(target: str) -> tuple[str, str]:
  """The name of an output before and after the number of a file.

  >>> split_name('gs://archive/out.jsonl.gz')
  ('gs://archive/out', '.jsonl.gz')
  """
  name = PurePosixPath(target.rpartition('/')[2])
  suffixes = name.suffixes[-2:]
  if suffixes and suffixes[-1] not in COMPRESSED:
    suffixes = suffixes[-1:]
  ending = ''.join(suffixes)
  if ending.removesuffix('.gz').removesuffix('.zst') not in (
    '.jsonl',
    '.ndjson',
    '.parquet',
  ) or ending.startswith('.parquet.'):
    raise InputError(
      f'{target}: the name must end in .jsonl, perhaps compressed (.jsonl.gz, '
      '.jsonl.zst), or in .parquet.'
    )
  return target.removesuffix(ending), ending


def write_made(made: Made, folder: str, ending: str) -> str:
  """Writes lines, then a file that says that they are all there."""
  name = f'{folder}/{made.part.name}'
  if not made.error:
    write_whole(f'{name}{ending}', _encode(made, ending))
  write_json(
    f'{name}.json',
    {
      'lines': len(made.lines),
      'bad': [asdict(line) for line in made.bad],
      'counts': made.counts,
      'error': made.error,
    },
  )
  return made.part.name


def _encode(made: Made, ending: str) -> bytes:
  if ending == '.parquet':
    return _parquet(made.kind, made.lines)
  data = ''.join(f'{line}\n' for line in made.lines).encode()
  return compress(f'lines{ending}', data)


def _parquet(kind: str, lines: Sequence[str]) -> bytes:
  with needs('tables', 'a Parquet file'):
    import pyarrow
    from pyarrow import parquet
  schema = pyarrow.schema(
    [(name, _type(pyarrow, each)) for name, each in COLUMNS[kind].items()]
  )
  rows = [json.loads(line) for line in lines]
  stream = io.BytesIO()
  parquet.write_table(pyarrow.Table.from_pylist(rows, schema), stream)
  return stream.getvalue()


def _type(pyarrow: Any, described: Any) -> Any:
  if isinstance(described, list):
    return pyarrow.list_(_type(pyarrow, described[0]))
  if isinstance(described, dict):
    return pyarrow.struct(
      [(name, _type(pyarrow, each)) for name, each in described.items()]
    )
  return pyarrow.type_for_alias(described)
