"""Files that verbs write beside what they print."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stepwise._files import check_parent, write_json, write_text

JsonOut = Annotated[
  Path | None, typer.Option('--json', help='Write all numbers.')
]


def check_folder(path: Path | None) -> None:
  """Complains about a missing folder before the work, not after it."""
  if path:
    check_parent(path)


def save_json(path: Path | None, content: Any) -> None:
  """Writes beside and renames; does nothing without a path."""
  if path:
    write_json(path, content)


def save_page(path: Path, page: str) -> None:
  """Writes a page of HTML, and says so."""
  write_text(path, page)
  print(f'stepwise: wrote {path}.', file=sys.stderr)
