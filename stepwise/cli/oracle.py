"""`stepwise oracle`: the best sentences of every document of a file."""

import sys
from pathlib import Path
from typing import Annotated

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

Source = Annotated[
  Path, typer.Argument(metavar='IN', help='Documents with summaries.')
]
Target = Annotated[
  Path, typer.Argument(metavar='OUT', help='JSON lines to write.')
]


def oracle(
  source: Source,
  target: Target,
  method: MethodOption = Method.greedy,
  max_tokens: MaxTokens = None,
  order: OrderOption = Order.document,
  metric: Metric = 'rouge-1.5.5',
  unicode: Unicode = False,
  processes: Processes = None,
) -> None:
  """Finds the sentences that best match each document's summary.

  Best is the highest mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L. Writes one JSON
  line per document with id, line, oracle and rouge. Bad lines are skipped and
  listed; the exit code is then 1. The same command continues a run that was
  killed.
  """
  from stepwise.data import OracleOptions, write_oracles

  options = OracleOptions(
    method=method.value,
    order=order.value,
    max_tokens=max_tokens,
    metric=metric_name(metric, unicode),
  )
  with counted(f'Oracles of {source.name}') as advance:
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
