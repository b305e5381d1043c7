"""Options that several verbs share."""

from typing import Annotated

import typer

Processes = Annotated[
  int | None, typer.Option(min=1, help='Default: one per core.')
]
Unicode = Annotated[
  bool, typer.Option('--unicode', help='Words of all scripts, not ASCII.')
]


def tokenization(unicode: bool) -> str:
  """The name of the tokenisation that `--unicode` asks for."""
  return 'unicode' if unicode else 'ascii'
