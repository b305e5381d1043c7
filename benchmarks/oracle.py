"""How fast and how exact are oracle and ROUGE, against plain ones?

  python benchmarks/oracle.py valid.jsonl.zst --out results/oracle.json

Takes a seeded random sample of documents. Selections of the greedy oracle are
compared on all of them with a plain search, which scores every candidate text
with the package `rouge-score` and the words of the same metric; so are the
scores of the chosen sentences. Both metrics are timed in turns, everything on
one core in the same run.
"""

import argparse
import datetime
import json
import os
import platform
import random
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

# One core: the small matrix products must not start threads.
os.environ['OPENBLAS_NUM_THREADS'] = '1'

from rouge_score.rouge_scorer import RougeScorer

from stepwise._files import write_text
from stepwise.data.oracle import find_oracle
from stepwise.documents import Document, read_documents
from stepwise.evaluation import DEFAULT_METRIC, KINDS, METRICS, rouge


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument('data', help='file of documents with summaries')
  parser.add_argument('--documents', type=int, default=200)
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--out', type=Path)
  options = parser.parse_args()
  # Before the work: the checkout may have moved on by its end.
  about = provenance(
    f'python benchmarks/oracle.py {Path(options.data).name} '
    f'--documents {options.documents} --seed {options.seed}'
  )
  everything = list(read_documents(options.data))
  sample = random.Random(options.seed).sample(everything, options.documents)
  text = json.dumps(compare(sample) | about, indent=2)
  print(text)
  if options.out:
    write_text(options.out, text + '\n')


class Words:
  """What `rouge-score` asks of a tokeniser."""

  def __init__(self, metric: str):
    self.tokenize = METRICS[metric].tokenize


def compare(documents: Sequence[Document]) -> dict:
  """Searches and scores on the same documents."""
  scorer = RougeScorer(list(KINDS), tokenizer=Words(DEFAULT_METRIC))
  times = {name: race(run, documents) for name, run in MEASURED.items()}
  fast = [greedy(DEFAULT_METRIC, document) for document in documents]
  start = time.process_time()
  plain = [plain_search(document, scorer) for document in documents]
  plain_seconds = time.process_time() - start
  ours, theirs = TIMED
  return {
    'documents': len(documents),
    'units_per_document': sum(len(d.spans) for d in documents) / len(documents),
    'metric': DEFAULT_METRIC,
    'equal_selections': sum(a == b for a, b in zip(fast, plain, strict=True)),
    'largest_rouge_difference': max(
      score_difference(document, chosen, scorer)
      for document, chosen in zip(documents, fast, strict=True)
    ),
    'ms_per_document': {
      name: {m: 1000 * t / len(documents) for m, t in row.items()}
      for name, row in times.items()
    },
    f'times_{theirs}': {
      name: row[ours] / row[theirs] for name, row in times.items()
    },
    'plain_greedy_ms_per_document': 1000 * plain_seconds / len(documents),
    'speedup': plain_seconds / times['greedy'][ours],
  }


def race(
  run: Callable[[str, Document], list[int]], documents: Sequence[Document]
) -> dict[str, float]:
  """Seconds of each metric for all documents, the metrics taking turns.

  Of every document the fastest of some rounds counts, in time of this process:
  others may be at work on the machine. The first round fills caches of stems.
  """
  seconds: dict[str, float] = dict.fromkeys(TIMED, 0.0)
  for document in documents:
    fastest = dict.fromkeys(TIMED, float('inf'))
    for _ in range(ROUNDS):
      for metric in TIMED:
        start = time.process_time()
        run(metric, document)
        fastest[metric] = min(fastest[metric], time.process_time() - start)
    seconds = {metric: seconds[metric] + fastest[metric] for metric in TIMED}
  return seconds


def greedy(metric: str, document: Document) -> list[int]:
  return find_oracle(
    document.units, document.summary, order='selection', metric=metric
  ).indices


def combination(metric: str, document: Document) -> list[int]:
  return find_oracle(
    document.units, document.summary, method='combination', metric=metric
  ).indices


def score_lead(metric: str, document: Document) -> list[int]:
  rouge(document.units[:3], document.summary, metric)
  return [0, 1, 2]


TIMED = (DEFAULT_METRIC, 'rouge-score')
MEASURED = {
  'greedy': greedy,
  'combination': combination,
  'rouge_of_lead_3': score_lead,
}
ROUNDS = 5


def plain_search(document: Document, scorer: RougeScorer) -> list[int]:
  """Greedy search that scores every candidate text from the beginning."""
  units, reference = document.units, '\n'.join(document.summary)
  chosen: list[int] = []
  best = 0.0
  while left := [i for i in range(len(units)) if i not in chosen]:
    scores = []
    for unit in left:
      text = '\n'.join(units[i] for i in sorted([*chosen, unit]))
      kinds = scorer.score(reference, text)
      scores.append(sum(kinds[kind].fmeasure for kind in KINDS) / len(KINDS))
    if max(scores) <= best:
      break
    best = max(scores)
    chosen.append(left[scores.index(best)])
  return chosen


def score_difference(
  document: Document, chosen: list[int], scorer: RougeScorer
) -> float:
  """Largest difference of any measure; ours are rounded to five decimals."""
  sentences = [document.units[i] for i in chosen]
  expected = scorer.score('\n'.join(document.summary), '\n'.join(sentences))
  ours = rouge(sentences, document.summary)
  return float(
    max(abs(ours[row] - expected[kind]).max() for row, kind in enumerate(KINDS))
  )


def provenance(command: str) -> dict:
  """Where and when, with what."""
  commit = subprocess.run(
    ['git', 'describe', '--always', '--dirty', '--abbrev=40'],
    capture_output=True,
    text=True,
    check=False,
  )
  packages = ('stepwise', 'rouge-score', 'numpy', 'nltk')
  return {
    'device': f'{platform.machine()}, 1 of {os.cpu_count()} cores',
    'versions': {
      'python': platform.python_version(),
      **{name: version(name) for name in packages},
    },
    'commit': commit.stdout.strip(),
    'date': datetime.date.today().isoformat(),
    'command': command,
  }


if __name__ == '__main__':
  main()
