"""What do time and memory of long attention cost, against what JAX offers?

  stepwise bench attention              # everything, about ten minutes
  stepwise bench attention --quick      # small sizes, no TPU compiler, seconds
  stepwise bench attention --tpu        # only what the TPU compiler tells
  stepwise bench attention --sequence   # the long axis over chips of a slice
  stepwise bench attention --markdown   # README tables from the last results

Measures one layer of 12 heads of 64 with 512 global tokens and radius 84:

* on this machine, in float32 (bfloat16 is emulated on CPUs): wall time and
  compiled temporaries of the forward pass and of the gradient;
* with the TPU compiler, in bfloat16: HBM temporaries of the gradient on one
  device of a slice, and the bytes it moves. No TPU is needed, and the numbers
  have no noise. Peers that are installed (`pip install tokamax
  ringattention`) are compiled too.
"""

import argparse
import dataclasses
import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
import jax.numpy as jnp

from benchmarks import _sequence as sequence
from benchmarks._attention_report import (
  check_targets,
  markdown,
  plot,
  print_report,
  sequence_markdown,
  update_readme,
)
from benchmarks._attention_systems import (
  PASSES,
  SYSTEMS,
  TPU_SYSTEMS,
  Problem,
  Sizes,
  draw_problem,
  gradient,
  problem_shapes,
)
from benchmarks._kernel_traffic import kernel_traffic


@dataclasses.dataclass(frozen=True)
class Plan:
  """What to measure, and when to give up."""

  sizes: Sizes
  host_lengths: Sequence[int]
  tpu_lengths: Sequence[int]
  memory: float
  seconds: float
  repeats: int


FULL = Plan(
  Sizes(),
  host_lengths=[2**power for power in range(9, 16)],
  tpu_lengths=[8192, 32768],
  memory=20 * harness.GIB,
  seconds=120,
  repeats=3,
)
QUICK = Plan(
  Sizes(globals=8, heads=2, dim=8, radius=5),
  host_lengths=[128],
  tpu_lengths=[],
  memory=harness.GIB,
  seconds=5,
  repeats=1,
)


def main(arguments: Sequence[str] | None = None) -> None:
  parser = harness.parser('attention', __doc__)
  parser.add_argument(
    '--memory-gib', type=float, help='skip what needs more (default: 20)'
  )
  parser.add_argument(
    '--markdown', action='store_true', help='only write the README tables'
  )
  parser.add_argument(
    '--tpu', action='store_true', help='only the TPU compiler, no times'
  )
  parser.add_argument(
    '--sequence', action='store_true', help='only the long axis over chips'
  )
  options = parser.parse_args(arguments)
  if options.sequence:
    measure_sequence(options.out)
    return
  if options.markdown:
    for name, text in readme_sections(options.out).items():
      update_readme(name, text)
    return
  plan = QUICK if options.quick else FULL
  if options.memory_gib:
    memory = options.memory_gib * harness.GIB
    plan = dataclasses.replace(plan, memory=memory)
  path = options.out / 'attention.json'
  if options.tpu:
    content = measure_tpu_again(plan, path)
  else:
    content = measure(plan, _command(options))
  print_report(content)
  harness.write_json(path, content)
  plot(content, options.out / 'attention.png')


def readme_sections(results: Path) -> dict[str, str]:
  """Texts of the README by the names of their marks, from stored results."""
  made = {'attention': markdown, 'attention_sequence': sequence_markdown}
  stored = {name: results / f'{name}.json' for name in made}
  return {
    name: made[name](json.loads(path.read_text(encoding='utf-8')))
    for name, path in stored.items()
    if path.exists()
  }


def measure_tpu_again(plan: Plan, path: Path) -> dict[str, Any]:
  """Stored results with those rows of the TPU compiler that they lack.

  Every row is written at once and names its commit; a row that is removed from
  the file is measured anew.
  """
  content = json.loads(path.read_text(encoding='utf-8'))
  found = harness.provenance(
    'stepwise bench attention --tpu', 'TPU compiler', _packages()
  )
  content['tpu_run'] = found
  for row in measure_tpu(plan.sizes, plan.tpu_lengths, content['tpu']):
    content['tpu'].append(row | {'commit': found['commit']})
    content['targets'] = check_targets(content)
    harness.write_json(path, content)
  return content


def measure_sequence(out: Path) -> None:
  """Slices of growing size, each row written at once: one takes minutes.

  Rows that the file has already are kept, with the commit they are of.
  """
  command = 'stepwise bench attention --sequence'
  path = out / 'attention_sequence.json'
  content = harness.provenance(command, 'TPU compiler', _packages())
  rows = (
    json.loads(path.read_text(encoding='utf-8'))['rows']
    if path.exists()
    else []
  )
  for program in sequence.programs():
    if any(program.key.items() <= row.items() for row in rows):
      continue
    row = sequence.measure(program) | {'commit': content['commit']}
    rows.append(row)
    _log(row)
    harness.write_json(path, content | {'rows': rows})


def _command(options: argparse.Namespace) -> str:
  quick = ' --quick' if options.quick else ''
  memory = f' --memory-gib {options.memory_gib:g}' if options.memory_gib else ''
  return f'stepwise bench attention{quick}{memory}'


def measure(plan: Plan, command: str) -> dict[str, Any]:
  """Everything that is written to the results file."""
  content = harness.provenance(command, harness.host_name(), _packages()) | {
    'sizes': dataclasses.asdict(plan.sizes)
  }
  content['tpu'] = [
    row | {'commit': content['commit']}
    for row in measure_tpu(plan.sizes, plan.tpu_lengths)
  ]
  content['host'] = measure_host(plan)
  content['targets'] = check_targets(content)
  return content


def _packages() -> list[str]:
  optional = ['libtpu', 'tokamax', 'ringattention']
  found = [name for name in optional if importlib.util.find_spec(name)]
  return ['stepwise', 'jax', 'jaxlib', *found, 'flax', 'numpy']


def measure_host(plan: Plan) -> list[dict[str, Any]]:
  """Time and temporaries on the first device of this machine."""
  rows = []
  for name in SYSTEMS:
    for pass_name in PASSES:
      previous: dict[str, Any] = {}
      for length in plan.host_lengths:
        row = {'system': name, 'pass': pass_name, 'length': length}
        row |= _measure_one(plan, name, pass_name, length, previous)
        _log(row)
        rows.append(row)
        previous = row
  return rows


def _measure_one(
  plan: Plan, name: str, pass_name: str, length: int, previous: dict[str, Any]
) -> dict[str, Any]:
  function = PASSES[pass_name](SYSTEMS[name], plan.sizes)
  compiled = harness.compile_for(
    jax.devices()[0],
    function,
    problem_shapes(length, plan.sizes, jnp.float32),
  )
  needed = harness.footprint(compiled)
  result: dict[str, Any] = {'temporaries': harness.temporaries(compiled)}
  if needed > plan.memory:
    reason = f'skipped: needs {needed / harness.GIB:.0f} GiB'
    return result | {'seconds': reason}
  if _too_slow(previous, length, plan.seconds):
    return result | {'seconds': f'skipped: over {plan.seconds:g} s expected'}
  problem = draw_problem(length, plan.sizes)
  return result | {'seconds': _time(compiled, problem, plan)}


def _time(compiled: Any, problem: Problem, plan: Plan) -> float:
  return harness.median_seconds(
    compiled, [problem], repeats=plan.repeats, budget=plan.seconds / 4
  )


def _too_slow(previous: dict[str, Any], length: int, limit: float) -> bool:
  """Whether quadratic growth from the length before would pass the limit."""
  seconds = previous.get('seconds')
  if isinstance(seconds, str):
    return True
  return bool(seconds) and seconds * (length / previous['length']) ** 2 > limit


def measure_tpu(
  sizes: Sizes,
  lengths: Sequence[int],
  known: Sequence[dict[str, Any]] = (),
) -> Iterator[dict[str, Any]]:
  """Memory and traffic of the gradient, in bfloat16, from the TPU compiler.

  Rows that are known already are left out.
  """
  if importlib.util.find_spec('libtpu') is None:
    print('TPU memory skipped: pip install "stepwise[bench]"')
    return
  wanted = [
    {'topology': topology, 'system': name, 'length': length}
    for topology, systems in TPU_SYSTEMS.items()
    for name in systems
    for length in lengths
  ]
  for row in wanted:
    if not any(row.items() <= other.items() for other in known):
      row |= tpu_needs(row['topology'], row['system'], row['length'], sizes)
      _log(row)
      yield row


def tpu_needs(
  topology: str, name: str, length: int, sizes: Sizes
) -> dict[str, int | str]:
  """HBM that a gradient needs and moves, or why it does not compile.

  `compiler_bytes` are those that XLA counts: it does not know how often a
  kernel reads its operands. `kernel_bytes` are those of our kernels, by their
  block specs.
  """
  function = gradient(TPU_SYSTEMS[topology][name], sizes)
  shapes = problem_shapes(length, sizes, jnp.bfloat16)
  try:
    compiled = harness.compile_for(
      harness.tpu_device(topology), function, shapes
    )
  except ModuleNotFoundError as error:
    return {'temporaries': f'not installed: {error.name}'}
  # Peers fail in many ways.
  except Exception as error:
    return {'temporaries': harness.explain(error)}
  cost: Any = compiled.cost_analysis()
  needs: dict[str, int | str] = {
    'temporaries': harness.temporaries(compiled),
    'compiler_bytes': int(cost['bytes accessed']),
  }
  if name == 'pallas':
    needs['kernel_bytes'] = kernel_traffic(function, shapes)
  return needs


def _log(row: dict[str, Any]) -> None:
  print(' '.join(f'{key}={value}' for key, value in row.items()), flush=True)


if __name__ == '__main__':
  main()
