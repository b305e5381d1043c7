"""How many documents per second, against re-encoding long inputs?

  stepwise bench decoding            # everything, about ten minutes
  stepwise bench decoding --quick    # tiny models, no TPU compiler, seconds

Three ways to search plans of 4 units with 3 beams, with random weights, over
documents whose lengths are like those of CNN/DailyMail, in float32:

* bucketed: ours. A document is padded to the next of a few sizes and decoded by
  one program, which encodes what it can only once, and at every step has room
  for the units that can have been chosen by then. One at a time: that keeps a
  CPU busy.
* host loop, buckets: document by document, padded to the same sizes; a loop
  on the host re-encodes everything for every beam and step, by one program for
  the first step and one for the others.
* host loop, full: the same, padded to the paper's sizes: 8192 tokens and 512
  global tokens (ETCSum), 128 sentences of 32 tokens (HiBERT). Slow, so it
  decodes the first few of the documents only.

With the TPU compiler, which needs no TPU: memory and floating point operations
of one step of ETCSum base at the paper's sizes, in bfloat16, on a v5e.
"""

import dataclasses
import importlib.util
import time
from collections.abc import Mapping, Sequence
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

from benchmarks._decoding_search import (
  BEAMS,
  STEPS,
  DeviceSearch,
  HostSearch,
  LengthMix,
  Plans,
  Record,
  draw_records,
  random_variables,
)
from stepwise.data import Buckets
from stepwise.models import Batch, ETCSumConfig, find_config

BUCKETED, HOST_BUCKETS, HOST_FULL = (
  'bucketed',
  'host loop, buckets',
  'host loop, full',
)
Searcher = DeviceSearch | HostSearch


@dataclasses.dataclass(frozen=True)
class Model:
  """What is measured for one model.

  Attributes:
    config: its name.
    buckets: sizes of ours and of the host loop on them.
    full: the sizes every document is padded to in the paper.
    changes: to the configuration, where those sizes need some.
    documents, full_documents: how many are decoded.
    target: documents per second, as a multiple of the host loop at full size.
  """

  config: str
  buckets: Buckets
  full: Buckets
  changes: Mapping[str, Any]
  documents: int
  full_documents: int
  target: float


@dataclasses.dataclass(frozen=True)
class Plan:
  models: Sequence[Model]
  mix: LengthMix
  tpu: bool


ETCSUM = Model(
  'etcsum_mini',
  # Ratios of 1.4 or less; units cost ETCSum little.
  Buckets((328, 456, 600, 760, 960, 1216, 1560, 2000, 2560), (64, 112)),
  full=Buckets((6141,), (512,)),
  changes={'document_tokens': 6141, 'summary_tokens': 2048},
  documents=12,
  full_documents=2,
  target=8,
)
HIBERT = Model(
  'hibert_mini',
  # Units are what costs: the flat tokens are only gathered.
  Buckets((2560,), (16, 24, 32, 40, 48, 64, 80, 112)),
  full=Buckets((128 * 32,), (128,)),
  changes={},
  documents=24,
  full_documents=3,
  target=25,
)
FULL = Plan([ETCSUM, HIBERT], LengthMix(), tpu=True)
QUICK = Plan(
  [
    dataclasses.replace(
      ETCSUM,
      config='etcsum_tiny',
      buckets=Buckets((40, 64), (16,)),
      full=Buckets((128,), (24,)),
      changes={'document_tokens': 128, 'summary_tokens': 64},
      documents=3,
      full_documents=1,
    ),
    dataclasses.replace(
      HIBERT,
      config='hibert_tiny',
      buckets=Buckets((64,), (8, 16)),
      full=Buckets((64,), (24,)),
      documents=3,
      full_documents=1,
    ),
  ],
  LengthMix(mean_tokens=36, spread=0.2, mean_unit=9, max_unit=12),
  tpu=False,
)


def main(arguments: Sequence[str] | None = None) -> None:
  options = harness.parser('decoding', __doc__).parse_args(arguments)
  command = f'stepwise bench decoding{" --quick" if options.quick else ""}'
  content = measure(QUICK if options.quick else FULL, command)
  print_report(content)
  harness.write_json(options.out / 'decoding.json', content)


def measure(plan: Plan, command: str) -> dict[str, Any]:
  """Everything that is written to the results file."""
  packages = ['stepwise', 'jax', 'jaxlib', 'flax', 'numpy']
  has_compiler = importlib.util.find_spec('libtpu') is not None
  if has_compiler:
    packages.append('libtpu')
  content = harness.provenance(command, harness.host_name(), packages)
  content['lengths'] = dataclasses.asdict(plan.mix)
  content['host'] = [
    row for model in plan.models for row in measure_model(model, plan.mix)
  ]
  content['targets'] = [
    row for model in plan.models for row in check_targets(model, content)
  ]
  if plan.tpu and has_compiler:
    content['tpu'] = measure_tpu_step()
  return content


def measure_model(model: Model, mix: LengthMix) -> list[dict[str, Any]]:
  """A row for every way to search.

  Takes turns, document by document: what else the machine does disturbs all
  alike. Everything is compiled before.
  """
  records = draw_records(model.documents, mix)
  runs = {
    name: Run(searcher, records[: _count(model, name)])
    for name, searcher in _searchers(model).items()
  }
  for index in range(len(records)):
    for run in runs.values():
      run.decode(index)
  rows = []
  for name, run in runs.items():
    row = {'model': model.config, 'search': name} | run.row(runs[BUCKETED])
    print(' '.join(f'{k}={v}' for k, v in row.items()), flush=True)
    rows.append(row)
  return rows


def _count(model: Model, search: str) -> int:
  return model.full_documents if search == HOST_FULL else model.documents


def _searchers(model: Model) -> dict[str, Searcher]:
  config: Any = find_config(model.config).with_settings(scan_layers=True)
  full = dataclasses.replace(config, **model.changes)
  variables = random_variables(config)
  return {
    BUCKETED: DeviceSearch(config, variables, model.buckets),
    HOST_BUCKETS: HostSearch(config, variables, model.buckets, fitted=True),
    HOST_FULL: HostSearch(full, variables, model.full, fitted=False),
  }


class Run:
  """One way to search, compiled for its documents, and its clock."""

  def __init__(self, searcher: Searcher, records: Sequence[Record]) -> None:
    searcher.prepare(records)
    self._searcher = searcher
    self._records = records
    self._compilations = searcher.compilations
    self._seconds = self._cpu_seconds = 0.0
    self.plans: Plans = []

  def decode(self, index: int) -> None:
    """Decodes one document, if it is among those to decode."""
    records = self._records[index : index + 1]
    started, worked = time.perf_counter(), time.process_time()
    self.plans += self._searcher.search(records)
    self._seconds += time.perf_counter() - started
    self._cpu_seconds += time.process_time() - worked

  def row(self, ours: 'Run') -> dict[str, Any]:
    same = zip(self.plans, ours.plans, strict=False)
    return {
      'documents': len(self._records),
      'tokens': sum(len(record['tokens']) for record in self._records),
      'seconds': self._seconds,
      'cpu_seconds': self._cpu_seconds,
      'documents_per_second': len(self._records) / self._seconds,
      'compilations': self._compilations,
      'recompilations': self._searcher.compilations - self._compilations,
      'same_plans': sum(a == b for a, b in same),
    }


def check_targets(
  model: Model, content: Mapping[str, Any]
) -> list[dict[str, Any]]:
  rows = {
    row['search']: row
    for row in content['host']
    if row['model'] == model.config
  }
  ours = rows[BUCKETED]

  def against(other: str, target: float) -> dict[str, Any]:
    clock, work = (
      rows[other][unit]
      / rows[other]['documents']
      / (ours[unit] / ours['documents'])
      for unit in ('seconds', 'cpu_seconds')
    )
    return {
      'model': model.config,
      'name': other,
      'target': f'>= {target:g} x',
      'measured': clock,
      # The same by the time of our threads: what else runs does not count.
      'measured_cpu': work,
      'met': clock >= target and work >= target,
    }

  again = ours['recompilations']
  return [
    against(HOST_FULL, model.target),
    against(HOST_BUCKETS, 1),
    {'model': model.config, 'name': 'recompilations', 'target': '0'}
    | {'measured': again, 'met': again == 0},
  ]


def measure_tpu_step() -> dict[str, Any]:
  """Memory and operations of `score` for one document and all beams."""
  config = find_config('etcsum_base')
  assert isinstance(config, ETCSumConfig)
  encoder = dataclasses.replace(config.encoder, dtype=jnp.dtype(jnp.bfloat16))
  config = dataclasses.replace(config, encoder=encoder)
  model = config.build()
  tokens = jnp.zeros((1, config.document_tokens), jnp.int32)
  valid = jnp.zeros((1, config.max_global), bool)
  plans = jnp.zeros((1, BEAMS, STEPS), jnp.int32)
  batch = Batch(tokens, tokens, valid, plan=plans[:, 0])
  variables = jax.eval_shape(model.init, jax.random.key(0), batch)

  def step(variables: Any, batch: Batch, plans: jax.Array) -> Any:
    memory = model.apply(variables, batch, method='encode')

    def score(memory: Any, plan: jax.Array) -> Any:
      return model.apply(variables, memory, plan, method='score')

    return jax.vmap(score, (None, 1), 1)(memory, plans)

  compiled = harness.compile_for(
    harness.tpu_device('v5e:2x4'), step, variables, batch, plans
  )
  return {
    'topology': 'v5e:2x4',
    'config': 'etcsum_base',
    'dtype': 'bfloat16',
    'long_tokens': _long_tokens(config),
    'global_tokens': config.max_global,
    'beams': BEAMS,
    'temporaries': harness.temporaries(compiled),
    'footprint': harness.footprint(compiled),
    'flops': BEAMS * encoder_flops(config),
    'flops_note': 'matrix products, computed from the sizes, not the compiler',
  }


def _long_tokens(config: ETCSumConfig) -> int:
  return config.document_tokens + config.summary_tokens + 3


def encoder_flops(config: ETCSumConfig) -> int:
  """Matrix products of one pass over the full input.

  The compiler's own count takes the body of a loop once, so it is no use.
  Every token has six projections: its query, keys and values for both sides,
  and the output.
  """
  sizes = config.encoder
  long, glob = _long_tokens(config), config.max_global
  projections = 6 * 2 * sizes.embed**2
  feed_forward = 2 * 2 * sizes.embed * sizes.mlp
  per_key = 2 * 2 * sizes.embed
  window = 2 * sizes.pattern.radius + 1
  pairs = long * (window + glob) + glob * (glob + long)
  tokens = long + glob
  layer = tokens * (projections + feed_forward) + pairs * per_key
  return sizes.layers * layer


def print_report(content: Mapping[str, Any]) -> None:
  speeds = Table('model', 'search', 'documents', 'documents/s', 'recompiled')
  for row in content['host']:
    speeds.add_row(
      row['model'],
      row['search'],
      f'{row["documents"]}',
      f'{row["documents_per_second"]:.3g}',
      f'{row["recompilations"]}',
    )
  targets = Table('model', 'against', 'target', 'measured', 'met')
  for row in content['targets']:
    targets.add_row(
      row['model'],
      row['name'],
      row['target'],
      f'{row["measured"]:.3g}',
      'yes' if row['met'] else 'NO',
    )
  console = Console()
  console.print(speeds, targets)
  if step := content.get('tpu'):
    console.print(
      f'One step of {step["config"]}, {step["long_tokens"]} tokens, '
      f'{step["beams"]} beams, {step["topology"]}: '
      f'{step["temporaries"] / 2**20:.0f} MiB temporaries, '
      f'{step["footprint"] / 2**20:.0f} MiB in all, '
      f'{step["flops"] / 1e12:.2f} TFLOPs.'
    )


if __name__ == '__main__':
  main()
