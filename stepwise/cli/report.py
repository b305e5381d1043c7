"""`stepwise report`: a game in, a readable report out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stepwise._errors import InputError
from stepwise.cli._options import AsJson, Beams, Html
from stepwise.cli._output import check_folder, print_json, save_page

if TYPE_CHECKING:
  from stepwise.realization import Realizer
  from stepwise.rotowire import Game
  from stepwise.tables import Plan

GameFile = Annotated[
  Path, typer.Argument(metavar='GAME', help='Box score, as Rotowire has it.')
]
Index = Annotated[
  int | None, typer.Option(min=0, help='Which game of a file of several.')
]
PlanFile = Annotated[
  Path | None,
  typer.Option('--plan', help='Sentences of (entity, value, type).'),
]
RealizerName = Annotated[
  str,
  typer.Option('--realizer', help='template, mini, or the folder of a bundle.'),
]
Confine = Annotated[
  bool,
  typer.Option(
    '--confine-numerals/--free-numerals',
    help='Whether a trained realizer writes only numerals that it reads.',
  ),
]


def report(
  game: GameFile,
  index: Index = None,
  plan: PlanFile = None,
  realizer: RealizerName = 'template',
  beams: Beams = None,
  confine_numerals: Confine = True,
  as_json: AsJson = False,
  html: Html = None,
) -> None:
  """Plans a game and writes about it.

  Without --plan the bundled planner makes one. The template realizer says what
  the plan says, and nothing else.
  """
  from stepwise.realization import render_report, write_report

  check_folder(html)
  chosen = _game(game, index)
  planner, entries = _plan(chosen, plan)
  writer = _realizer(realizer, beams, confine_numerals)
  written = write_report(chosen, entries, writer, planner=planner)
  if html:
    save_page(html, render_report(written))
  if as_json:
    print_json(written.to_dict())
  else:
    print(written.text)


def _game(path: Path, index: int | None) -> 'Game':
  from stepwise.rotowire import read_games

  games = read_games(path)
  if index is None and len(games) > 1:
    raise InputError(
      f'{path} has {len(games)} games: choose one with --index, 0 to '
      f'{len(games) - 1}.'
    )
  if (index or 0) >= len(games):
    raise InputError(f'--index is {index} but {path} has {len(games)} games.')
  return games[index or 0]


def _plan(game: 'Game', path: Path | None) -> tuple[str, 'Plan']:
  from stepwise.realization import check_plan, known_entries
  from stepwise.tables import parse_plan

  if path is None:
    from stepwise.cli._compilation_cache import use_compilation_cache
    from stepwise.planning import bundled_planner

    use_compilation_cache()
    [plan] = bundled_planner()([game])
    return 'the bundled planner', known_entries(plan, game)
  from stepwise.data import open_for_reading

  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    row = json.loads(content)
    plan = parse_plan({'plan': row} if isinstance(row, list) else row)
    check_plan(plan, game)
  except ValueError as error:
    raise InputError(f'{path}: {error}') from error
  return path.name, plan


def _realizer(
  name: str, beams: int | None, confine_numerals: bool
) -> 'Realizer':
  if name == 'template':
    from stepwise.realization import TemplateRealizer

    return TemplateRealizer()
  from stepwise.realization.learned import (
    PACKAGED,
    SearchConfig,
    open_realizer,
  )

  if name != PACKAGED and not Path(name).is_dir():
    raise InputError(
      f'--realizer is {name!r}: neither `template` nor `{PACKAGED}` nor the '
      'folder of a bundle.'
    )
  search = SearchConfig(beam_size=beams or 4)
  return open_realizer(
    name, search=search, confine_numerals=confine_numerals, batch_size=1
  )
