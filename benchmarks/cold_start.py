"""How long does somebody wait for the first summary?

  stepwise bench cold_start            # half a minute
  stepwise bench cold_start --quick    # a tiny model, once

Whole processes, as a user starts them, from the first instruction to the exit:

* import jax: `python -c 'import jax'`, which nothing here can be faster than.
* cold: `stepwise summarize` on a page of text, the cache of compiled programs
  being empty.
* warm: the same again; what was compiled is read from the cache.

They take turns, and medians are reported. Besides the time on the clock there
is the time of all cores, which other programs disturb less.

The model is the one of the package; if there is none, or with --random, it is
a HiBERT of the same size with random weights, which costs the same.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import benchmarks._harness as harness  # Before jax.

# isort: split
from rich.console import Console
from rich.table import Table

from stepwise.checkpoints import initial_params, save_bundle
from stepwise.models import find_config
from stepwise.summarization import default_folder, sample_article

# Seconds on the clock, which should not be exceeded.
TARGETS = {'cold': 6.0, 'warm': 3.0}
_JAX_CACHE = 'JAX_COMPILATION_CACHE_DIR'


class Plan(NamedTuple):
  model: str  # A named configuration, for random weights.
  rounds: int


FULL = Plan('hibert_mini', rounds=5)
QUICK = Plan('hibert_tiny', rounds=1)


def main(arguments: Sequence[str] | None = None) -> None:
  parser = harness.parser('cold_start', __doc__)
  parser.add_argument('--random', action='store_true', help='random weights')
  options = parser.parse_args(arguments)
  flags = [f'--{name}' for name in ('quick', 'random') if vars(options)[name]]
  command = ' '.join(['stepwise bench cold_start', *flags])
  random = options.random or options.quick or not default_folder().is_dir()
  content = measure(QUICK if options.quick else FULL, command, random=random)
  print_report(content)
  harness.write_json(options.out / 'cold_start.json', content)


def measure(plan: Plan, command: str, *, random: bool) -> dict[str, Any]:
  """Everything that is written to the results file."""
  packages = ['stepwise', 'jax', 'jaxlib', 'flax', 'numpy', 'typer']
  content = harness.provenance(command, harness.host_name(), packages)
  article = sample_article()
  content |= {
    'model': f'{plan.model}, random weights' if random else 'default',
    'words': len(article.split()),
    'rounds': plan.rounds,
  }
  with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / 'article.txt').write_text(article, encoding='utf-8')
    model = 'default'
    if random:
      model = str(folder / 'model')
      config = find_config(plan.model)
      save_bundle(model, config, initial_params(config), dtype='float16')
    rounds = [run_round(folder, model, each) for each in range(plan.rounds)]
  content['runs'] = {
    what: {
      'seconds': statistics.median(times[what].clock for times in rounds),
      'core_seconds': statistics.median(times[what].cores for times in rounds),
      'all_seconds': [round(times[what].clock, 3) for times in rounds],
    }
    for what in rounds[0]
  }
  content['targets'] = {
    what: {'seconds': most, 'met': content['runs'][what]['seconds'] < most}
    for what, most in TARGETS.items()
  }
  return content


class Times(NamedTuple):
  """Of one process: on the clock, and summed over cores."""

  clock: float
  cores: float


def run_round(folder: Path, model: str, number: int) -> dict[str, Times]:
  """Each of the three once, with a cache that is new."""
  summarize = [
    *('-m', 'stepwise.cli.main', 'summarize', str(folder / 'article.txt')),
    *('--model', model),
  ]
  cache = {'STEPWISE_CACHE': str(folder / f'cache-{number}')}
  return {
    'import jax': timed(['-c', 'import jax'], {}),
    'cold': timed(summarize, cache),
    'warm': timed(summarize, cache),
  }


def timed(arguments: Sequence[str], environment: Mapping[str, str]) -> Times:
  # A cache of JAX's own would be warm.
  outer = {k: v for k, v in os.environ.items() if k != _JAX_CACHE}
  before = resource.getrusage(resource.RUSAGE_CHILDREN)
  started = time.perf_counter()
  subprocess.run(
    [sys.executable, *arguments],
    env={**outer, 'JAX_PLATFORMS': 'cpu', **environment},
    capture_output=True,
    check=True,
  )
  clock = time.perf_counter() - started
  after = resource.getrusage(resource.RUSAGE_CHILDREN)
  used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
  return Times(clock, used)


def print_report(content: Mapping[str, Any]) -> None:
  table = Table('', 'seconds', 'of all cores', 'target')
  for what, row in content['runs'].items():
    target = content['targets'].get(what)
    table.add_row(
      what,
      f'{row["seconds"]:.2f}',
      f'{row["core_seconds"]:.2f}',
      f'{target["seconds"]:.0f}' if target else '',
    )
  console = Console()
  console.print(f'{content["model"]}, {content["words"]} words')
  console.print(table)


if __name__ == '__main__':
  main()
