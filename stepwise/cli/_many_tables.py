"""Plans and reports of many tables: printed, or written so as to resume."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._output import print_json, warn
from stepwise.cli._progress import counted

if TYPE_CHECKING:
  from stepwise.planning import Planner
  from stepwise.tables import TableItem, TablePlan, TableReport

  Result = TablePlan | TableReport

Each = Annotated[
  bool,
  typer.Option(
    '--each', help='Every file of a folder is a table by itself, not related.'
  ),
]
Lines = Annotated[
  Path | None,
  typer.Option(
    '--lines',
    metavar='OUT.jsonl',
    help='Of many tables: a line each; the same command continues a run that '
    'was killed.',
  ),
]


def is_many(source: Path, each: bool, lines: Path | None) -> bool:
  """Whether a source has many tables; options must agree."""
  from stepwise.tables import holds_many

  if each and not source.is_dir():
    raise InputError(f'--each is for folders; {source} is none.')
  many = each or holds_many(source)
  if lines and not many:
    raise InputError(
      '--lines is for many tables: JSON lines with `table`, or a folder with '
      '--each.'
    )
  return many


class ManyTables:
  """Makes results of many tables, some at a time."""

  def __init__(
    self,
    *,
    reports: bool,
    wishes: dict[str, Any],
    templates: Path | None,
    planner: 'Planner | None',
  ):
    from stepwise.tables import load_schema

    if planner and any(wishes.values()):
      given = [name for name, wish in wishes.items() if wish]
      raise InputError(f'a trained planner takes no {given[0]}; salience does.')
    self._reports = reports
    self._wishes = wishes
    self._templates = load_schema(templates) if templates else None
    self._planner = planner
    self.batch_size = planner.options.batch_size if planner else 1

  def made_by(self, model: str) -> dict[str, str]:
    """What results depend on, beside the tables."""
    from stepwise import __version__

    folder = ''
    if self._planner:
      from stepwise.summarization import digest_folder

      folder = f'{digest_folder(Path(model))} {self._planner.options}'
    return {
      'planner': folder or 'salience',
      'templates': repr(self._templates),
      'wishes': repr((self._reports, self._wishes)),
      'version': __version__,
    }

  def __call__(
    self, items: 'Sequence[TableItem]'
  ) -> 'list[Result | InputError]':
    from stepwise.tables import planned, realize_table

    if self._planner is None:
      return [self._alone(item) for item in items]
    tables = [self._open(item) for item in items]
    good = [table for table in tables if not isinstance(table, InputError)]
    plans = iter(self._planner.plan_tables(good))
    results: list[Any] = []
    for table in tables:
      if isinstance(table, InputError):
        results.append(table)
        continue
      plan = planned(next(plans), table, self._planner.name)
      results.append(realize_table(plan) if self._reports else plan)
    return results

  def _open(self, item: 'TableItem') -> Any:
    assert self._planner is not None, 'the caller looked'
    try:
      table = self._planner.open(_sheets(item), self._templates)
      return dataclasses.replace(table, id=item.id)
    except InputError as error:
      return error

  def _alone(self, item: 'TableItem') -> 'Result | InputError':
    from stepwise.tables import plan_table, report_table, tabulate

    make: Any = report_table if self._reports else plan_table
    try:
      table = tabulate(_sheets(item), self._templates, id=item.id)
      return make(table, **self._wishes)
    except InputError as error:
      return error


def _sheets(item: 'TableItem') -> Any:
  if isinstance(item.sheets, InputError):
    raise item.sheets
  return item.sheets


def run_many(
  make: ManyTables,
  source: Path,
  output: Path | None,
  model: str,
  as_json: bool,
  as_markdown: bool,
) -> None:
  """Prints results, or writes them; the exit code is 1 if some have none."""
  if output is None:
    errors = _print_all(make, source, as_json, as_markdown)
  else:
    errors = _write_all(make, source, output, model)
  if errors:
    raise typer.Exit(1)


def _print_all(
  make: ManyTables, source: Path, as_json: bool, as_markdown: bool
) -> int:
  errors = 0
  for place, (item, result) in enumerate(_results(make, source)):
    if isinstance(result, InputError):
      errors += 1
      warn([f'{item.id}: {result}'])
      continue
    warn(f'{item.id}: {each}' for each in result.warnings)
    if as_json:
      print_json({'line': item.number, **result.to_dict()})
      continue
    text = result.to_markdown().rstrip() if as_markdown else str(result)
    print(('\n' if place else '') + text, flush=True)
  return errors


def _results(
  make: ManyTables, source: Path
) -> 'Iterator[tuple[TableItem, Result | InputError]]':
  from stepwise.tables import read_tables

  for chunk in _chunks(read_tables(source), make.batch_size):
    yield from zip(chunk, make(chunk), strict=True)


def _chunks(
  items: 'Iterable[TableItem]', size: int
) -> 'Iterator[list[TableItem]]':
  stream = iter(items)
  while chunk := list(itertools.islice(stream, size)):
    yield chunk


def _write_all(make: ManyTables, source: Path, output: Path, model: str) -> int:
  from stepwise.tables import write_tables

  def rows(items: 'Sequence[TableItem]') -> list[dict[str, Any]]:
    return [
      {'id': item.id, 'error': str(result)}
      if isinstance(result, InputError)
      else result.to_dict() | {'id': item.id}
      for item, result in zip(items, make(items), strict=True)
    ]

  with counted(f'Tables of {source.name}') as advance:
    report = write_tables(
      source,
      output,
      rows,
      make.made_by(model),
      batch_size=make.batch_size,
      on_progress=advance,
    )
  print(f'{output}: {report.tables} tables, {report.errors} errors')
  return report.errors
