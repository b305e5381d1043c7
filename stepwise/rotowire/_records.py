"""Training records of planners: games in, units and plans out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from stepwise._errors import InputError
from stepwise.data import Record, Tokenizer
from stepwise.rotowire._games import Game, game_table
from stepwise.rotowire._role_table import role_table
from stepwise.rotowire._short_table import short_table, terse_table
from stepwise.tables import Plan, PlanRecordReport, Table, plan_record

# What a planner reads of a game: the paper's table, the same in less room, that
# in fewer words, or the small one.
TABLES: dict[str, Callable[..., Table]] = {
  'paper': game_table,
  'short': short_table,
  'terse': terse_table,
  'roles': role_table,
}


@dataclass(frozen=True)
class PlanRecordOptions:
  """How games become records.

  Attributes:
    table: a name of `TABLES`.
    max_units: of a record, special ones counted; None = as the table has it.
    max_unit_tokens: of a unit; longer ones are shortened.
    max_steps: games whose plan needs more steps, its end counted, are left
      out; None = none are.
    once: leave out what a plan has said before, see `plan_units`.
  """

  table: str = 'paper'
  max_units: int | None = None
  max_unit_tokens: int | None = None
  max_steps: int | None = None
  once: bool = False


def read_table(game: Game, table: str, max_units: int | None = None) -> Table:
  """The table of that name; `max_units` replaces its own limit."""
  if table not in TABLES:
    raise InputError(f'table is {table!r}; known ones are {sorted(TABLES)}.')
  if max_units is None:
    return TABLES[table](game)
  return TABLES[table](game, max_units=max_units)


def same_game(game: Game) -> tuple[object, ...]:
  """What a game is known by in any split: its day and its teams."""
  return game.date, game.home.entity, game.visitor.entity


def count_shared(
  files: Sequence[Sequence[Game]],
) -> dict[tuple[int, int], int]:
  """Games of one file that are also in another, by the places of both.

  (i, j) with i < j counts games of file j whose day and teams file i has; (i,
  i) counts those that file i has had before.
  """
  keys = [[same_game(game) for game in games] for games in files]
  known = [set(of_file) for of_file in keys]
  return {
    (i, j): (
      len(keys[i]) - len(known[i])
      if i == j
      else len([key for key in keys[j] if key in known[i]])
    )
    for i in range(len(keys))
    for j in range(i, len(keys))
  }


def plan_records(
  games: Sequence[Game],
  plans: Sequence[Plan],
  tokenizer: Tokenizer,
  options: PlanRecordOptions = PlanRecordOptions(),
  *,
  report: PlanRecordReport | None = None,
  exclude: Iterable[Game] = (),
) -> Iterator[tuple[Record, tuple[int, ...]]]:
  """Records with their oracles, see `stepwise.tables.plan_record`.

  Args:
    games: with plans.
    plans: of the games.
    tokenizer: gives the ids.
    options: table and limits.
    report: counts what was written and what was not.
    exclude: games that must not be among the records, such as those that a
      model will be evaluated on.
  """
  report = PlanRecordReport() if report is None else report
  known = {same_game(game) for game in exclude}
  for game, plan in zip(games, plans, strict=True):
    if same_game(game) in known:
      report.excluded.append(game.id)
      continue
    made = plan_record(
      read_table(game, options.table, options.max_units),
      plan,
      tokenizer,
      report,
      max_unit_tokens=options.max_unit_tokens,
      max_steps=options.max_steps,
      once=options.once,
    )
    if made is not None:
      record, oracle = made
      yield replace(record, table=options.table), oracle
