"""Entry point: registers the verbs and turns user mistakes into exit code 2.

Every verb lives in its own module, whose top-level imports are light: a verb
imports what it needs inside its function, so `stepwise --help` stays fast.
"""

import os
import sys

import typer

from stepwise._errors import InputError
from stepwise.cli import (
  bench,
  convert,
  data,
  doctor,
  evaluate,
  evaluate_judgements,
  evaluate_rotowire,
  export,
  infer,
  models,
  oracle,
  params,
  plan,
  report,
  rotowire,
  summarize,
  train,
  train_extractor,
)
from stepwise.cli._platform import skip_absent_tpu

app = typer.Typer(
  name='stepwise',
  help='Stepwise content extraction with structured transformers.',
  no_args_is_help=True,
  add_completion=False,
  pretty_exceptions_enable=False,
  context_settings={'help_option_names': ['-h', '--help']},
)
app.add_typer(data.app, name='data')
# What follows the benchmark's name is its own, --help included.
app.command(
  context_settings={'allow_extra_args': True, 'allow_interspersed_args': False}
)(bench.bench)
app.command()(summarize.demo)
app.command()(convert.convert)
app.command()(doctor.doctor)
app.command()(evaluate.evaluate)
app.command()(evaluate_judgements.evaluate_judgements)
app.command()(evaluate_rotowire.evaluate_rotowire)
app.command()(export.export)
app.command()(infer.infer)
app.command()(models.models)
app.command()(oracle.oracle)
app.command()(params.params)
app.command()(plan.plan)
app.command()(report.report)
app.add_typer(rotowire.app, name='rotowire')
app.command()(summarize.summarize)
app.command()(train.train)
app.command()(train_extractor.train_extractor)


def main() -> None:
  """Runs the command line; a user's mistake is one sentence and exit code 2."""
  skip_absent_tpu(os.environ)
  try:
    app()
  except InputError as error:
    print(f'stepwise: {error}', file=sys.stderr)
    sys.exit(2)


if __name__ == '__main__':
  main()
