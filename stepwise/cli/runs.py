"""`stepwise runs`: how a training run is doing."""

from pathlib import Path
from typing import Annotated

import typer

from stepwise.cli._options import Html
from stepwise.cli._output import check_folder, save_page

Run = Annotated[str, typer.Argument(help='OUTPUT of `stepwise train`.')]
Picture = Annotated[
  Path | None, typer.Option(help='Draw the curves: a .png, .svg or .pdf file.')
]


def runs(run: Run, picture: Picture = None, html: Html = None) -> None:
  """Print a summary of a training run, finished or not, and its curves."""
  from rich.console import Console
  from rich.table import Table

  from stepwise.training import (
    draw_history,
    read_history,
    run_page,
    sparkline,
  )

  check_folder(html)
  history = read_history(run)
  config, console = history.config, Console(highlight=False)
  console.print(
    f'{config["model"]["name"]}: step {history.step:,} of {config["steps"]:,}'
  )
  if history.best is not None:
    step, score = history.best
    name = config['checkpoints']['best_metric']
    console.print(f'best checkpoint: step {step:,}, {name} {score:.4g}')
  table = Table('metric', 'first', 'last', 'least', 'most', 'curve')
  for name, curve in history.curves.items():
    values = [value for _, value in curve]
    ends = (values[0], values[-1], min(values), max(values))
    table.add_row(name, *(f'{end:.4g}' for end in ends), sparkline(values))
  console.print(table)
  if picture is not None:
    draw_history(history, picture)
    print(picture)
  if html is not None:
    save_page(html, run_page(history))
