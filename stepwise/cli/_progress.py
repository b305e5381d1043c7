"""How far a command is, on standard error and only on a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Advance(Protocol):
  """Adds to the number of things done, or says what is being done."""

  def __call__(self, done: int, description: str | None = None) -> None: ...


@contextmanager
def counted(
  description: str, total: int | None = None, *, among_results: bool = False
) -> Iterator[Advance]:
  """Shows a count while the block runs; standard output is never touched.

  Args:
    description: what is being done.
    total: how many things there are, if that is known.
    among_results: whether the block prints results. Where they appear on the
      same terminal they are the best progress: there is no other then.
  """
  from rich.console import Console
  from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
  )

  console = Console(stderr=True)
  time = (TimeElapsedColumn(),)
  if total is not None:
    time = (BarColumn(), TimeRemainingColumn())
  with Progress(
    TextColumn('{task.description}'),
    MofNCompleteColumn(),
    *time,
    console=console,
    transient=True,
    # Otherwise what is printed goes wherever the display is, not to the file
    # that standard output was redirected to.
    redirect_stdout=False,
    disable=not console.is_terminal or (among_results and sys.stdout.isatty()),
  ) as progress:
    task = progress.add_task(description, total=total)

    def advance(done: int, description: str | None = None) -> None:
      progress.update(task, advance=done, description=description)

    yield advance
