"""`stepwise oracle`: the best sentences of every document of a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepwise._parallel import available_cores
from stepwise.cli._options import (
  MaxTokens,
  Method,
  MethodOption,
  Metric,
  Order,
  OrderOption,
  Processes,
  Unicode,
  metric_name,
)
from stepwise.cli._progress import counted
from stepwise.cli._runner import (
  PartSize,
  Runner,
  describe_job,
  runner_options,
)

if TYPE_CHECKING:
  from apache_beam.options.pipeline_options import PipelineOptions

  from stepwise.data import OracleOptions

Source = Annotated[
  str, typer.Argument(metavar='IN', help='Documents with summaries.')
]
Target = Annotated[
  str, typer.Argument(metavar='OUT', help='JSON lines to write.')
]


def oracle(
  context: typer.Context,
  source: Source,
  target: Target,
  method: MethodOption = Method.greedy,
  max_tokens: MaxTokens = None,
  order: OrderOption = Order.document,
  metric: Metric = 'rouge-1.5.5',
  unicode: Unicode = False,
  processes: Processes = None,
  runner: Runner = None,
  part_size: PartSize = None,
) -> None:
  """Finds the sentences that best match each document's summary.

  Best is the highest mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L. Writes one JSON
  line per document with id, line, oracle and rouge. Bad lines are skipped and
  listed; the exit code is then 1. The same command continues a run that was
  killed.
  """
  from stepwise.data import OracleOptions, write_oracles

  beam_options = runner_options(context, runner, part_size, processes=processes)
  options = OracleOptions(
    method=method.value,
    order=order.value,
    max_tokens=max_tokens,
    metric=metric_name(metric, unicode),
  )
  if beam_options is not None:
    _run(source, target, options, beam_options, part_size)
    return
  with counted(f'Oracles of {Path(source).name}') as advance:
    bad = write_oracles(
      source,
      target,
      options,
      processes=processes or available_cores(),
      on_progress=advance,
    )
  for line in bad:
    print(line, file=sys.stderr)
  if bad:
    numbers = ', '.join(str(line.line) for line in bad)
    print(
      f'{len(bad)} lines skipped ({numbers}): see {target}.errors.jsonl',
      file=sys.stderr,
    )
    raise typer.Exit(1)


def _run(
  source: str,
  target: str,
  options: 'OracleOptions',
  beam_options: 'PipelineOptions',
  part_size: int | None,
) -> None:
  from stepwise.beam import PART_SIZE, BuildOracles, ReadParts, run_job

  report = run_job(
    source,
    target,
    ReadParts() | BuildOracles(options),
    beam_options,
    made_by={'options': repr(options)},
    part_size=part_size or PART_SIZE,
  )
  print(describe_job(report))
  if report.bad:
    print(f'{report.bad} lines skipped: see {report.errors}', file=sys.stderr)
    raise typer.Exit(1)
