"""Do very long texts and files finish in bounded memory?

  python -m benchmarks.long_documents --out OUT.json

Runs `stepwise summarize` and `stepwise infer` as a person does, each in a
process of its own, on made-up texts, and records the seconds and the peak of
its memory. Every model reads texts of two lengths, and every verb two files of
JSON lines: memory that is bounded does not grow as they do.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._harness import host_name, provenance
from stepwise._files import write_json

RANKERS = ('auto', 'lexrank', 'textrank')
_SYLLABLES = ('ba', 'den', 'lo', 'mir', 'sa', 'tor', 'vel', 'ka', 'ni', 'rus')
_VOCABULARY = 5000


def main() -> None:
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument(
    '--sentences', type=int, nargs=2, default=(10_000, 100_000)
  )
  parser.add_argument(
    '--model-sentences',
    type=int,
    nargs=2,
    default=(1000, 4000),
    help='for the packaged model, which reads some 40 sentences a second',
  )
  parser.add_argument(
    '--lines', type=int, nargs=2, default=(100_000, 1_000_000)
  )
  parser.add_argument('--only', nargs='*', help='texts, model, line or lines')
  parser.add_argument('--out', type=Path)
  options = parser.parse_args()
  about = provenance(
    'python -m benchmarks.long_documents', host_name(), ('jax', 'numpy')
  )
  runs = []
  with tempfile.TemporaryDirectory() as folder:
    for run in measure(Path(folder), options):
      runs.append(run)
      print(json.dumps(run), flush=True)
  if options.out:
    write_json(options.out, {'runs': runs, **about})


def measure(
  folder: Path, options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
  """All runs, one after another."""
  wanted = options.only or ('texts', 'model', 'line', 'lines')
  if 'texts' in wanted:
    for count in options.sentences:
      yield from _texts(folder, count, RANKERS)
  if 'model' in wanted:
    for count in options.model_sentences:
      yield from _texts(folder, count, ['default'])
  if 'line' in wanted:
    # Ten million characters, and not one stop.
    path = folder / 'line.txt'
    path.write_text(' '.join(_words(random.Random(1), 10_000_000)))
    yield _summarize(path, 'auto', {'input': 'a line without a stop'})
  if 'lines' in wanted:
    for count in options.lines:
      yield from _lines(folder, count)


def _texts(
  folder: Path, count: int, models: Sequence[str]
) -> Iterator[dict[str, Any]]:
  path = folder / 'text.txt'
  path.write_text(make_text(count))
  for model in models:
    yield _summarize(path, model, {'input': 'text', 'sentences': count})


def _lines(folder: Path, count: int) -> Iterator[dict[str, Any]]:
  path, out = folder / 'lines.jsonl', folder / 'out.jsonl'
  with path.open('w') as stream:
    for number in range(count):
      text = make_text(4, seed=number % 997)
      stream.write(json.dumps({'id': str(number), 'text': text}) + '\n')
  size = {'input': 'JSON lines', 'lines': count}
  yield _summarize(path, 'lead', size)
  yield _run(['infer', 'lead', path, out], size | {'bytes': _bytes(path)})
  out.unlink()


def make_text(sentences: int, seed: int = 0) -> str:
  """Paragraphs of five sentences of made-up words, few of them common."""
  rng = random.Random(seed)
  words = _vocabulary()
  weights = (1 / np.arange(1, len(words) + 1)).cumsum().tolist()
  lengths = [rng.randint(8, 24) for _ in range(sentences)]
  drawn = iter(rng.choices(words, cum_weights=weights, k=sum(lengths)))
  lines = [
    ' '.join(next(drawn) for _ in range(length)).capitalize() + '.'
    for length in lengths
  ]
  paragraphs = (lines[i : i + 5] for i in range(0, sentences, 5))
  return '\n\n'.join(' '.join(paragraph) for paragraph in paragraphs)


def _vocabulary() -> list[str]:
  rng = random.Random(0)
  found: dict[str, None] = {}
  while len(found) < _VOCABULARY:
    word = ''.join(rng.choices(_SYLLABLES, k=rng.randint(1, 4)))
    found[word] = None
  return list(found)


def _words(rng: random.Random, characters: int) -> Iterator[str]:
  words = _vocabulary()
  while characters > 0:
    word = rng.choice(words)
    characters -= len(word) + 1
    yield word


def _summarize(path: Path, model: str, size: dict[str, Any]) -> dict[str, Any]:
  arguments = ['summarize', path, '--model', model, '--language', 'en']
  return _run(arguments, size | {'bytes': _bytes(path)})


def _bytes(path: Path) -> int:
  return path.stat().st_size


def _run(arguments: Sequence[Any], size: dict[str, Any]) -> dict[str, Any]:
  """One command of the package, its seconds and its peak of memory."""
  command = [sys.executable, '-m', 'stepwise.cli.main', *map(str, arguments)]
  start = time.perf_counter()
  process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
  _, status, usage = os.wait4(process.pid, 0)
  seconds = time.perf_counter() - start
  if status:
    raise SystemExit(f'{" ".join(command)} ended with {status}.')
  shown = [Path(str(each)).name for each in arguments]
  return {
    'command': f'stepwise {" ".join(shown)}',
    **size,
    'seconds': round(seconds, 1),
    'core_seconds': round(usage.ru_utime + usage.ru_stime, 1),
    'peak_mib': round(usage.ru_maxrss / 1024),
  }


if __name__ == '__main__':
  main()
