"""`stepwise plan`: what to say of a table or a game, sentence by sentence."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._many_tables import (
  Each,
  Lines,
  ManyTables,
  is_many,
  run_many,
)
from stepwise.cli._options import (
  About,
  AsJson,
  Html,
  MaxSteps,
  Model,
  MustInclude,
  Reading,
)
from stepwise.cli._output import check_folder, save_page, warn
from stepwise.cli._tables import (
  AsMarkdown,
  Entries,
  Source,
  Templates,
  check_options,
  check_output,
  holds_games,
  print_made,
  table_planner,
)

if TYPE_CHECKING:
  from rich.table import Table as RichTable

  from stepwise.planning import Planner
  from stepwise.rotowire import Game
  from stepwise.tables import Plan

  Show = Callable[[Game, Plan], object]

Greedy = Annotated[
  bool, typer.Option('--greedy', help='Do not revise plans by samples.')
]
AsTable = Annotated[
  bool, typer.Option('--table', help='Print a table of entries.')
]


def plan(
  source: Source,
  model: Model = 'auto',
  templates: Templates = None,
  entries: Entries = None,
  must_include: MustInclude = [],  # noqa: B006, typer copies it.
  about: About = [],  # noqa: B006, likewise.
  reading: Reading = None,
  max_steps: MaxSteps = None,
  greedy: Greedy = False,
  as_json: AsJson = False,
  as_markdown: AsMarkdown = False,
  as_table: AsTable = False,
  html: Html = None,
  each: Each = False,
  lines: Lines = None,
) -> None:
  """Prints what to say about a table or a game, one sentence a line.

  An entry is written as type(entity)=value. Tables are planned by `salience`,
  which needs no model, or by a --model that was trained on such tables;
  --must-include and --about take an entity, a column or entity:column. JSON
  lines with `table` are many tables, one a line. With --json, every game is a
  line that `stepwise evaluate-rotowire` scores.
  """
  check_output(as_json, as_markdown, as_table)
  check_folder(html)
  if holds_games(source):
    check_options(
      *(source, 'games'),
      templates=templates,
      must_include=must_include,
      about=about,
      markdown=as_markdown,
      each=each,
      lines=lines,
    )
    show = print_json_plan if as_json else _show_table if as_table else _show
    if model == 'salience':
      _plan_by_salience(source, entries, show, html)
      return
    check_options(source, 'games', entries=entries)
    _plan_games(source, show, html, model, reading, max_steps, greedy)
    return
  check_options(source, 'tables', table=as_table)
  from stepwise.tables import plan_table

  many = is_many(source, each, lines)
  samples = 0 if greedy else None
  planner = table_planner(
    model, table=reading, max_steps=max_steps, samples=samples
  )
  wishes: dict[str, Any] = {
    'entries': entries,
    'must_include': must_include,
    'about': about,
  }
  if many:
    check_options(source, 'many tables', html=html)
    make = ManyTables(
      reports=False, wishes=wishes, templates=templates, planner=planner
    )
    run_many(make, source, lines, model, as_json, as_markdown)
    return
  made = plan_table(source, templates=templates, planner=planner, **wishes)
  warn(made.warnings)
  if html:
    from stepwise.pages import render_page
    from stepwise.tables import table_plan_page

    save_page(html, render_page(table_plan_page(made)))
  print_made(made, as_json, as_markdown)


def print_json_plan(game: 'Game', plan: 'Plan') -> None:
  from stepwise.tables import plan_to_json

  print(plan_to_json(plan, game.id), flush=True)


def _show(game: 'Game', plan: 'Plan') -> None:
  print('\n'.join(_lines(game, plan)), flush=True)


def _show_table(game: 'Game', plan: 'Plan') -> None:
  _print_table(_table(game, plan))
  sys.stdout.flush()


def _plan_by_salience(
  path: Path, entries: int | None, show: 'Show', html: Path | None
) -> None:
  from stepwise.rotowire import read_games, salient_plan

  if html:
    raise InputError('--html shows the steps of a model; salience takes none.')
  for game in read_games(path):
    show(game, salient_plan(game, entries))


def _plan_games(
  path: Path,
  show: 'Show',
  html: Path | None,
  model: str,
  reading: str | None,
  max_steps: int | None,
  greedy: bool,
) -> None:
  from stepwise.rotowire import read_games

  all_games = read_games(path)
  if html and len(all_games) != 1:
    raise InputError(
      f'--html shows one game; {path} has {len(all_games)} games.'
    )
  samples = 0 if greedy else None
  planner = _planner(model, table=reading, max_steps=max_steps, samples=samples)
  for game, found in zip(all_games, planner(all_games), strict=True):
    show(game, found)
  if html:
    _write_page(html, planner, all_games[0])


def _write_page(path: Path, planner: 'Planner', game: 'Game') -> None:
  from stepwise.pages import render_page
  from stepwise.planning import plan_page

  notes = []
  if planner.options.samples:
    notes.append(
      f'The plan was revised by {planner.options.samples} samples: a choice'
      ' need not be the most probable at its step.'
    )
  if planner.options.table == 'roles':
    notes.append('Names of players and teams are added to the plan later.')
  title = _lines(game, ())[0]
  page = plan_page(planner.trace(game), title, tuple(notes))
  save_page(path, render_page(page))


def _planner(model: str, **given: str | int | None) -> 'Planner':
  import dataclasses

  from stepwise._runtime import prepare
  from stepwise.planning import Planner, bundled_planner, load_planner

  prepare()
  changes: Any = {k: v for k, v in given.items() if v is not None}
  if model not in ('auto', 'default'):
    return load_planner(model, **changes)
  planner = bundled_planner()
  return Planner(
    planner.bundle, dataclasses.replace(planner.options, **changes)
  )


def _lines(game: 'Game', plan: 'Plan') -> list[str]:
  title = f'{game.visitor.entity} at {game.home.entity}, {game.date}'
  return [
    title,
    *(
      f'{number:2}. ' + ', '.join(f'{r.type}({r.entity})={r.value}' for r in s)
      for number, s in enumerate(plan, 1)
    ),
  ]


def _table(game: 'Game', plan: 'Plan') -> 'RichTable':
  from rich.table import Table

  table = Table(title=_lines(game, ())[0])
  for header in ('sentence', 'entity', 'type', 'value'):
    table.add_column(header)
  for number, sentence in enumerate(plan, 1):
    for place, relation in enumerate(sentence):
      first = '' if place else str(number)
      table.add_row(first, relation.entity, relation.type, relation.value)
    table.add_section()
  return table


def _print_table(table: 'RichTable') -> None:
  from rich.console import Console

  Console().print(table)
