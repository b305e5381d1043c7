"""How near is the default model to the limit of this machine?

  stepwise bench limit                        # some minutes
  stepwise bench limit --quick                # no profile, once each
  stepwise bench limit --against FOLDER       # beside another checkout
  stepwise bench limit --against FOLDER --infer DOCUMENTS.jsonl

In one run: the rate of matrix products in float32 and with bfloat16 inputs and
float32 sums, at the shapes of the default model, forward and backward; the
training update of the default model (8 documents of 512 tokens) and its
inference, the share of that rate they reach, and what the time of an update
goes to, operation by operation.

`--against` runs the same work of another checkout (`git worktree add`), turn
by turn, and reports ratios of medians. Besides the time on the clock there is
that of all cores, which other programs disturb less.
"""

import collections
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from rich.console import Console
from rich.table import Table

import benchmarks._limit_work as work
from stepwise import _runtime
from stepwise._parallel import available_cores
from stepwise.inference import decode
from stepwise.layers import PRODUCTS, choose_products
from stepwise.training import product_flops

DEFAULT = 'hibert_news'
# Tokens of a batch, and widths of the default model's layers.
_TOKENS, _EMBED, _MLP = work.ROWS * work.LENGTH, 384, 1536
# What compiled operations are for, by their names.
_KINDS = {
  'products': r'dot|ynn|onednn|matmul',
  'copies and transpositions': r'copy|transpose|concatenate|pad|slice',
  'conversions': r'convert',
  'gathers and scatters': r'gather|scatter',
  'reductions': r'reduce',
}


def main(arguments: Sequence[str] | None = None) -> None:
  parser = harness.parser('limit', __doc__)
  parser.add_argument('--against', type=Path, help='another checkout')
  parser.add_argument('--infer', type=Path, help='JSON lines of documents')
  parser.add_argument('--rounds', type=int, default=5, help='turns')
  options = parser.parse_args(arguments)
  command = ' '.join(['stepwise bench limit', *(arguments or sys.argv[2:])])
  rounds = 1 if options.quick else options.rounds
  _runtime.prepare()
  content = measure(command, rounds, profiled=not options.quick)
  if options.against:
    content['against'] = compare(options.against, options.infer, rounds)
  print_report(content)
  harness.write_json(options.out / 'limit.json', content)
  if 'profile' in content:
    draw(content, options.out / 'limit.png')


def measure(command: str, rounds: int, *, profiled: bool) -> dict[str, Any]:
  """Everything that is written to the results file but comparisons."""
  packages = ['jax', 'jaxlib', 'flax', 'numpy']
  content = harness.provenance(command, harness.host_name(), packages)
  content['chosen'] = choose_products()
  content['rates'] = {name: product_rates(name, rounds) for name in PRODUCTS}
  best = max(rates['x w']['rate'] for rates in content['rates'].values())
  content['work'] = {}
  for name in PRODUCTS:
    for what, make in (('update', _update), ('inference', _inference)):
      run, flops = make(name)
      content['work'][f'{what}, {name}'] = share(run, flops, best, rounds)
  if profiled:
    content['profile'] = profile(_update(content['chosen'])[0])
  return content


def product_rates(name: str, rounds: int) -> dict[str, dict[str, float]]:
  """GFLOP/s of the products around a layer of the model."""
  random = np.random.default_rng(0)

  def draw_matrix(*shape: int) -> jax.Array:
    return jnp.asarray(random.normal(size=shape), jnp.float32)

  states, kernel = draw_matrix(_TOKENS, _EMBED), draw_matrix(_EMBED, _MLP)
  gradient = draw_matrix(_TOKENS, _MLP)
  hook = PRODUCTS[name]

  def product(x: jax.Array, w: jax.Array) -> jax.Array:
    return hook(x, w, (((1,), (0,)), ((), ())))

  def pull(x: jax.Array, w: jax.Array, g: jax.Array) -> tuple[Any, ...]:
    return jax.vjp(product, x, w)[1](g)

  functions: dict[str, Callable[..., Any]] = {
    'x w': lambda x, w, g: product(x, w),
    "g w'": lambda x, w, g: pull(x, w, g)[0],
    "x' g": lambda x, w, g: pull(x, w, g)[1],
  }
  flops = 2.0 * _TOKENS * _EMBED * _MLP
  rates = {}
  for title, function in functions.items():
    compiled = jax.jit(function)
    run = _waiting(compiled, states, kernel, gradient)
    rates[title] = share(run, flops, None, 2 * rounds + 1)
  return rates


def _waiting(compiled: Callable[..., Any], *given: Any) -> Callable[[], Any]:
  return lambda: jax.block_until_ready(compiled(*given))


def share(
  run: Callable[[], Any], flops: float, best: float | None, rounds: int
) -> dict[str, float]:
  """Median times of some work, its rate, and its share of the best one.

  The rate is that of all cores together: what it would be if nothing else ran,
  and if they were all busy all the time.
  """
  run()
  times = [work.timed(run) for _ in range(rounds)]
  medians = {
    name: statistics.median(time[name] for time in times) for name in times[0]
  }
  rate = flops / medians['core_seconds'] / 1e9 * available_cores()
  shares = {} if best is None else {'share': rate / best}
  return {'gflop': flops / 1e9, **medians, 'rate': rate, **shares}


def _update(products: str) -> tuple[Callable[[], Any], float]:
  update, state, batch = work.make_update(DEFAULT, products)
  flops = product_flops(update, *state, batch)
  del state
  return work.repeated_update(DEFAULT, products), flops


def _inference(products: str) -> tuple[Callable[[], Any], float]:
  """Reading eight documents and searching for their plans."""
  config, module = work.resolve(DEFAULT, products)
  batch = work.make_batch(DEFAULT)
  params = nn.unbox(module.init(jax.random.key(0), batch))

  def choose(params: Any, batch: Any) -> Any:
    return decode(config, params, batch, module=module).plans

  flops = product_flops(choose, params, batch)
  return _waiting(jax.jit(choose), params, batch), flops


def profile(run: Callable[[], Any]) -> dict[str, float]:
  """Seconds of one run by what operations are for, waits included."""
  run()
  with tempfile.TemporaryDirectory() as folder:
    with jax.profiler.trace(folder):
      run()
    seconds: dict[str, float] = collections.defaultdict(float)
    for operation, duration in _operations(Path(folder)):
      seconds[_kind(operation)] += duration
  return dict(sorted(seconds.items(), key=lambda pair: -pair[1]))


def _operations(folder: Path) -> Iterator[tuple[str, float]]:
  (path,) = folder.rglob('*.trace.json.gz')
  with gzip.open(path, 'rt', encoding='utf-8') as stream:
    events = json.load(stream)['traceEvents']
  for event in events:
    operation = event.get('args', {}).get('hlo_op')
    if event.get('ph') == 'X' and operation:
      yield operation, event['dur'] / 1e6


def _kind(operation: str) -> str:
  for kind, pattern in _KINDS.items():
    if re.search(pattern, operation):
      return kind
  return 'elementwise'


def compare(
  other: Path, documents: Path | None, rounds: int
) -> dict[str, dict[str, float]]:
  """Medians of turns of this checkout and another one, and their ratios."""
  here = Path(__file__).parent.parent
  tasks: list[tuple[str, ...]] = [
    ('update', DEFAULT),
    ('update', 'etcsum_news'),
  ]
  if documents:
    bundle = here / 'stepwise' / 'summarization' / 'default'
    tasks.append(('infer', str(bundle), str(documents.resolve())))
  found = {}
  for task in tasks:
    title = ' '.join(task[:2]) if task[0] == 'update' else task[0]
    found[title] = _turns(here, other.resolve(), task, rounds)
  return found


def _turns(
  here: Path, other: Path, task: tuple[str, ...], rounds: int
) -> dict[str, float]:
  workers = {'new': _start(here, task), 'old': _start(other, task)}
  times = collections.defaultdict(list)
  try:
    for _ in range(rounds):
      for name, process in workers.items():
        for what, value in _ask(process).items():
          times[f'{name}_{what}'].append(value)
  finally:
    for process in workers.values():
      process.stdin.close()
      process.wait()
  medians = {name: statistics.median(values) for name, values in times.items()}
  return medians | {
    f'ratio_{what}': medians[f'old_{what}'] / medians[f'new_{what}']
    for what in ('seconds', 'core_seconds')
  }


def _start(checkout: Path, task: tuple[str, ...]) -> Any:
  """A process that waits to be asked; all it compiles is compiled."""
  process = subprocess.Popen(
    [sys.executable, str(Path(work.__file__)), *task],
    cwd=checkout,
    env=os.environ | {'PYTHONPATH': str(checkout)},
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    text=True,
  )
  assert process.stdout
  if process.stdout.readline().strip() != 'ready':
    raise SystemExit(f'limit: {checkout} cannot do {" ".join(task)}.')
  return process


def _ask(process: Any) -> dict[str, float]:
  process.stdin.write('\n')
  process.stdin.flush()
  return json.loads(process.stdout.readline())


def print_report(content: dict[str, Any]) -> None:
  console = Console()
  table = Table(title=f'{content["device"]}: rates of all cores together')
  for column in ('work', 'GFLOP', 'seconds', 'of cores', 'GFLOP/s', 'share'):
    table.add_column(column, justify='left' if column == 'work' else 'right')
  rows = {
    f'{title}, {name}': values
    for name, rates in content['rates'].items()
    for title, values in rates.items()
  }
  for title, values in (rows | content['work']).items():
    part = values.get('share')
    table.add_row(
      title,
      f'{values["gflop"]:.1f}',
      f'{values["seconds"]:.3f}',
      f'{values["core_seconds"]:.3f}',
      f'{values["rate"]:.0f}',
      '' if part is None else f'{part:.0%}',
    )
  console.print(table)
  for title, values in content.get('against', {}).items():
    console.print(
      f'{title}: {values["ratio_seconds"]:.2f} times as fast on the clock,'
      f' {values["ratio_core_seconds"]:.2f} times in time of cores'
    )
  for kind, seconds in content.get('profile', {}).items():
    console.print(f'  {seconds:7.3f} s  {kind}')


def draw(content: dict[str, Any], path: Path) -> None:
  """Shares of the rate, and what an update's time goes to."""
  from matplotlib.figure import Figure

  figure = Figure(figsize=(9, 3.2), layout='constrained')
  left, right = figure.subplots(1, 2)
  shares = {name: w['share'] for name, w in content['work'].items()}
  left.barh(list(shares), [100 * part for part in shares.values()])
  left.set_xlabel('% of the fastest product')
  seconds = content['profile']
  right.barh(list(seconds), list(seconds.values()))
  right.set_xlabel(f'seconds of an update, {content["chosen"]} products')
  for axes in (left, right):
    axes.invert_yaxis()
  figure.savefig(path, dpi=120)


if __name__ == '__main__':
  main()
