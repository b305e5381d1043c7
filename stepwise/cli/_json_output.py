"""The option `--json` of verbs that print a table, and its file."""

import json
import os
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
    beside = path.with_name(f'{path.name}.partial')
    beside.write_text(json.dumps(content, indent=2) + '\n', encoding='utf-8')
    os.replace(beside, path)
