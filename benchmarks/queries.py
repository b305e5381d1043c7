"""How good are summaries about what a person asks, `summarize --about`?

  stepwise bench queries FILE    # to results/queries.json
  stepwise bench queries         # the table of the README, from that

FILE has JSON lines of documents with `queries`, pairs of a question and its
answer by a person, such as `qmsum.valid.jsonl.zst`. Some questions of every
document are drawn. All systems get as many words as answers have on average.
ROUGE-1 and 2 F1 of the answers: of `coverage` not told what is asked, told and
going by words, and told and going by words and by meanings, as `--about` does.
"""

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks._attention_report import markdown_table, update_readme
from benchmarks._harness import (
  RESULTS,
  host_name,
  provenance,
  read_json,
  write_json,
)
from stepwise._files import open_for_reading
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


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(
    prog='stepwise bench queries',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  parser.add_argument('file', type=Path, nargs='?')
  parser.add_argument('--documents', type=int, default=100)
  parser.add_argument('--queries', type=int, default=2, help='a document')
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--out', type=Path, default=RESULTS / 'queries.json')
  options = parser.parse_args(arguments)
  if not options.file:
    update_readme('queries', markdown(read_json(options.out)))
    return
  about = provenance(
    f'stepwise bench queries {options.file.name} --documents '
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
  write_json(options.out, {'questions': result, **about})


def markdown(content: Mapping[str, Any]) -> str:
  """The table of the README."""
  found = content['questions']
  told = {**found['rouge'], 'told, minus not told': found['gain of being told']}
  rows = [
    [name, *(f'{s["mean"]:.2f} ± {s["plus_minus"]:.2f}' for s in row.values())]
    for name, row in told.items()
  ]
  about = (
    f'`{content["command"]}`, {content["date"]}, {found["questions"]} '
    f'questions about {found["documents"]} documents, {found["words"]} words '
    'each:'
  )
  table = markdown_table(['', 'ROUGE-1', 'ROUGE-2'], rows)
  return f'{about}\n\n{table}\n'


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
