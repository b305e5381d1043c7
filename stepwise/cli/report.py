"""`stepwise report`: a table or a game in, a readable report out."""

import dataclasses
import json
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
from stepwise.cli._options import About, AsJson, Beams, Html, Model, MustInclude
from stepwise.cli._output import check_folder, print_json, save_page, warn
from stepwise.cli._tables import (
  AsMarkdown,
  Entries,
  OptionalSource,
  Templates,
  check_options,
  check_output,
  holds_games,
  print_made,
  table_planner,
)
from stepwise.cli.summarize import Words

if TYPE_CHECKING:
  from collections.abc import Iterable, Iterator, Sequence

  from stepwise.realization import Realizer
  from stepwise.rotowire import Game
  from stepwise.tables import Plan

Index = Annotated[
  int | None, typer.Option(min=0, help='Which game of a file of several.')
]
PlanFile = Annotated[
  Path | None,
  typer.Option('--plan', help='Sentences of (entity, value, type).'),
]
RealizerName = Annotated[
  str,
  typer.Option(
    '--realizer', help='template, learned, or the folder of a bundle.'
  ),
]
Confine = Annotated[
  bool,
  typer.Option(
    '--confine-numerals/--free-numerals',
    help='Whether a trained realizer writes only numerals that it reads.',
  ),
]


def report(
  source: OptionalSource = None,
  index: Index = None,
  plan: PlanFile = None,
  model: Model = 'auto',
  templates: Templates = None,
  entries: Entries = None,
  words: Words = None,
  must_include: MustInclude = [],  # noqa: B006, typer copies it.
  about: About = [],  # noqa: B006, likewise.
  realizer: RealizerName = 'template',
  beams: Beams = None,
  confine_numerals: Confine = True,
  as_json: AsJson = False,
  as_markdown: AsMarkdown = False,
  html: Html = None,
  each: Each = False,
  lines: Lines = None,
) -> None:
  """Writes about a table or games; without either, about a sample game.

  Tables are planned by `salience`, which needs no model, or by a --model that
  was trained on such tables; --must-include and --about take an entity, a
  column or entity:column. Games are planned by --model, with a little more of
  what people say besides, or as --plan says. The template realizer says what
  the plan says and what the table tells of the game without a number; the
  learned one says it in more ways. A file of several games, or of JSON lines
  with `table`, gives a report of each, one after another.
  """
  check_output(as_json, as_markdown, False)
  check_folder(html)
  if source is None or holds_games(source):
    path = source or _sample()
    check_options(
      *(path, 'games'),
      templates=templates,
      must_include=must_include,
      about=about,
      words=words,
      markdown=as_markdown,
      each=each,
      lines=lines,
    )
    games = _games(path, index)
    if len(games) > 1:
      _check_one(path, len(games), html, plan)
    writer = _realizer(realizer, beams, confine_numerals)
    _report_games(
      games, _planned(games, plan, model, entries), writer, as_json, html
    )
    return
  check_options(source, 'tables', index=index, plan=plan, beams=beams)
  if realizer != 'template':
    check_options(source, 'tables', realizer=realizer)
  from stepwise.tables import report_page, report_table

  many = is_many(source, each, lines)
  planner = table_planner(model)
  wishes: dict[str, Any] = {
    'entries': entries,
    'words': words,
    'must_include': must_include,
    'about': about,
  }
  if many:
    check_options(source, 'many tables', html=html)
    make = ManyTables(
      reports=True, wishes=wishes, templates=templates, planner=planner
    )
    run_many(make, source, lines, model, as_json, as_markdown)
    return
  made = report_table(source, templates=templates, planner=planner, **wishes)
  warn(made.warnings)
  if html:
    save_page(html, report_page(made))
  print_made(made, as_json, as_markdown)


def _check_one(
  path: Path, games: int, html: Path | None, plan: Path | None
) -> None:
  """Refuses what is of one game only."""
  if html:
    raise InputError(f'--html shows one game; {path} has {games} games.')
  if plan:
    raise InputError(
      f'--plan is of one game; {path} has {games}: choose one with --index.'
    )


def _sample() -> Path:
  from stepwise.rotowire import sample_game

  return sample_game()


def _report_games(
  games: 'Sequence[Game]',
  plans: 'Iterable[tuple[str, Plan]]',
  writer: 'Realizer',
  as_json: bool,
  html: Path | None,
) -> None:
  from stepwise.realization import render_report, write_report

  for number, (game, (planner, entries)) in enumerate(
    zip(games, plans, strict=True)
  ):
    written = write_report(game, entries, writer, planner=planner)
    warn(f'{game.id}: {each}' for each in written.warnings)
    if html:
      save_page(html, render_report(written))
    if as_json:
      print_json(written.to_dict())
    else:
      print(('\n' if number else '') + written.text, flush=True)


def _games(path: Path, index: int | None) -> 'list[Game]':
  from stepwise.rotowire import read_games

  games = read_games(path)
  if index is None:
    return games
  if index >= len(games):
    raise InputError(f'--index is {index} but {path} has {len(games)} games.')
  return [games[index]]


def _planned(
  games: 'Sequence[Game]', path: Path | None, model: str, entries: int | None
) -> 'Iterator[tuple[str, Plan]]':
  """Who planned a game, and how; game by game, as plans are asked for."""
  from stepwise.realization import fuller_plan, known_entries

  if path is not None:
    yield path.name, _plan(games[0], path)
    return
  if model == 'salience':
    from stepwise.rotowire import salient_plan

    for game in games:
      yield 'salience', known_entries(salient_plan(game, entries), game)
    return
  if entries is not None:
    raise InputError('--entries is for `--model salience` and for tables.')
  from stepwise._runtime import prepare
  from stepwise.planning import bundled_planner, load_planner

  prepare()
  planner = (
    bundled_planner() if model in ('auto', 'default') else load_planner(model)
  )
  name = 'the bundled planner' if model in ('auto', 'default') else model
  size = planner.options.batch_size
  for start in range(0, len(games), size):
    part = games[start : start + size]
    for game, plan in zip(part, planner(part), strict=True):
      yield name, fuller_plan(known_entries(plan, game), game)


def _plan(game: 'Game', path: Path) -> 'Plan':
  from stepwise.data import open_for_reading
  from stepwise.realization import check_plan
  from stepwise.tables import parse_plan

  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    row = json.loads(content)
    plan = parse_plan({'plan': row} if isinstance(row, list) else row)
    check_plan(plan, game)
  except ValueError as error:
    raise InputError(f'{path}: {error}') from error
  return plan


def _realizer(
  name: str, beams: int | None, confine_numerals: bool
) -> 'Realizer':
  if name == 'template':
    from stepwise.realization import TemplateRealizer

    return TemplateRealizer()
  from stepwise.realization.learned import PACKAGED, open_realizer

  if name != PACKAGED and not Path(name).is_dir():
    raise InputError(
      f'--realizer is {name!r}: neither `template` nor `{PACKAGED}` nor the '
      'folder of a bundle.'
    )
  opened = open_realizer(name, beams=beams, confine_numerals=confine_numerals)
  # Of a game there is one sentence at a time, unless none reads another.
  batch = opened.batch_size if opened.format.slots else 1
  return dataclasses.replace(opened, batch_size=batch)
