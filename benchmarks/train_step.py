"""What is the smallest TPU slice that trains ETCSum base at batch 512?

  stepwise bench train_step --kind v5e   # minutes of the TPU compiler for each
  stepwise bench train_step --kind v3
  stepwise bench train_step --quick      # a tiny model on simulated CPUs

Compiles the update that `stepwise train` runs, for TPUs that need not exist,
with the paper's sizes: 8192 long and 512 global tokens, 512 documents, one
sampled step of each, Adam. Activations are bfloat16, parameters and moments
float32, every layer is recomputed in the backward pass, documents are spread
over a data axis. Two questions for every kind of TPU:

* accumulated: the micro-batches that a slice of one host must sum.
* whole batch, with --whole: the smallest slice on which all 512 documents go
  through at once.

A device is a chip of v5e and one of the two cores of a chip of v3. What does
not fit is an error of the compiler, and is written down as such. Results are
written after every program: each takes minutes.
"""

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
import jax.numpy as jnp
from jax.experimental import topologies
from rich.console import Console
from rich.table import Table

from benchmarks.decoding import encoder_flops
from stepwise.layers import make_mesh
from stepwise.models import Batch, ETCSumConfig
from stepwise.training import (
  ModelSpec,
  OptimizerConfig,
  lower_update,
  make_optimizer,
  make_schedule,
  resolve_model,
)

WHOLE, ACCUMULATED = 'whole batch', 'accumulated'
# Adam as in the paper; its sizes, not its rates, are what counts here.
OPTIMIZER = OptimizerConfig(learning_rate=2.5e-5)
PLAN_SLOTS = 16
# The forward pass twice, and a backward pass of twice its products.
PASSES = 4


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
  config: str
  batch: int
  document_tokens: int
  units: int
  slices: Slices


# Slices of fewer than 32 devices are hopeless with the whole batch: 8 documents
# on a device need 7.6 GB besides the state of 2 GB.
V5E = Slices('v5e', 1, ('v5e:4x8', 'v5e:8x8'), 'v5e:2x2', (8, 4))
V3 = Slices('v3', 2, ('v3:4x4', 'v3:4x8'), 'v3:2x2', (8, 4))
CPU = Slices('cpu', 1, (None,), None, (2,))
PLANS = {
  slices.kind: Plan('etcsum_base', 512, 6141, 504, slices)
  for slices in (V5E, V3)
}
QUICK = Plan('etcsum_tiny', 8, 64, 7, CPU)


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


def describe(plan: Plan, command: str) -> dict[str, Any]:
  """Everything that is written to the results file but the attempts."""
  packages = ['stepwise', 'jax', 'jaxlib', 'flax', 'optax']
  if plan.slices.smallest:
    packages.append('libtpu')
  content = harness.provenance(command, harness.host_name(), packages)
  config = model_config(plan.config)
  return content | {
    'model': plan.config,
    'batch': plan.batch,
    'document_tokens': plan.document_tokens,
    'global_tokens': config.max_global,
    'activations': 'bfloat16',
    'remat': 'every layer',
    'optimizer': dataclasses.asdict(OPTIMIZER),
    'update_flops': PASSES * plan.batch * encoder_flops(config),
    'flops_note': 'matrix products, two forward passes and a backward pass, '
    'computed from the sizes, not the compiler',
    'attempts': [],
  }


def model_config(name: str) -> ETCSumConfig:
  """As `stepwise train` makes it, with one stacked layer.

  A scan over layers compiles twelve times faster, and recomputes every layer
  as a period of one layer does, the last one included.
  """
  config = resolve_model(ModelSpec(name, dtype='bfloat16', remat=True))
  assert isinstance(config, ETCSumConfig)
  return config.with_settings(scan_layers=True)


def attempts(plan: Plan, *, whole: bool) -> Iterator[dict[str, Any]]:
  """A row for every program, until each question has its answer."""
  slices = plan.slices
  for rows in slices.micro_rows:
    accumulate = plan.batch // (len(devices(slices.smallest)) * rows)
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
  if topology is None:
    return jax.devices()[:1]
  return topologies.get_topology_desc(
    platform='tpu', topology_name=topology
  ).devices


def compile_update(plan: Plan, attempt: Attempt) -> dict[str, Any]:
  """Compiles one update; what it needs, or why there is none."""
  slices = plan.slices
  chosen = devices(attempt.topology)
  config = model_config(plan.config)
  schedule = make_schedule(OPTIMIZER, embed=config.encoder.embed, steps=5000)
  row = {
    'kind': slices.kind,
    'goal': attempt.goal,
    'topology': attempt.topology,
    'devices': len(chosen),
    'chips': len(chosen) // slices.chip_devices,
    'mesh': {'data': len(chosen), 'model': 1},
    'accumulate': attempt.accumulate,
    'micro_batch_rows': plan.batch // (len(chosen) * attempt.accumulate),
  }
  started = time.process_time()
  lowered = lower_update(
    config,
    make_optimizer(OPTIMIZER, schedule),
    make_mesh(len(chosen), 1, chosen),
    batch_shapes(plan),
    attempt.accumulate,
  )
  try:
    memory = harness.memory(lowered.compile())
    row |= {'fits': True, **memory}
    row['chip_bytes'] = slices.chip_devices * memory['device_bytes']
  except jax.errors.JaxRuntimeError as error:
    row |= {'fits': False, 'reason': harness.explain(error)}
  row['compiler_cpu_seconds'] = round(time.process_time() - started, 1)
  print(' '.join(f'{k}={v}' for k, v in row.items()), flush=True)
  return row


def batch_shapes(plan: Plan) -> Batch:
  """Documents with a plan and one step to learn, as 'sample' makes them."""

  def shape(columns: int, dtype: Any = jnp.int32) -> Any:
    return jax.ShapeDtypeStruct((plan.batch, columns), dtype)

  return Batch(
    shape(plan.document_tokens),
    shape(plan.document_tokens),
    shape(plan.units, jnp.bool_),
    plan=shape(PLAN_SLOTS),
    targets=shape(1),
  )


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
  console.print(
    f'One update of {content["model"]} at batch {content["batch"]}: '
    f'{content["update_flops"] / 1e15:.2g} PFLOP.'
  )


if __name__ == '__main__':
  main()
