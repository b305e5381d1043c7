"""`--runner`: a verb as a job of Apache Beam, on as many machines as it has."""

import logging
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from stepwise._errors import InputError

if TYPE_CHECKING:
  from apache_beam.options.pipeline_options import PipelineOptions

  from stepwise.beam import JobReport

_KEY = 'stepwise.beam'

Runner = Annotated[
  str | None,
  typer.Option(
    '--runner',
    metavar='NAME',
    help='Of Apache Beam: DirectRunner, DaskRunner, FlinkRunner, SparkRunner '
    'or DataflowRunner; its own options follow after --. Files may then be '
    'patterns and of any file system, and outputs are numbered.',
  ),
]
PartSize = Annotated[
  int | None,
  typer.Option(
    '--part',
    min=1,
    metavar='N',
    help='Documents of a file of the output, with --runner. Default: 1024.',
  ),
]


class RunnerCommand(TyperCommand):
  """A verb with `--runner`: what follows `--` is Beam's."""

  context_class = typer.Context

  def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
    words = args[: args.index('--')] if '--' in args else args
    if any(word.partition('=')[0] == '--runner' for word in words):
      ctx.meta[_KEY] = args[len(words) + 1 :]
      args = words
    return super().parse_args(ctx, args)


def runner_options(
  context: typer.Context,
  runner: str | None,
  part_size: int | None,
  **refused: Any,
) -> 'PipelineOptions | None':
  """Options of the pipeline; None if the work is done here.

  Args:
    context: of the verb.
    runner: as given.
    part_size: as given.
    refused: options that mean nothing to a runner.
  """
  if runner is None:
    if part_size is not None:
      raise InputError('--part is for --runner.')
    return None
  for name, value in refused.items():
    if value is not None:
      raise InputError(f'--{name} is not for --runner: it has its own options.')
  # Beam warns of libraries that nobody asked for.
  logging.getLogger().setLevel(logging.ERROR)
  logging.getLogger('distributed').setLevel(logging.ERROR)
  # Workers that are started here share its cores: threads of theirs for small
  # products would wait for one another.
  os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
  from stepwise.beam import make_options

  return make_options(runner, context.meta.get(_KEY, []))


def is_remote(path: str) -> bool:
  """Whether a path is of a file system that only Beam knows."""
  return '://' in path


def describe_job(report: 'JobReport') -> str:
  """Where the output is, and what an earlier job had made of it."""
  number = len(report.outputs)
  files = report.outputs[0]
  if number > 1:
    files = f'{files} to {number - 1:05}'
  kept = f', {report.kept} kept' if report.kept else ''
  return f'{files}: {report.lines} lines in {number} files{kept}'
