"""Files that verbs write beside what they print."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from stepwise._errors import InputError

JsonOut = Annotated[
  Path | None, typer.Option('--json', help='Write all numbers.')
]


def check_folder(path: Path | None) -> None:
  """Complains about a missing folder before the work, not after it."""
  if path and not path.parent.is_dir():
    raise InputError(f'{path}: no such folder: {path.parent}.')


def save_json(path: Path | None, content: Any) -> None:
  """Writes beside and renames; does nothing without a path."""
  if path:
    _save(path, json.dumps(content, indent=2) + '\n')


def save_page(path: Path, page: str) -> None:
  """Writes a page of HTML, and says so."""
  _save(path, page)
  print(f'stepwise: wrote {path}.', file=sys.stderr)


def _save(path: Path, text: str) -> None:
  beside = path.with_name(f'{path.name}.partial')
  try:
    beside.write_text(text, encoding='utf-8')
    os.replace(beside, path)
  except OSError as error:
    raise InputError(f'{path} cannot be written: {error.strerror}.') from None
