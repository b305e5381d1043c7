"""`stepwise oracle`: the best sentences of every document of a file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stepwise._parallel import available_cores
from stepwise.cli._options import Processes, Unicode, tokenization


class Method(StrEnum):
  greedy = 'greedy'
  combination = 'combination'


class Order(StrEnum):
  document = 'document'
  choice = 'choice'


Source = Annotated[
  Path, typer.Argument(metavar='IN', help='Documents with summaries.')
]
Target = Annotated[
  Path, typer.Argument(metavar='OUT', help='JSON lines to write.')
]
MethodOption = Annotated[
  Method, typer.Option(help='Greedy, or all sets of up to 4 of the 10 best.')
]
MaxTokens = Annotated[
  int | None,
  typer.Option(min=1, help='Word pieces of the document to choose from.'),
]
OrderOption = Annotated[
  Order, typer.Option(help='Order of the chosen sentences.')
]


def oracle(
  source: Source,
  target: Target,
  method: MethodOption = Method.greedy,
  max_tokens: MaxTokens = None,
  order: OrderOption = Order.document,
  unicode: Unicode = False,
  processes: Processes = None,
) -> None:
  """Finds the sentences that best match each document's summary.

  Best is the highest mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L. Writes one JSON
  line per document with id, line, oracle and rouge. When a run was killed,
  the same command continues it.
  """
  from rich.console import Console

  from stepwise.data import OracleOptions, write_oracles

  console = Console(stderr=True)
  options = OracleOptions(
    method=method.value,
    order=order.value,
    max_tokens=max_tokens,
    tokenization=tokenization(unicode),
  )
  with _progress(console) as progress:
    task = progress.add_task(f'Oracles of {source.name}', total=None)
    bad = write_oracles(
      source,
      target,
      options,
      processes=processes or available_cores(),
      on_progress=lambda documents: progress.advance(task, documents),
    )
  for line in bad:
    print(line, file=console.file)
  if bad:
    numbers = ', '.join(str(line.line) for line in bad)
    print(
      f'{len(bad)} lines skipped ({numbers}): see {target}.errors.jsonl',
      file=console.file,
    )


def _progress(console):
  """Documents done and how fast; silent unless the console is a terminal."""
  from rich.progress import (
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
  )

  return Progress(
    SpinnerColumn(),
    TextColumn('{task.description}'),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    console=console,
    transient=True,
    disable=not console.is_terminal,
  )
