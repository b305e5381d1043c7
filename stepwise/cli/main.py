"""Entry point: registers the verbs and turns user mistakes into exit code 2.

Every verb lives in its own module, whose top-level imports are light: a verb
imports what it needs inside its function, so `stepwise --help` stays fast.
"""

import os
import sys
from typing import Annotated

import typer

from stepwise import __version__
from stepwise._errors import InputError
from stepwise._runtime import keep_freed_memory
from stepwise.cli import (
  bench,
  convert,
  data,
  doctor,
  evaluate,
  evaluate_judgements,
  evaluate_rotowire,
  export,
  gin,
  infer,
  models,
  oracle,
  params,
  plan,
  report,
  rotowire,
  runs,
  serve,
  summarize,
  table,
  train,
  train_extractor,
  train_value,
)
from stepwise.cli._output import prepare_streams, silence
from stepwise.cli._platform import skip_absent_tpu
from stepwise.cli._runner import RunnerCommand

app = typer.Typer(
  name='stepwise',
  help='Stepwise content extraction with structured transformers.',
  epilog=(
    'Exit codes: 0, all is done; 1, some of it could not be done, and is'
    ' listed; 2, a mistake in what was asked for, and nothing is done.'
  ),
  no_args_is_help=True,
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
app.command(cls=RunnerCommand)(evaluate.evaluate)
app.command()(evaluate_judgements.evaluate_judgements)
app.command()(evaluate_rotowire.evaluate_rotowire)
app.command()(export.export)
app.command()(gin.gin)
app.command(cls=RunnerCommand)(infer.infer)
app.command()(models.models)
app.command(cls=RunnerCommand)(oracle.oracle)
app.command()(params.params)
app.command()(plan.plan)
app.command()(report.report)
app.add_typer(rotowire.app, name='rotowire')
app.command()(runs.runs)
app.command()(serve.serve)
app.command()(summarize.summarize)
app.add_typer(table.app, name='table')
app.command()(train.train)
app.command()(train_extractor.train_extractor)
app.command()(train_value.train_value)


def _version(wanted: bool) -> bool:
  if wanted:
    print(f'stepwise {__version__}')
    raise typer.Exit
  return wanted


@app.callback()
def _options(
  version: Annotated[
    bool,
    typer.Option(
      '--version', callback=_version, is_eager=True, help='Print the version.'
    ),
  ] = False,
) -> None:
  pass


def main() -> None:
  """Runs the command line; a user's mistake is one sentence and exit code 2."""
  skip_absent_tpu(os.environ)
  keep_freed_memory()
  prepare_streams()
  try:
    code = _run()
    sys.stdout.flush()
  except KeyboardInterrupt:
    code = 130
  except BrokenPipeError:  # Whoever reads has seen enough.
    silence(sys.stdout)
    code = 1
  sys.exit(code)


def _run() -> int | str | None:
  try:
    app()
  except InputError as error:
    print(f'stepwise: {error}', file=sys.stderr)
    return 2
  except SystemExit as ended:
    return ended.code


if __name__ == '__main__':
  main()
