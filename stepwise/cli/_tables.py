"""What `plan` and `report` share: a table or games, and wishes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise._files import (
  decompress_stream,
  read_limited,
  temporary_folder,
)
from stepwise.cli._output import print_json

if TYPE_CHECKING:
  from stepwise.planning import Planner


def _named(source: Path | None) -> Path | None:
  """A file of what standard input holds, if the source is `-`."""
  return _kept_input() if source == Path('-') else source


def _kept_input() -> Path:
  """Readers of tables go by the ending of a file, and more than once."""
  name = 'standard input'
  with decompress_stream(sys.stdin.buffer, name) as stream:
    content = read_limited(stream, name)
  if not content.strip():
    raise InputError(f'{name} is empty; a table is needed.')
  # What a table without a name is called.
  path = temporary_folder() / f'table{_ending(content)}'
  path.write_bytes(content)
  return path


def _ending(content: bytes) -> str:
  """Of a file with this content, by its first bytes and lines."""
  if content.startswith(b'PAR1'):
    return '.parquet'
  first, *others = content.split(b'\n', 2)[:2]
  if content.lstrip()[:1] in (b'[', b'{'):
    rows = all(line.lstrip()[:1] == b'{' for line in (first, *others))
    return '.jsonl' if others and rows else '.json'
  return '.tsv' if first.count(b'\t') > first.count(b',') else '.csv'


_SOURCE = typer.Argument(
  metavar='TABLE|GAMES',
  help='A table (.csv, .tsv, .json, .jsonl, .parquet), a folder of related '
  'ones, or games as Rotowire or SportSett has them (.json, .jsonl); - is '
  'standard input.',
  callback=_named,
)
Source = Annotated[Path, _SOURCE]
OptionalSource = Annotated[Path | None, _SOURCE]
Templates = Annotated[
  Path | None,
  typer.Option(
    '--templates',
    metavar='FILE.toml',
    help='What is known of a table; `stepwise table init` drafts one.',
  ),
]
Entries = Annotated[
  int | None,
  typer.Option('--entries', min=1, help='Entries of a plan, at most.'),
]
AsMarkdown = Annotated[bool, typer.Option('--markdown', help='Print Markdown.')]

# Of games as Rotowire has them, and as SportSett has them.
_MARKS = (b'"box_score"', b'"home_line"', b'"vis_line"', b'"line_score"')
# Far enough for the first key of a game that is no part of another table.
_HEAD = 1 << 16
_OPTIONS = {'table': 'reading', 'max_steps': 'max-steps', 'samples': 'greedy'}


def holds_games(path: Path) -> bool:
  """Whether a file is of games; the first keys tell."""
  if not path.exists():
    raise InputError(f'{path}: no such file.')
  suffixes = [suffix.lower() for suffix in path.suffixes]
  if not {'.json', '.jsonl'} & {*suffixes} or not path.is_file():
    return False
  from stepwise._files import open_for_reading

  with open_for_reading(path) as stream:
    head = stream.read(_HEAD)
  return any(mark in head for mark in _MARKS)


def check_options(path: Path, what: str, **given: Any) -> None:
  """Refuses options that say nothing about what the file holds."""
  for name, value in given.items():
    if value not in (None, False, [], ()):
      option = f'--{name.replace("_", "-")}'
      raise InputError(f'{option} is not for {what}, and {path} holds {what}.')


def print_made(made: Any, as_json: bool, as_markdown: bool) -> None:
  """Prints a plan or a report of a table."""
  if as_json:
    print_json(made.to_dict())
  else:
    print(made.to_markdown().rstrip() if as_markdown else made)


def check_output(as_json: bool, as_markdown: bool, as_table: bool) -> None:
  options = {'--json': as_json, '--markdown': as_markdown, '--table': as_table}
  given = [name for name, wanted in options.items() if wanted]
  if len(given) > 1:
    raise InputError(
      f'{given[0]} and {given[1]} are given: choose one of them.'
    )


def table_planner(model: str, **options: Any) -> 'Planner | None':
  """A planner that was trained on tables; None is salience.

  Args:
    model: what the option says.
    options: of the planner; those that are None are its own.
  """
  given = {key: value for key, value in options.items() if value is not None}
  if model in ('auto', 'default', 'salience'):
    for name in given:
      raise InputError(
        f'--{_OPTIONS[name]} is for trained planners; this is salience.'
      )
    return None
  if not Path(model).is_dir():
    raise InputError(
      f'--model is {model!r}; tables are planned by `salience`, or by the '
      'folder of a bundle that was trained on such tables.'
    )
  from stepwise._runtime import prepare
  from stepwise.planning import load_planner

  prepare()
  return load_planner(model, **given)
