"""Options that several verbs share."""

from typing import Annotated

import typer

Processes = Annotated[
  int | None, typer.Option(min=1, help='Default: one per core.')
]
Metric = Annotated[
  str,
  typer.Option(help='rouge-1.5.5, rouge-1.5.5-unstemmed or rouge-score.'),
]
Unicode = Annotated[
  bool, typer.Option('--unicode', help='Words of all scripts, not ASCII.')
]


def metric_name(metric: str, unicode: bool) -> str:
  """The one name of what `--metric` and `--unicode` ask for."""
  return f'{metric}-unicode' if unicode else metric
