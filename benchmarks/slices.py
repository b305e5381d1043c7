"""What is the smallest TPU slice that runs each of the paper's systems?

Compiles every program of every run file, for its largest batches, with the real
TPU compiler: no TPU is needed, and no data. A row is written as soon as it is
there, and kept: a benchmark that was stopped goes on with the next one.
"""

import dataclasses
import hashlib
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
from stepwise.models import find_config
from stepwise.pretraining import pretraining_task
from stepwise.realization.training import realizer_task
from stepwise.training import (
  CompiledProgram,
  DryRun,
  TrainConfig,
  TrainingTask,
  dry_run,
  load_gin,
  selector_task,
)

GIN = Path(__file__).parents[1] / 'gin'
RESULT = 'slices.json'
# From small to large; the first that fits is the answer.
SLICES = ('v5e:2x2', 'v5e:2x4', 'v5e:4x4', 'v5e:4x8', 'v5e:8x8')
_PROGRAMS = ('update', 'validation', 'prediction', 'ranking')
# Short ones first, so that a stopped benchmark has most rows.
_FAMILIES = (
  *('bertsum', 'robertasum', 'pointer', 'realizer', 'hibert', 'etcsum'),
  'pretraining',
)


def main(arguments: Sequence[str] = ()) -> None:
  parser = harness.parser('slices', __doc__)
  parser.add_argument('--only', default='', help='part of the name of a file')
  parser.add_argument(
    '--markdown', action='store_true', help='print the table of the results'
  )
  options = parser.parse_args(arguments or sys.argv[1:])
  path = options.out / RESULT
  known = json.loads(path.read_text())['rows'] if path.exists() else {}
  if options.markdown:
    print(markdown(known))
    return
  packages = ['stepwise', 'jax', 'jaxlib', 'flax', 'optax', 'libtpu']
  content = harness.provenance(
    'stepwise bench slices', harness.host_name(), packages
  )
  for name in run_files(quick=options.quick):
    config = read_config(name)
    if options.only not in name or is_current(known.get(name), config):
      continue
    shared = shared_row(config, known)
    row = shared or smallest_slice(config)
    known[name] = {'digest': digest(config), **content, **row}
    harness.write_json(path, {'rows': dict(sorted(known.items()))})
  print(markdown(known))


def run_files(*, quick: bool) -> list[str]:
  """Names of all run files of the paper, or of the two tiny ones."""
  if quick:
    return ['hibert_tiny.gin', 'etcsum_tiny.gin']
  patterns = (
    'cnn_dailymail/*.gin',
    'rotowire/*.gin',
    'pretraining/etc_base*.gin',
  )
  paths = [path for pattern in patterns for path in GIN.glob(pattern)]
  return sorted((str(path.relative_to(GIN)) for path in paths), key=_order)


def _order(name: str) -> tuple[int, bool, str]:
  family = [i for i, part in enumerate(_FAMILIES) if part in name]
  return family[0], 'triblk' in name, name


def read_config(name: str) -> TrainConfig:
  anything = [f'{file}=-' for file in ('TRAIN', 'VALIDATION', 'DOCUMENTS')]
  return load_gin(TrainConfig, [GIN / name], anything)


def digest(config: TrainConfig) -> str:
  """Of everything that a run file says."""
  text = json.dumps(_told(config), sort_keys=True, default=str)
  return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _told(value: Any) -> Any:
  """Without defaults: a setting that is new changes no older row."""
  if not dataclasses.is_dataclass(value):
    return value
  fields = dataclasses.fields(value)
  return {
    field.name: _told(getattr(value, field.name))
    for field in fields
    if getattr(value, field.name) != field.default
  }


def is_current(row: Mapping[str, Any] | None, config: TrainConfig) -> bool:
  return row is not None and row['digest'] == digest(config)


def shared_row(
  config: TrainConfig, known: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any] | None:
  """The row of a run that differs in the blocking of trigrams alone.

  Blocking adds an array of a byte for every pair of units to the search.
  """
  evaluation = config.evaluation
  plain = dataclasses.replace(evaluation.predict, trigram_blocking=False)
  plain_evaluation = dataclasses.replace(evaluation, predict=plain)
  wanted = digest(dataclasses.replace(config, evaluation=plain_evaluation))
  for name, row in known.items():
    if evaluation.predict.trigram_blocking and row['digest'] == wanted:
      return {**row, 'digest': digest(config), 'programs_of': name}
  return None


def make_task(config: TrainConfig) -> TrainingTask:
  model = find_config(config.model.name)
  if model.pretrains:
    return pretraining_task(config)
  return selector_task(config) if model.chooses_units else realizer_task(config)


class _TooSmallError(Exception):
  """A program does not fit: the others need not be compiled."""


def smallest_slice(config: TrainConfig) -> dict[str, Any]:
  """What the run needs on the first slice that it fits."""
  tried: list[dict[str, Any]] = []
  for topology in _slices_of(config):
    started = time.process_time()
    try:
      found = dry_run(config, topology, make_task, _check)
    except _TooSmallError as error:
      tried.append({'topology': topology, 'reason': str(error)})
      continue
    return {
      'topology': topology,
      **describe(found),
      'cpu_seconds': time.process_time() - started,
      'too_small': tried,
    }
  return {'topology': None, 'too_small': tried}


def _slices_of(config: TrainConfig) -> Iterator[str]:
  """Not those with more chips than documents."""
  micro = config.input.batch_size // config.accumulate
  for topology in SLICES:
    rows, columns = map(int, topology.partition(':')[2].split('x'))
    if micro % (rows * columns) == 0:
      yield topology


def _check(program: CompiledProgram) -> None:
  done = program.reason or f'{program.seconds:.0f} s'
  print(f'stepwise: {program.name}: {done}', file=sys.stderr)
  if program.reason:
    raise _TooSmallError(f'{program.name}: {program.reason}')


def describe(found: DryRun) -> dict[str, Any]:
  return {
    'chips': math.prod(found.mesh.values()) // found.chip_devices,
    'mesh': found.mesh,
    'micro_batches': found.accumulate,
    'layout': found.layout,
    'programs': [
      dataclasses.asdict(program) | {'chip_bytes': found.chip_bytes(program)[0]}
      for program in found.programs
    ],
  }


def markdown(rows: Mapping[str, Mapping[str, Any]]) -> str:
  """All run files; what has not been measured says so."""
  lines = [
    '| run file | slice | micro-batches | TFLOP an update | update, GiB a chip'
    ' | validation | prediction | ranking |',
    f'|{" --- |" * (4 + len(_PROGRAMS))}',
  ]
  for name in run_files(quick=False):
    cells = [f'`{name}`', *_cells(rows.get(name))]
    lines.append(f'| {" | ".join(cells)} |')
  return '\n'.join(lines)


def _cells(row: Mapping[str, Any] | None) -> list[str]:
  if row is None:
    return ['not measured', *[''] * (2 + len(_PROGRAMS))]
  if row['topology'] is None:
    largest = row['too_small'][-1]
    none = f'not {largest["topology"]}: {largest["reason"]}'
    return [none, *[''] * (2 + len(_PROGRAMS))]
  programs = {program['name']: program for program in row['programs']}
  return [
    row['topology'],
    f'{row["micro_batches"]}',
    f'{programs["update"]["flops"] / 1e12:,.1f}',
    *(_gib(programs.get(name)) for name in _PROGRAMS),
  ]


def _gib(program: Mapping[str, Any] | None) -> str:
  return f'{program["chip_bytes"] / harness.GIB:.2f}' if program else ''


if __name__ == '__main__':
  main()
