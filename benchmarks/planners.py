"""How good are plans of games, and which planners differ?

Reads files of plans, one or several of every system: those of its seeds. Scores
are strict content selection and ordering against the field's relations. An
interval is that of the mean over seeds, by 1000 resamples of the games; two
systems differ if the interval of their difference on the same resamples
excludes 0. `--runs` says how a system learnt, from the folders of its runs.

  stepwise bench planners valid.json.zst --skip 214 \
    --references roto-gold-val.h5-tuples.txt \
    'HiBERT=h0.jsonl,h1.jsonl,h2.jsonl' 'frequent entries=f.jsonl' \
    --runs 'HiBERT=h0,h1,h2'
"""

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks import _harness

# isort: split
import numpy as np
from jaxtyping import Float

from stepwise._errors import InputError
from stepwise.extraction import (
  ReadOutputs,
  read_outputs,
  read_relations,
  strict_counts,
)
from stepwise.models import count_params
from stepwise.rotowire import Game, read_games

SAMPLES = 1000
COLUMNS = ('CS P', 'CS R', 'CS F1', 'CO', 'relations')


def main(arguments: Sequence[str] | None = None) -> None:
  options = _parse(arguments)
  given = sys.argv[1:] if arguments is None else arguments
  origin = _harness.provenance(
    shlex.join(['stepwise', 'bench', 'planners', *map(_bare, given)]),
    _harness.host_name(),
    ['jax', 'flax', 'stepwise'],
  )
  systems = [_system(text) for text in options.systems]
  games = read_games(options.games)
  places = range(options.skip, len(games), options.stride)
  truth = _read(options.references, games, places)
  counts = {
    name: np.stack(
      [_counts(Path(file), games, places, truth) for file in files]
    )
    for name, files in systems
  }
  report = {
    **origin,
    'games': len(places),
    'skipped': options.skip,
    'every': options.stride,
    'samples': SAMPLES,
    'training': {
      name: training([json.loads(_config(run).read_text()) for run in runs])
      for name, runs in map(_system, options.runs)
    },
    'systems': describe(counts),
    'differences': compare(counts),
  }
  if options.json:
    _harness.write_json(options.json, report)
  for name, row in report['systems'].items():
    numbers = (f'{column} {row[column]["mean"]:.2f}' for column in COLUMNS)
    print(f'{name}: {", ".join(numbers)}')


def training(configs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """How the seeds of a system learnt, which must differ in nothing else."""
  made = [
    {
      'model': config['model']['name'],
      'parameters': count_params(config['model']['name']),
      'updates': config['steps'],
      'games_an_update': config['input']['batch_size'],
      'drawn_steps': config['drawn_steps'],
      'stop_odds': config['stop_odds'],
      'rest_share': config['rest_share'],
      'learning_rate': config['optimizer']['learning_rate'],
    }
    for config in configs
  ]
  if any(other != made[0] for other in made):
    raise InputError(f'runs of one system are not alike: {made}.')
  return {**made[0], 'seeds': [config['seed'] for config in configs]}


def describe(
  counts: Mapping[str, Float[np.ndarray, 'seeds games 4']],
) -> dict[str, Any]:
  """Every score of every system: its mean, its interval, and by seed."""
  rows = {}
  for name, seeds in counts.items():
    whole, drawn = scores(seeds.mean(axis=1)), _resampled(seeds)
    rows[name] = {
      column: {
        'mean': float(whole[:, i].mean()),
        **_interval(drawn[:, i]),
        'seeds': whole[:, i].tolist(),
      }
      for i, column in enumerate(COLUMNS)
    }
  return rows


def compare(
  counts: Mapping[str, Float[np.ndarray, 'seeds games 4']],
) -> list[dict[str, Any]]:
  """Differences of all pairs, first minus second, and their intervals."""
  means = {
    name: scores(seeds.mean(axis=1)).mean(axis=0)
    for name, seeds in counts.items()
  }
  drawn = {name: _resampled(seeds) for name, seeds in counts.items()}
  rows = []
  for first, second in combinations(counts, 2):
    row: dict[str, Any] = {'first': first, 'second': second}
    for i, column in enumerate(COLUMNS[:4]):
      bounds = _interval(drawn[first][:, i] - drawn[second][:, i])
      row[column] = {
        'mean': float(means[first][i] - means[second][i]),
        **bounds,
        'differs': bounds['low'] > 0 or bounds['high'] < 0,
      }
    rows.append(row)
  return rows


def scores(means: Float[np.ndarray, '*rows 4']) -> Float[np.ndarray, '*rows 5']:
  """`COLUMNS` from the means of `strict_counts` over games."""
  shared, stated, wanted, order = np.moveaxis(means, -1, 0)
  precision = 100 * shared / np.maximum(stated, 1e-9)
  recall = 100 * shared / np.maximum(wanted, 1e-9)
  f1 = 200 * shared / np.maximum(stated + wanted, 1e-9)
  return np.stack([precision, recall, f1, order, stated], axis=-1)


def _resampled(
  seeds: Float[np.ndarray, 'seeds games 4'],
) -> Float[np.ndarray, 'samples 5']:
  """Scores of resampled games, means over seeds; the same games for all."""
  games = seeds.shape[1]
  drawn = np.random.default_rng(0).multinomial(
    games, np.full(games, 1 / games), size=SAMPLES
  )
  means = np.einsum('ng,sgc->snc', drawn / games, seeds)
  return scores(means).mean(axis=0)


def _interval(values: Float[np.ndarray, ' samples']) -> dict[str, float]:
  low, high = np.percentile(values, [2.5, 97.5])
  return {'low': float(low), 'high': float(high)}


def _read(path: Path, games: Sequence[Game], places: range) -> ReadOutputs:
  outputs = read_outputs(path, games)
  return read_relations(
    outputs.only(places), [games[i] for i in places], 'lookup'
  )


def _counts(
  path: Path, games: Sequence[Game], places: range, truth: ReadOutputs
) -> Float[np.ndarray, 'games 4']:
  found = _read(path, games, places)
  return strict_counts(found.strings, truth.strings)


def _config(run: str) -> Path:
  path = Path(run) / 'config.json'
  if not path.exists():
    raise InputError(f'{run} is not the folder of a run: no config.json.')
  return path


def _system(text: str) -> tuple[str, list[str]]:
  name, equal, files = text.partition('=')
  if not equal or not files:
    raise InputError(f'{text!r} is not NAME=FILE,FILE ...')
  return name, files.split(',')


def _bare(argument: str) -> str:
  """Names of files, wherever they lie."""
  name, equal, files = argument.partition('=')
  if equal and not name.startswith('--'):
    return name + equal + ','.join(Path(f).name for f in files.split(','))
  return Path(argument).name if '/' in argument else argument


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument('games', type=Path)
  parser.add_argument('systems', nargs='+', help='NAME=FILE,FILE ...')
  parser.add_argument('--references', type=Path, required=True)
  parser.add_argument('--skip', type=int, default=0)
  parser.add_argument(
    '--stride', type=int, default=1, help='only every so many-th game'
  )
  parser.add_argument(
    '--runs', nargs='*', default=[], help='NAME=FOLDER,FOLDER ...'
  )
  parser.add_argument('--json', type=Path)
  return parser.parse_args(arguments)


if __name__ == '__main__':
  main()
