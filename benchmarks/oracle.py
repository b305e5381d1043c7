"""How fast and how exact is the oracle, against a plain `rouge-score` search?

  python benchmarks/oracle.py valid.jsonl.zst --out results/oracle.json

Takes a seeded random sample of documents. Selections of the greedy oracle are
compared on all of them, and so are the ROUGE scores of both packages for the
chosen sentences; both searches are timed on one core in the same run.
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
from stepwise.evaluation import KINDS, rouge


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


def compare(documents: Sequence[Document]) -> dict:
  """Both searches on the same documents, and the scores of what was chosen."""
  scorer = RougeScorer(list(KINDS), use_stemmer=True)
  # Stems are cached: a warm-up would hide what the first documents cost, so
  # there is none.
  fast, fast_seconds = timed(fast_search, documents)
  combined, combined_seconds = timed(combination_search, documents)
  plain, plain_seconds = timed(
    lambda document: plain_search(document, scorer), documents
  )
  return {
    'documents': len(documents),
    'units_per_document': sum(len(d.spans) for d in documents) / len(documents),
    'equal_selections': sum(a == b for a, b in zip(fast, plain, strict=True)),
    'largest_rouge_difference': max(
      score_difference(document, chosen, scorer)
      for document, chosen in zip(documents, combined, strict=True)
    ),
    'greedy_ms_per_document': 1000 * fast_seconds / len(documents),
    'combination_ms_per_document': 1000 * combined_seconds / len(documents),
    'plain_greedy_ms_per_document': 1000 * plain_seconds / len(documents),
    'speedup': plain_seconds / fast_seconds,
  }


def timed(
  search: Callable[[Document], list[int]], documents: Sequence[Document]
) -> tuple[list[list[int]], float]:
  start = time.perf_counter()
  found = [search(document) for document in documents]
  return found, time.perf_counter() - start


def fast_search(document: Document) -> list[int]:
  return find_oracle(document.units, document.summary, order='choice').indices


def combination_search(document: Document) -> list[int]:
  return find_oracle(
    document.units, document.summary, method='combination'
  ).indices


def plain_search(document: Document, scorer: RougeScorer) -> list[int]:
  """Greedy search that scores every candidate text with `rouge-score`."""
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
  """Largest difference of any measure between the two packages."""
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
