"""What is the smallest TPU slice that trains ETCSum base at batch 512?

  stepwise bench train_step --kind v5e   # minutes of the TPU compiler for each
  stepwise bench train_step --kind v3
  stepwise bench train_step --quick      # a tiny model on simulated CPUs

Compiles the update of `gin/cnn_dailymail/stepwise_etcsum.gin` as `stepwise
train --dry-run` does, for TPUs that need not exist: 8192 long and 512 global
tokens, 512 documents, one sampled step of each, Adam. Activations are bfloat16,
parameters and moments float32, every layer is recomputed in the backward pass,
documents are spread over a data axis. Two questions for every kind of TPU:

* accumulated: the micro-batches that a slice of one host must sum.
* whole batch, with --whole: the smallest slice on which all 512 documents go
  through at once.

A device is a chip of v5e and one of the two cores of a chip of v3. What does
not fit is an error of the compiler, and is written down as such. Results are
written after every program: each takes minutes.
"""

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
from rich.console import Console
from rich.table import Table

from stepwise.training import (
  EvaluationConfig,
  TrainConfig,
  dry_run,
  load_gin,
  topology_devices,
)

WHOLE, ACCUMULATED = 'whole batch', 'accumulated'


@dataclasses.dataclass(frozen=True)
class Slices:
  """Slices of one kind of TPU; a name of None = a CPU of this machine.

  Attributes:
    kind: as it is written to the results.
    chip_devices: devices of a chip.
    whole: slices to try with the whole batch, smallest first.
    smallest: the smallest slice there is.
    micro_rows: documents of a micro-batch on a device to try on it.
  """

  kind: str
  chip_devices: int
  whole: Sequence[str | None]
  smallest: str | None
  micro_rows: Sequence[int]


@dataclasses.dataclass(frozen=True)
class Plan:
  """A run file, what is set besides, and where to try it."""

  gin: str
  slices: Slices
  settings: tuple[str, ...] = ()


# Slices of fewer than 32 devices are hopeless with the whole batch: 8 documents
# on a device need 7.6 GB besides the state of 2 GB.
V5E = Slices('v5e', 1, ('v5e:4x8', 'v5e:8x8'), 'v5e:2x2', (8, 4))
V3 = Slices('v3', 2, ('v3:4x4', 'v3:4x8'), 'v3:2x2', (8, 4))
CPU = Slices('cpu', 1, (None,), None, (2,))
PAPER = 'cnn_dailymail/stepwise_etcsum.gin'
PLANS = {slices.kind: Plan(PAPER, slices) for slices in (V5E, V3)}
QUICK = Plan(
  'etcsum_tiny.gin',
  CPU,
  (
    *('InputConfig.examples=sample', 'Buckets.lengths=(64,)'),
    *('Buckets.units=(7,)', 'InputConfig.plan_steps=4'),
    'MeshConfig.data=1',
  ),
)


@dataclasses.dataclass(frozen=True)
class Attempt:
  """One program to compile.

  Attributes:
    goal: which question it answers.
    topology: the slice.
    accumulate: micro-batches.
  """

  goal: str
  topology: str | None
  accumulate: int


def main(arguments: Sequence[str] | None = None) -> None:
  parser = harness.parser('train_step', __doc__)
  parser.add_argument('--kind', choices=list(PLANS), default='v5e', help='TPU')
  parser.add_argument(
    '--whole', action='store_true', help='also slices for the whole batch'
  )
  options = parser.parse_args(arguments)
  plan = QUICK if options.quick else PLANS[options.kind]
  flags = '--quick' if options.quick else f'--kind {options.kind}'
  flags += ' --whole' if options.whole else ''
  content = describe(plan, f'stepwise bench train_step {flags}')
  for row in attempts(plan, whole=options.whole):
    content['attempts'].append(row)
    name = f'train_step_{plan.slices.kind}.json'
    harness.write_json(options.out / name, content)
  print_report(content)


def run_config(plan: Plan, accumulate: int = 1) -> TrainConfig:
  """The run, without validation: its updates are what is asked about."""
  files = [Path(__file__).parents[1] / 'gin' / plan.gin]
  anything = [f'{name}=-' for name in ('TRAIN', 'VALIDATION', 'DOCUMENTS')]
  config = load_gin(TrainConfig, files, [*anything, *plan.settings])
  return dataclasses.replace(
    config, accumulate=accumulate, evaluation=EvaluationConfig()
  )


def describe(plan: Plan, command: str) -> dict[str, Any]:
  """Everything that is written to the results file but the attempts."""
  packages = ['stepwise', 'jax', 'jaxlib', 'flax', 'optax']
  if plan.slices.smallest:
    packages.append('libtpu')
  content = harness.provenance(command, harness.host_name(), packages)
  config = run_config(plan)
  return content | {
    'gin': plan.gin,
    'model': dataclasses.asdict(config.model),
    'batch': config.input.batch_size,
    'optimizer': dataclasses.asdict(config.optimizer),
    'flops_note': 'matrix products of a forward pass and twice as many of the '
    'backward pass, counted in the traced program, recomputation left out',
    'attempts': [],
  }


def attempts(plan: Plan, *, whole: bool) -> Iterator[dict[str, Any]]:
  """A row for every program, until each question has its answer."""
  slices, batch = plan.slices, run_config(plan).input.batch_size
  for rows in slices.micro_rows:
    accumulate = batch // (len(devices(slices.smallest)) * rows)
    row = compile_update(
      plan, Attempt(ACCUMULATED, slices.smallest, accumulate)
    )
    yield row
    if row['fits']:
      break
  for topology in slices.whole if whole else ():
    row = compile_update(plan, Attempt(WHOLE, topology, 1))
    yield row
    if row['fits']:
      break


def devices(topology: str | None) -> Sequence[Any]:
  return topology_devices(topology) if topology else jax.devices()[:1]


def compile_update(plan: Plan, attempt: Attempt) -> dict[str, Any]:
  """Compiles one update; what it needs, or why there is none."""
  slices, config = plan.slices, run_config(plan, attempt.accumulate)
  started = time.process_time()
  found = dry_run(config, attempt.topology)
  [update] = found.programs
  count = math.prod(found.mesh.values())
  row = {
    'kind': slices.kind,
    'goal': attempt.goal,
    'topology': attempt.topology,
    'devices': count,
    'chips': count // slices.chip_devices,
    'mesh': found.mesh,
    'accumulate': attempt.accumulate,
    'micro_batch_rows': update.rows // (count * attempt.accumulate),
    'update_flops': update.flops,
    'fits': found.fits,
  }
  if update.device_bytes is not None:
    row |= {
      'device_bytes': update.device_bytes,
      'temporary_bytes': update.temporary_bytes,
      'chip_bytes': slices.chip_devices * update.device_bytes,
    }
  else:
    row['reason'] = update.reason
  row['compiler_cpu_seconds'] = round(time.process_time() - started, 1)
  print(' '.join(f'{k}={v}' for k, v in row.items()), flush=True)
  return row


def print_report(content: Mapping[str, Any]) -> None:
  table = Table(
    'slice', 'chips', 'micro-batches', 'rows a device', 'HBM a chip'
  )
  for row in content['attempts']:
    table.add_row(
      row['topology'] or row['kind'],
      f'{row["chips"]}',
      f'{row["accumulate"]}',
      f'{row["micro_batch_rows"]}',
      f'{row["chip_bytes"] / harness.GIB:.2f} GiB'
      if row['fits']
      else row['reason'],
    )
  console = Console()
  console.print(table)
  flops = content['attempts'][-1]['update_flops']
  console.print(
    f'One update of {content["gin"]} at batch {content["batch"]}: '
    f'{flops / 1e15:.2g} PFLOP.'
  )


if __name__ == '__main__':
  main()
