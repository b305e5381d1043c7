"""Training records of planners: games in, units and plans out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from stepwise._errors import InputError
from stepwise.data import Record, Tokenizer
from stepwise.rotowire._games import Game, game_table
from stepwise.rotowire._plans import Plan, plan_units, table_record
from stepwise.rotowire._role_table import role_table
from stepwise.rotowire._table import SPECIAL_UNITS, Table

# What a planner reads of a game: the paper's table, or the small one.
TABLES: dict[str, Callable[..., Table]] = {
  'paper': game_table,
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
  """

  table: str = 'paper'
  max_units: int | None = None
  max_unit_tokens: int | None = None
  max_steps: int | None = None


@dataclass
class PlanRecordReport:
  """What became of games and the entries of their plans.

  Attributes:
    records: written.
    entries, sentences: of the plans in them.
    entries_lost: planned entries that the table had no room for.
    entries_unread: planned entries of types that the table does not have.
    units_shortened: units that lost tokens.
    without_plan: games whose plan is empty.
    too_long: games left out for `max_steps`.
    excluded: games left out as they are also among others.
  """

  records: int = 0
  entries: int = 0
  sentences: int = 0
  entries_lost: int = 0
  entries_unread: int = 0
  units_shortened: int = 0
  without_plan: list[str] = field(default_factory=list)
  too_long: list[str] = field(default_factory=list)
  excluded: list[str] = field(default_factory=list)


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


def plan_records(
  games: Sequence[Game],
  plans: Sequence[Plan],
  tokenizer: Tokenizer,
  options: PlanRecordOptions = PlanRecordOptions(),
  *,
  report: PlanRecordReport | None = None,
  exclude: Iterable[Game] = (),
) -> Iterator[tuple[Record, tuple[int, ...]]]:
  """Records with their oracles, for `stepwise.data.save_records`.

  An oracle has indices among the entries of the table; breaks are -3, as
  `stepwise.data.stepwise_examples` wants them.

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
    made = _plan_record(game, plan, tokenizer, options, report)
    if made is not None:
      yield made


def _plan_record(
  game: Game,
  plan: Plan,
  tokenizer: Tokenizer,
  options: PlanRecordOptions,
  report: PlanRecordReport,
) -> tuple[Record, tuple[int, ...]] | None:
  table = read_table(game, options.table, options.max_units)
  units = plan_units(plan, table)
  if len(units) == 1:
    report.without_plan.append(game.id)
    return None
  if options.max_steps is not None and len(units) > options.max_steps:
    report.too_long.append(game.id)
    return None
  record = table_record(
    table, tokenizer, max_unit_tokens=options.max_unit_tokens
  )
  # The end of the plan is no part of an oracle.
  oracle = tuple(int(unit) - len(SPECIAL_UNITS) for unit in units[:-1])
  entries = sum(unit >= 0 for unit in oracle)
  report.records += 1
  report.entries += entries
  report.sentences += len(oracle) - entries
  types = {entry.relation.type for entry in table.entries}
  unread = sum(r.type not in types for sentence in plan for r in sentence)
  report.entries_unread += unread
  report.entries_lost += sum(map(len, plan)) - entries - unread
  report.units_shortened += record.units_shortened
  return record, oracle
