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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
import jax.numpy as jnp

from benchmarks import _sequence as sequence
from benchmarks._attention_report import (
  check_targets,
  plot,
  print_report,
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
    update_readme(json.loads((options.out / 'attention.json').read_text()))
    return
  plan = QUICK if options.quick else FULL
  if options.memory_gib:
    memory = options.memory_gib * harness.GIB
    plan = dataclasses.replace(plan, memory=memory)
  path = options.out / 'attention.json'
  if options.tpu:
    content = measure_tpu_again(plan, json.loads(path.read_text()))
  else:
    content = measure(plan, _command(options))
  print_report(content)
  harness.write_json(path, content)
  plot(content, options.out / 'attention.png')


def measure_tpu_again(plan: Plan, content: dict[str, Any]) -> dict[str, Any]:
  """Results with new ones of the TPU compiler, which say where they are of."""
  found = harness.provenance(
    'stepwise bench attention --tpu', 'TPU compiler', _packages()
  )
  rows = measure_tpu(plan.sizes, plan.tpu_lengths)
  content = content | {'tpu': rows, 'tpu_run': found}
  return content | {'targets': check_targets(content)}


def measure_sequence(out: Path) -> None:
  """Slices of growing size, each row written at once: one takes minutes.

  Rows that the file has already are kept, with the commit they are of.
  """
  command = 'stepwise bench attention --sequence'
  path = out / 'attention_sequence.json'
  content = harness.provenance(command, 'TPU compiler', _packages())
  rows = json.loads(path.read_text())['rows'] if path.exists() else []
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
  content['tpu'] = measure_tpu(plan.sizes, plan.tpu_lengths)
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


def measure_tpu(sizes: Sizes, lengths: Sequence[int]) -> list[dict[str, Any]]:
  """Memory and traffic of the gradient, in bfloat16, from the TPU compiler."""
  if importlib.util.find_spec('libtpu') is None:
    print('TPU memory skipped: pip install "stepwise[bench]"')
    return []
  rows = []
  for topology, systems in TPU_SYSTEMS.items():
    for name in systems:
      for length in lengths:
        row = {'topology': topology, 'system': name, 'length': length}
        row |= tpu_needs(topology, name, length, sizes)
        _log(row)
        rows.append(row)
  return rows


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
