"""Training records of planners: a table and its plan in, units out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from stepwise._errors import InputError
from stepwise.data import Record, Tokenizer
from stepwise.tables._align import aligned_plan
from stepwise.tables._form import TableForm
from stepwise.tables._many import TableItem
from stepwise.tables._plans import Plan, plan_units, table_record
from stepwise.tables._salience import most_salient
from stepwise.tables._table import MAX_UNITS, SPECIAL_UNITS, Table
from stepwise.tables._tabulate import tabulate


@dataclass
class PlanRecordReport:
  """What became of tables and the entries of their plans.

  Attributes:
    records: written.
    entries, sentences: of the plans in them.
    entries_lost: planned entries that the table had no room for.
    entries_unread: planned entries of types that the table does not have.
    units_shortened: units that lost tokens.
    without_plan: tables whose plan is empty.
    too_long: tables left out for `max_steps`.
    excluded: tables left out as they are also among others.
    bad: tables that cannot be read, each with the reason.
    form: the schema of the tables, if they are no games.
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
  bad: list[str] = field(default_factory=list)
  form: TableForm | None = None


def plan_record(
  table: Table,
  plan: Plan,
  tokenizer: Tokenizer,
  report: PlanRecordReport,
  *,
  max_unit_tokens: int | None = None,
  max_steps: int | None = None,
  once: bool = False,
) -> tuple[Record, tuple[int, ...]] | None:
  """A record with its oracle, for `stepwise.data.save_records`.

  An oracle has indices among the entries of the table; breaks are -3, as
  `stepwise.data.stepwise_examples` wants them.

  Args:
    table: what the model reads.
    plan: what it should choose; what the table lacks is left out.
    tokenizer: gives the ids.
    report: counts what was written and what was not.
    max_unit_tokens: of a unit; longer ones are shortened.
    max_steps: a plan that needs more, its end counted, gives no record.
    once: see `plan_units`.
  """
  units = plan_units(plan, table, once=once)
  if len(units) == 1:
    report.without_plan.append(table.id)
    return None
  if max_steps is not None and len(units) > max_steps:
    report.too_long.append(table.id)
    return None
  record = table_record(table, tokenizer, max_unit_tokens=max_unit_tokens)
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


def pair_records(
  items: Iterable[TableItem],
  form: TableForm,
  tokenizer: Tokenizer,
  report: PlanRecordReport,
  *,
  max_units: int | None = MAX_UNITS,
  max_unit_tokens: int | None = None,
  max_steps: int | None = None,
) -> Iterator[tuple[Record, tuple[int, ...]]]:
  """Records of pairs of tables and texts; oracles are what the texts say.

  Args:
    items: tables with their texts.
    form: gives the templates; `report.form` will have all columns, too.
    tokenizer: gives the ids.
    report: counts what was written and what was not.
    max_units: of a record, special ones counted; of larger tables the most
      salient entries are kept.
    max_unit_tokens: of a unit; longer ones are shortened.
    max_steps: a plan that needs more, its end counted, gives no record.
  """
  report.form = form
  for item in items:
    try:
      if isinstance(item.sheets, InputError):
        raise item.sheets
      if not item.text.strip():
        raise InputError('it has no text.')
      table = tabulate(item.sheets, form.schema, id=item.id)
    except InputError as error:
      report.bad.append(f'{item.id}: {error}')
      continue
    report.form = report.form.with_columns(table)
    made = plan_record(
      most_salient(table, max_units),
      aligned_plan(table, item.text),
      tokenizer,
      report,
      max_unit_tokens=max_unit_tokens,
      max_steps=max_steps,
    )
    if made is not None:
      record, oracle = made
      yield replace(record, table=form.name), oracle
