"""How far a command is, on standard error and only on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counted(description: str) -> Iterator[Callable[[int], None]]:
  """Yields a function that adds to the number of things done."""
  from rich.console import Console
  from rich.progress import MofNCompleteColumn, Progress, TextColumn

  console = Console(stderr=True)
  with Progress(
    TextColumn('{task.description}'),
    MofNCompleteColumn(),
    console=console,
    transient=True,
    disable=not console.is_terminal,
  ) as progress:
    task = progress.add_task(description, total=None)
    yield lambda done: progress.advance(task, done)
