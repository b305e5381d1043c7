"""What verbs print, and the files that they write beside it."""

import io
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from stepwise._files import check_parent, write_json, write_text


def prepare_streams() -> None:
  """No sign is an error, even where the console's encoding lacks it.

  What Windows redirects to a file is UTF-8, as all files of ours are.
  """
  for stream in (sys.stdout, sys.stderr):
    if isinstance(stream, io.TextIOWrapper):
      chosen = 'PYTHONIOENCODING' in os.environ
      file = sys.platform == 'win32' and not stream.isatty() and not chosen
      encoding = 'utf-8' if file else None
      stream.reconfigure(encoding=encoding, errors='backslashreplace')


def silence(stream: TextIO) -> None:
  """Lets a stream that nobody reads any more take what is still written."""
  nowhere = os.open(os.devnull, os.O_WRONLY)
  os.dup2(nowhere, stream.fileno())
  os.close(nowhere)


def print_json(content: Any) -> None:
  """One line of JSON, in ASCII where the output is not UTF-8."""
  encoding = (sys.stdout.encoding or 'ascii').lower()
  plain = encoding.replace('-', '') != 'utf8'
  print(json.dumps(content, ensure_ascii=plain), flush=True)


def warn(warnings: Iterable[str]) -> None:
  """What a reader may not expect, one sentence a line."""
  for warning in warnings:
    print(f'stepwise: {warning}', file=sys.stderr)


def check_folder(path: Path | None) -> None:
  """Complains about a missing folder before the work, not after it."""
  if path:
    check_parent(path)


def save_numbers(path: Path | None, content: Any) -> None:
  """Writes beside and renames; does nothing without a path."""
  if path:
    write_json(path, content)


def save_page(path: Path, page: str) -> None:
  """Writes a page of HTML, and says so."""
  write_text(path, page)
  print(f'stepwise: wrote {path}.', file=sys.stderr)
