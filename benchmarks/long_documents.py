"""Do very long texts and files finish in bounded memory?

  stepwise bench long_documents    # to results/long_documents.json
  stepwise bench long_documents --markdown    # the table of the README, from it

Runs `stepwise summarize` and `stepwise infer` as a person does, each in a
process of its own, on made-up texts, and records the seconds and the peak of
its memory. Every model reads texts of two lengths, and every verb two files of
JSON lines: memory that is bounded does not grow as they do. Every run is
written at once; those that the file has are not run again.
"""

import argparse
import functools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._attention_report import markdown_table, update_readme
from benchmarks._harness import (
  RESULTS,
  host_name,
  provenance,
  read_json,
  write_json,
)

PARTS = ('texts', 'model', 'line', 'rows', 'lines')
_ENDINGS = {'rows': 'jsonl', 'lines': 'jsonl'} | dict.fromkeys(
  ('texts', 'model', 'line'), 'txt'
)
# How to write a file, the verb that reads it, and what tells it from others.
_Task = tuple[Callable[[Path], object], str, dict[str, Any]]
RANKERS = ('auto', 'lexrank', 'textrank')
_SYLLABLES = ('ba', 'den', 'lo', 'mir', 'sa', 'tor', 'vel', 'ka', 'ni', 'rus')
_VOCABULARY = 5000


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(
    prog='stepwise bench long_documents',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
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
  parser.add_argument(
    '--rows', type=int, nargs=2, default=(10_000, 100_000), help='to summarize'
  )
  parser.add_argument('--only', nargs='*', choices=PARTS, default=PARTS)
  parser.add_argument(
    '--out', type=Path, default=RESULTS / 'long_documents.json'
  )
  parser.add_argument('--markdown', action='store_true')
  options = parser.parse_args(arguments)
  if options.markdown:
    update_readme('long_documents', markdown(read_json(options.out)))
    return
  command = 'stepwise bench long_documents'
  about = provenance(command, host_name(), ('jax', 'numpy'))
  content = {'runs': _stored(options.out), **about}
  with tempfile.TemporaryDirectory() as folder:
    for run in measure(Path(folder), options, content['runs']):
      content['runs'].append(run | {'commit': about['commit']})
      print(json.dumps(run), flush=True)
      write_json(options.out, content)


def _stored(path: Path) -> list[dict[str, Any]]:
  return (
    json.loads(path.read_text(encoding='utf-8'))['runs']
    if path.exists()
    else []
  )


def measure(
  folder: Path, options: argparse.Namespace, done: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
  """All runs that are not done, one after another."""
  for part in options.only:
    for make, verb, size in _tasks(part, options):
      if any(size.items() <= run.items() for run in done):
        continue
      path, out = folder / f'{part}.{_ENDINGS[part]}', folder / 'out.jsonl'
      make(path)
      arguments = [verb, *_arguments(verb, size['model'], path, out)]
      yield _run(arguments) | size | {'bytes': path.stat().st_size}


def _tasks(part: str, options: argparse.Namespace) -> Iterator[_Task]:
  match part:
    case 'texts' | 'model':
      short = part == 'model'
      counts = options.model_sentences if short else options.sentences
      for count in counts:
        for model in ('default',) if short else RANKERS:
          size = {'input': 'text', 'sentences': count, 'model': model}
          yield partial(_write_text, count), 'summarize', size
    case 'line':
      size = {'input': 'a line without a stop', 'model': 'auto'}
      yield _write_line, 'summarize', size
    case _:
      verb = 'summarize' if part == 'rows' else 'infer'
      for count in getattr(options, part):
        size = {'input': f'JSON lines, {verb}', 'lines': count}
        yield partial(_write_rows, count), verb, size | {'model': 'lead'}


def _arguments(verb: str, model: str, path: Path, out: Path) -> list[Any]:
  if verb == 'infer':
    out.unlink(missing_ok=True)
    return [model, path, out]
  return [path, '--model', model, '--language', 'en']


def _write_text(count: int, path: Path) -> None:
  path.write_text(make_text(count), encoding='utf-8')


def _write_line(path: Path) -> None:
  """Ten million characters, and not one stop."""
  path.write_text(
    ' '.join(_words(random.Random(1), 10_000_000)), encoding='utf-8'
  )


def _write_rows(count: int, path: Path) -> None:
  texts = [make_text(4, seed=number) for number in range(997)]
  with path.open('w', encoding='utf-8') as stream:
    for number in range(count):
      row = {'id': str(number), 'text': texts[number % len(texts)]}
      stream.write(json.dumps(row | {'language': 'en'}) + '\n')


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


@functools.cache
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


def _run(arguments: Sequence[Any]) -> dict[str, Any]:
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
    'seconds': round(seconds, 1),
    'core_seconds': round(usage.ru_utime + usage.ru_stime, 1),
    'peak_mib': round(usage.ru_maxrss / 1024),
  }


def markdown(content: Mapping[str, Any]) -> str:
  """The table of the README."""
  rows = [
    [
      f'`{run["command"]}`',
      f'{run.get("sentences") or run.get("lines") or 1:,}',
      f'{run["bytes"] / 1e6:.1f}',
      f'{run["core_seconds"]:.0f}',
      f'{run["peak_mib"]:,}',
    ]
    for run in content['runs']
  ]
  header = ['command', 'sentences or lines', 'MB', 'core seconds', 'peak MiB']
  about = f'`{content["command"]}`, {content["date"]}, {content["device"]}:'
  return f'{about}\n\n{markdown_table(header, rows)}\n'


if __name__ == '__main__':
  main()
