"""`stepwise plan`: the content plan of a game, sentence by sentence."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._options import AsJson, Html, MaxSteps, Model, Reading
from stepwise.cli._output import check_folder, save_page

if TYPE_CHECKING:
  from rich.table import Table as RichTable

  from stepwise.planning import Planner
  from stepwise.rotowire import Game
  from stepwise.tables import Plan

Games = Annotated[
  Path,
  typer.Argument(
    metavar='GAME', help='A game, or a list of games (.json, .json.zst).'
  ),
]
Greedy = Annotated[
  bool, typer.Option('--greedy', help='Do not revise plans by samples.')
]
AsTable = Annotated[
  bool, typer.Option('--table', help='Print a table of entries.')
]


def plan(
  games: Games,
  model: Model = 'default',
  reading: Reading = None,
  max_steps: MaxSteps = None,
  greedy: Greedy = False,
  as_json: AsJson = False,
  as_table: AsTable = False,
  html: Html = None,
) -> None:
  """Prints what to say about a game, one sentence a line.

  An entry is written as TYPE(entity)=value. With --json, every game is a line
  that `stepwise evaluate-rotowire` scores.
  """
  from stepwise.rotowire import read_games
  from stepwise.tables import plan_to_json

  if as_json and as_table:
    raise InputError('--json and --table are given: choose one of them.')
  check_folder(html)
  all_games = read_games(games)
  if html and len(all_games) != 1:
    raise InputError(
      f'--html shows one game; {games} has {len(all_games)} games.'
    )
  samples = 0 if greedy else None
  planner = _planner(model, table=reading, max_steps=max_steps, samples=samples)
  for game, found in zip(all_games, planner(all_games), strict=True):
    if as_json:
      print(plan_to_json(found, game.id))
    elif as_table:
      _print_table(_table(game, found))
    else:
      print('\n'.join(_lines(game, found)))
    sys.stdout.flush()
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

  from stepwise.cli._compilation_cache import use_compilation_cache
  from stepwise.planning import Planner, bundled_planner, load_planner

  use_compilation_cache()
  changes: Any = {k: v for k, v in given.items() if v is not None}
  if model != 'default':
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
