"""How good are summaries of documents that are not news, at equal words?

  python -m benchmarks.mixed FOLDER --out benchmarks/results/mixed.json

FOLDER has a file of JSON lines for every set, such as `qmsum.valid.jsonl.zst`,
with `article` and `highlights`, further references in `other_highlights`, and
`lang`. Every system gets the same words for every document of a set: as many as
its references have on average. ROUGE-1 F1, all scripts, several references
averaged. `auto` is what `stepwise summarize` does if nobody names a model;
which model it took is counted.

`--split train` is for choosing weights, `valid` for reporting.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._harness import host_name, provenance
from stepwise._files import open_for_reading, write_json
from stepwise.documents import Document, count_words, make_document
from stepwise.evaluation import rouge
from stepwise.summarization import SummaryOptions, load_summarizer

BASELINES = ('lead', 'textrank', 'lexrank')
_METRIC = 'rouge-1.5.5-unicode'


class Example(NamedTuple):
  document: Document
  references: list[list[str]]


def main() -> None:
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument('folder', type=Path)
  parser.add_argument('--sets', nargs='*', help='default: all of the split')
  parser.add_argument('--split', default='valid')
  parser.add_argument('--systems', nargs='*', default=[*BASELINES, 'auto'])
  parser.add_argument('--documents', type=int, default=100, help='a set')
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--out', type=Path)
  options = parser.parse_args()
  sets = f'--sets {" ".join(options.sets)} ' if options.sets else ''
  about = provenance(
    f'python -m benchmarks.mixed FOLDER {sets}--split {options.split} '
    f'--documents {options.documents} --seed {options.seed}',
    host_name(),
    ('jax', 'numpy'),
  )
  found = {}
  for path in _files(options.folder, options.split, options.sets):
    examples = _sample(path, options.documents, options.seed)
    name = path.name.partition('.')[0]
    found[name] = measure(examples, options.systems)
    print(_row(name, found[name]), flush=True)
  if options.out:
    write_json(options.out, {'sets': found, **about})


def measure(examples: Sequence[Example], systems: Sequence[str]) -> dict:
  """ROUGE-1 of every system, in per cent, and of which models `auto` took."""
  words = round(
    np.mean([_words(each) for each in examples for each in each.references])
  )
  asked = SummaryOptions(words=words)
  scores, taken = {}, Counter()
  for name in systems:
    summarizer = load_summarizer(name)
    found = []
    for document, references in examples:
      summary = summarizer(document, asked)
      lines = [sentence.text for sentence in summary]
      found.append(rouge(lines, references, _METRIC, kinds=['rouge1'])[0, 2])
      taken[summary.model] += name == 'auto'
    scores[name] = round(100 * float(np.mean(found)), 2)
  return {
    'documents': len(examples),
    'words': words,
    'rouge1': scores,
    'auto': {name: count for name, count in taken.items() if count},
  }


def _words(sentences: Sequence[str]) -> int:
  return sum(map(count_words, sentences))


def _row(name: str, result: dict[str, Any]) -> str:
  scores = result['rouge1']
  cells = [f'{system} {score:5.2f}' for system, score in scores.items()]
  count = f'{result["documents"]:3} documents, {result["words"]:4} words'
  return f'{name:16} {count}: {", ".join(cells)} {result["auto"]}'


def _files(
  folder: Path, split: str, wanted: Sequence[str] | None
) -> Iterator[Path]:
  for path in sorted(folder.glob(f'*.{split}.jsonl*')):
    if not wanted or path.name.partition('.')[0] in wanted:
      yield path


def _sample(path: Path, count: int, seed: int) -> list[Example]:
  with open_for_reading(path) as stream:
    rows = [json.loads(line) for line in stream if line.strip()]
  random.Random(seed).shuffle(rows)
  return [_example(row) for row in rows[:count]]


def _example(row: dict[str, Any]) -> Example:
  references = [row['highlights'], *row.get('other_highlights', [])]
  return Example(make_document(row), references)


if __name__ == '__main__':
  main()
