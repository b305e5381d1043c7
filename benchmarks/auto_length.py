"""How long are summaries of `--sentences auto`, beside those of people?

  stepwise bench auto_length TRAIN.jsonl.zst    # to results/auto_length.json
  stepwise bench auto_length     # the table of the README, from that

The packaged model plans eight sentences of every document and says at every
step how likely it would stop: this prints how long summaries are, and their
ROUGE-1, if they end where that is at least as likely as a threshold. The
threshold of the package is chosen on documents for training; what it gives on
others is one command of the package:

  stepwise data sample valid.jsonl.zst auto.jsonl:300 --seed 2
  stepwise infer default auto.jsonl chosen.jsonl --sentences auto
  stepwise evaluate chosen.jsonl auto.jsonl lead:2
"""

import argparse
import json
from collections.abc import Mapping, Sequence
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
from benchmarks.mixed import read_sample
from stepwise.documents import count_words
from stepwise.evaluation import rouge
from stepwise.summarization import SummaryOptions, load_summarizer

THRESHOLDS = (0.02, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.15, 0.2, 0.33, 0.5)
MOST = 8


class Planned(NamedTuple):
  """A plan of all sentences: lines, and how likely no other would follow."""

  lines: list[str]
  stops: list[float]
  reference: list[str]


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(
    prog='stepwise bench auto_length',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  parser.add_argument('file', type=Path, nargs='?')
  parser.add_argument('--documents', type=int, default=300)
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--out', type=Path, default=RESULTS / 'auto_length.json')
  options = parser.parse_args(arguments)
  if not options.file:
    update_readme('auto_length', markdown(read_json(options.out)))
    return
  command = (
    f'stepwise bench auto_length {options.file.name} --documents '
    f'{options.documents} --seed {options.seed}'
  )
  about = provenance(command, host_name(), ('jax', 'numpy'))
  summarizer = load_summarizer('default')
  asked = SummaryOptions(sentences=MOST, order='selection')
  planned = []
  for document, (reference, *_) in read_sample(
    options.file, options.documents, options.seed
  ):
    summary = summarizer(document, asked)
    lines = [each.text for each in summary]
    stops = [step.stop for step in summary.steps]
    planned.append(Planned(lines, stops, reference))
  result = measure(planned)
  print(json.dumps(result, indent=2))
  write_json(options.out, result | about)


def measure(planned: Sequence[Planned]) -> dict[str, Any]:
  """Means over documents for people, and for every threshold."""
  people = [each.reference for each in planned]
  return {
    'documents': len(planned),
    'people': _lengths(people),
    'thresholds': {
      threshold: _row([_until(each, threshold) for each in planned], people)
      for threshold in THRESHOLDS
    },
  }


def _until(planned: Planned, threshold: float) -> list[str]:
  """What is chosen before the model would stop, one sentence at least."""
  stops = enumerate(planned.stops)
  ends = (i for i, stop in stops if i and stop >= threshold)
  return planned.lines[: next(ends, MOST)]


def _row(
  chosen: Sequence[list[str]], people: Sequence[list[str]]
) -> dict[str, float]:
  pairs = zip(chosen, people, strict=True)
  scores = [
    rouge(lines, [each], kinds=['rouge1'])[0, 2] for lines, each in pairs
  ]
  return _lengths(chosen) | {'rouge1': round(100 * float(np.mean(scores)), 2)}


def _lengths(summaries: Sequence[list[str]]) -> dict[str, float]:
  words = [sum(map(count_words, lines)) for lines in summaries]
  return {
    'words': round(float(np.mean(words)), 1),
    'sentences': round(float(np.mean([len(lines) for lines in summaries])), 2),
  }


def markdown(content: Mapping[str, Any]) -> str:
  """The table of the README."""
  rows = [
    [name, f'{row["words"]:.1f}', f'{row["sentences"]:.2f}', score]
    for name, row, score in (
      ('people', content['people'], ''),
      *(
        (f'stops at {threshold}', row, f'{row["rouge1"]:.2f}')
        for threshold, row in content['thresholds'].items()
      ),
    )
  ]
  about = (
    f'`{content["command"]}`, {content["date"]}, {content["documents"]} '
    'documents:'
  )
  table = markdown_table(['', 'words', 'sentences', 'ROUGE-1'], rows)
  return f'{about}\n\n{table}\n'


if __name__ == '__main__':
  main()
