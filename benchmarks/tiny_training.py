"""Does the whole way from articles to summaries work, and does it learn?

  stepwise bench tiny_training --train TRAIN.jsonl --valid VALID.jsonl RUN

Trains a tiny ETCSum and a tiny HiBERT on random documents of a file for a few
minutes, summarises others with each bundle and scores the summaries beside
Lead-3. RUN gets, for each of the two, the training run with its `bundle/` and
`summaries.jsonl`, and `rouge.json`. Every step is a verb of the command line
and is printed before it runs; an interrupted run continues.

`stepwise summarize ARTICLE --model RUN/etcsum/bundle` then uses what was
trained. With random initial weights and a few hundred documents it learns
where summaries are, not what they say.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

GIN = Path(__file__).parent.parent / 'gin'
# What the tiny configurations read of a document; see gin/models.
LIMITS = {
  'etcsum': ('--max-tokens', 1024, '--max-units', 120),
  'hibert': ('--max-units', 132, '--max-unit-tokens', 31),
}
# Three sentences, without a stop: who knows little stops at once.
_STEPS = (
  'InputConfig.learn_steps=3',
  'InputConfig.plan_steps=3',
  'DecodeConfig.min_units=3',
  'DecodeConfig.max_units=3',
)
# One program is compiled for all documents. ETCSum reads a document again at
# every step: it learns one step of each, drawn anew every time.
SETTINGS = {
  'etcsum': (
    "InputConfig.examples='sample'",
    'Buckets.lengths=(1024,)',
    'Buckets.units=(120,)',
    *_STEPS,
  ),
  'hibert': ('Buckets.lengths=(4096,)', 'Buckets.units=(132,)', *_STEPS),
}

Verb = Callable[[Sequence[str]], None]


def main(arguments: Sequence[str] | None = None) -> None:
  pipeline(_parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
  parser = argparse.ArgumentParser(
    prog='stepwise bench tiny_training',
    description=__doc__,
    formatter_class=argparse.RawDescriptionHelpFormatter,
  )
  parser.add_argument('run', type=Path, help='folder to write to')
  parser.add_argument(
    '--train', type=Path, required=True, help='articles with summaries'
  )
  parser.add_argument(
    '--valid', type=Path, required=True, help='others, to score'
  )
  parser.add_argument('--documents', type=int, default=1200, help='to train on')
  parser.add_argument('--scored', type=int, default=200, help='to summarise')
  parser.add_argument('--steps', type=int, default=300, help='updates')
  return parser.parse_args(arguments)


def run_verb(arguments: Sequence[str]) -> None:
  """Runs `stepwise ARGUMENTS` as a user would."""
  program = [sys.executable, '-m', 'stepwise.cli.main']
  finished = subprocess.run([*program, *arguments], check=False)
  # 1: some lines were bad, which the verb has listed and left out.
  if finished.returncode not in (0, 1):
    raise SystemExit(finished.returncode)


def pipeline(options: argparse.Namespace, verb: Verb = run_verb) -> None:
  """All steps; `verb` runs one of them."""

  def say_and_run(*arguments: object) -> None:
    words = [str(argument) for argument in arguments]
    print('$ stepwise', *words, flush=True)
    verb(words)

  run: Path = options.run
  run.mkdir(parents=True, exist_ok=True)
  train, valid = run / 'train.jsonl', run / 'valid.jsonl'
  for source, target, size in (
    (options.train, train, options.documents),
    (options.valid, valid, options.scored),
  ):
    if not target.exists():
      say_and_run('data', 'sample', source, f'{target}:{size}')
  for name, limits in LIMITS.items():
    folder = run / name
    folder.mkdir(exist_ok=True)
    records = [folder / f'{part.stem}.records.jsonl' for part in (train, valid)]
    for source, target in zip((train, valid), records, strict=True):
      if not target.exists():
        say_and_run('data', 'build', source, target, '--gains', *limits)
    say_and_run(
      *('train', records[0], '--validation', records[1]),
      *('--gin', GIN / f'{name}_tiny.gin', '--output', folder),
      *('--steps', options.steps),
      *('--set', f'EvaluationConfig.every={options.steps}'),
      *(word for each in SETTINGS[name] for word in ('--set', each)),
    )
    say_and_run('infer', folder / 'bundle', valid, summaries_of(run, name))
  first, *others = [summaries_of(run, name) for name in LIMITS]
  scores = ('--save-json', run / 'rouge.json')
  say_and_run('evaluate', first, valid, *others, 'lead:3', *scores)


def summaries_of(run: Path, name: str) -> Path:
  return run / name / 'summaries.jsonl'


if __name__ == '__main__':
  main()
