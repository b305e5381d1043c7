"""How many documents per second, against re-encoding long inputs?

  stepwise bench decoding            # everything, about ten minutes
  stepwise bench decoding --quick    # tiny models, no TPU compiler, seconds

Three ways to search plans of 4 units with 3 beams, with random weights, over
documents whose lengths are like those of CNN/DailyMail, in float32:

* bucketed: ours. Documents of similar size are padded to a common size and
  decoded by one program, which encodes what it can only once.
* host loop, buckets: document by document, padded to the same sizes; a loop
  on the host re-encodes everything for every beam and step.
* host loop, full: the same, padded to the paper's sizes: 8192 tokens and 512
  global tokens (ETCSum), 128 sentences of 32 tokens (HiBERT). Slow, so it
  decodes the first few of the documents only.

With the TPU compiler, which needs no TPU: memory and floating point operations
of one step of ETCSum base at the paper's sizes, in bfloat16, on a v5e.
"""

import argparse
import dataclasses
import importlib.util
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
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
  scan_layers,
)
from stepwise.data import Buckets
from stepwise.models import Batch, ETCSumConfig, build_model, find_config

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
    token_budget: of a batch of ours. Small, as one document keeps a CPU busy;
      batches of several would end with empty rows.
    full: the sizes every document is padded to in the paper.
    changes: to the configuration, where those sizes need some.
    documents, full_documents: how many are decoded.
    target: documents per second, as a multiple of the host loop at full size.
  """

  config: str
  buckets: Buckets
  token_budget: int
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
  token_budget=512,
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
  token_budget=2560,
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
  options = _parse(arguments)
  command = f'stepwise bench decoding{" --quick" if options.quick else ""}'
  content = measure(QUICK if options.quick else FULL, command)
  print_report(content)
  options.out.mkdir(parents=True, exist_ok=True)
  harness.write_json(options.out / 'decoding.json', content)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
  parser = argparse.ArgumentParser(
    prog='stepwise bench decoding',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  parser.add_argument('--quick', action='store_true', help='small sizes only')
  parser.add_argument(
    '--out', type=Path, default=harness.RESULTS, help='folder to write to'
  )
  return parser.parse_args(arguments)


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
  """A row for every way to search."""
  records = draw_records(model.documents, mix)
  rows, found = [], {}
  for name, searcher in _searchers(model).items():
    few = records[: model.full_documents] if name == HOST_FULL else records
    row, found[name] = _run(searcher, few)
    same = zip(found[name], found[BUCKETED], strict=False)
    row['same_plans'] = sum(a == b for a, b in same)
    row = {'model': model.config, 'search': name} | row
    print(' '.join(f'{k}={v}' for k, v in row.items()), flush=True)
    rows.append(row)
  return rows


def _searchers(model: Model) -> dict[str, Searcher]:
  config = scan_layers(find_config(model.config))
  full = dataclasses.replace(config, **model.changes)
  variables = random_variables(config)
  return {
    BUCKETED: DeviceSearch(
      config, variables, model.buckets, model.token_budget
    ),
    HOST_BUCKETS: HostSearch(config, variables, model.buckets, fitted=True),
    HOST_FULL: HostSearch(full, variables, model.full, fitted=False),
  }


def _run(
  searcher: Searcher, records: Sequence[Record]
) -> tuple[dict[str, Any], Plans]:
  """Compiles everything, then decodes all documents once, by the clock."""
  searcher.prepare(records)
  compiled = searcher.compilations
  started, worked = time.perf_counter(), time.process_time()
  plans = searcher.search(records)
  seconds = time.perf_counter() - started
  cpu_seconds = time.process_time() - worked
  row = {
    'documents': len(records),
    'tokens': sum(len(record['tokens']) for record in records),
    'seconds': seconds,
    'cpu_seconds': cpu_seconds,
    'documents_per_second': len(records) / seconds,
    'compilations': compiled,
    'recompilations': searcher.compilations - compiled,
  }
  return row, plans


def check_targets(
  model: Model, content: Mapping[str, Any]
) -> list[dict[str, Any]]:
  rows = {
    row['search']: row
    for row in content['host']
    if row['model'] == model.config
  }
  ours = rows[BUCKETED]

  def times_faster_than(other: str) -> float:
    return ours['documents_per_second'] / rows[other]['documents_per_second']

  full, buckets = map(times_faster_than, (HOST_FULL, HOST_BUCKETS))
  again = ours['recompilations']
  return [
    {'model': model.config, 'name': name, 'target': target}
    | {'measured': measured, 'met': met}
    for name, target, measured, met in (
      (HOST_FULL, f'>= {model.target:g} x', full, full >= model.target),
      (HOST_BUCKETS, '>= 1 x', buckets, buckets >= 1),
      ('recompilations', '0', again, again == 0),
    )
  ]


def measure_tpu_step() -> dict[str, Any]:
  """Memory and operations of `score` for one document and all beams."""
  config = find_config('etcsum_base')
  assert isinstance(config, ETCSumConfig)
  encoder = dataclasses.replace(config.encoder, dtype=jnp.dtype(jnp.bfloat16))
  config = dataclasses.replace(config, encoder=encoder)
  model = build_model(config)
  tokens = jax.ShapeDtypeStruct((1, config.document_tokens), jnp.int32)
  valid = jax.ShapeDtypeStruct((1, config.max_global), jnp.bool_)
  plans = jax.ShapeDtypeStruct((1, BEAMS, STEPS), jnp.int32)
  one_plan = jax.ShapeDtypeStruct((1, STEPS), jnp.int32)
  batch = Batch(tokens, tokens, valid, plan=one_plan)
  variables = jax.eval_shape(model.init, jax.random.key(0), batch)

  def step(variables: Any, batch: Batch, plans: jax.Array) -> jax.Array:
    memory = model.apply(variables, batch, method='encode')

    def score(memory: Any, plan: jax.Array) -> jax.Array:
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
