"""How good are summaries about what a person asks, `summarize --about`?

  python -m benchmarks.queries FILE --out benchmarks/results/queries.json

FILE has JSON lines of documents with `queries`, pairs of a question and its
answer by a person, such as `qmsum.valid.jsonl.zst`. Some questions of every
document are drawn. All systems get as many words as answers have on average.
ROUGE-1 and 2 F1 of the answers: of `coverage` not told what is asked, told and
going by words, and told and going by words and by meanings, as `--about` does.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._harness import host_name, provenance
from stepwise._files import open_for_reading, write_json
from stepwise.documents import Document, count_words, make_document
from stepwise.evaluation import rouge
from stepwise.summarization import (
  RankSummarizer,
  Summarizer,
  SummaryOptions,
  load_summarizer,
)

_METRIC = 'rouge-1.5.5-unicode'


class Question(NamedTuple):
  document: Document
  query: str
  answer: str


def main() -> None:
  parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
  )
  parser.add_argument('file', type=Path)
  parser.add_argument('--documents', type=int, default=100)
  parser.add_argument('--queries', type=int, default=2, help='a document')
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--out', type=Path)
  options = parser.parse_args()
  about = provenance(
    f'python -m benchmarks.queries {options.file.name} --documents '
    f'{options.documents} --queries {options.queries} --seed {options.seed}',
    host_name(),
    ('jax', 'numpy'),
  )
  rng = random.Random(options.seed)
  rows = list(_rows(options.file))
  rng.shuffle(rows)
  questions = [
    question
    for row in rows[: options.documents]
    for question in _questions(row, options.queries, rng)
  ]
  result = measure(questions)
  print(json.dumps(result, indent=2))
  if options.out:
    write_json(options.out, {'questions': result, **about})


def measure(questions: Sequence[Question]) -> dict[str, Any]:
  """ROUGE of every way to answer, in per cent, with intervals of 95 %."""
  words = round(np.mean([count_words(each.answer) for each in questions]))
  coverage = load_summarizer('coverage')
  systems: dict[str, tuple[Summarizer, bool]] = {
    'lead': (load_summarizer('lead'), False),
    'not told': (coverage, False),
    'words': (RankSummarizer('coverage'), True),
    'words and meanings': (coverage, True),
  }
  scores = {
    name: np.array([_score(each, *system, words) for each in questions])
    for name, system in systems.items()
  }
  return {
    'documents': len({each.document.id for each in questions}),
    'questions': len(questions),
    'words': words,
    'rouge': {name: _mean(found) for name, found in scores.items()},
    'gain of being told': _mean(
      scores['words and meanings'] - scores['not told']
    ),
  }


def _score(
  question: Question, summarizer: Summarizer, told: bool, words: int
) -> np.ndarray:
  about = question.query if told else None
  options = SummaryOptions(words=words, about=about)
  lines = [each.text for each in summarizer(question.document, options)]
  kinds = ['rouge1', 'rouge2']
  return rouge(lines, [[question.answer]], _METRIC, kinds=kinds)[:, 2]


def _mean(scores: np.ndarray) -> dict[str, dict[str, float]]:
  error = 1.96 * scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
  return {
    kind: {
      'mean': round(100 * float(mean), 2),
      'plus_minus': round(100 * float(wide), 2),
    }
    for kind, mean, wide in zip(
      ('rouge1', 'rouge2'), scores.mean(axis=0), error, strict=True
    )
  }


def _rows(path: Path) -> Iterator[dict[str, Any]]:
  with open_for_reading(path) as stream:
    for line in stream:
      if line.strip():
        yield json.loads(line)


def _questions(
  row: dict[str, Any], count: int, rng: random.Random
) -> Iterator[Question]:
  asked = row['queries']
  document = make_document(row)
  for query, answer in rng.sample(asked, min(count, len(asked))):
    yield Question(document, query, answer)


if __name__ == '__main__':
  main()
