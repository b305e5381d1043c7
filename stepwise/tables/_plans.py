"""Content plans: what to say, in sentences; as units of a table, as JSON."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int, Int32

from stepwise._errors import InputError
from stepwise.data import Record, Tokenizer, make_record
from stepwise.tables._table import SPECIAL_UNITS, Relation, Table

# Sentences of relations; within one, in the order of the text.
Plan = tuple[tuple[Relation, ...], ...]

EOS, EOT, BEG = range(len(SPECIAL_UNITS))


def repeatable_units(table: Table) -> Bool[np.ndarray, ' units']:
  """Units that the paper lets a plan repeat, special ones first.

  They are sentence breaks, and entries such as team names and cities.
  """
  special = np.arange(len(SPECIAL_UNITS)) == EOS
  entries = [entry.repeatable for entry in table.entries]
  return np.concatenate([special, np.array(entries, bool)])


def table_record(
  table: Table,
  tokenizer: Tokenizer,
  *,
  max_units: int | None = None,
  max_tokens: int | None = None,
  max_unit_tokens: int | None = None,
) -> Record:
  """What models read: `<EOS> <EOT> <BEG>`, then the entries of the table."""
  return make_record(
    table.document,
    tokenizer,
    special_units=SPECIAL_UNITS,
    max_units=max_units,
    max_tokens=max_tokens,
    max_unit_tokens=max_unit_tokens,
  )


def plan_units(
  plan: Plan, table: Table, *, once: bool = False
) -> Int32[np.ndarray, ' steps']:
  """Units to choose, one after another: entries, breaks, the end.

  Every sentence ends with a break, the plan with EOT. Entries that the table
  has no room for are left out, and sentences that lose all theirs. So are, with
  `once`, repeats: what a search would refuse, and names of teams, which are so
  often the next entry that a greedy search would choose little else.
  """
  units = []
  for sentence in plan:
    places = (table.index.get((r.entity, r.type)) for r in sentence)
    inside = []
    for unit in (len(SPECIAL_UNITS) + p for p in places if p is not None):
      if not once or unit not in (*units, *inside):
        inside.append(unit)
    units += [*inside, EOS] if inside else []
  return np.array([*units, EOT], np.int32)


def plan_from_units(
  units: Int[np.ndarray, ' steps'] | Sequence[int], table: Table
) -> Plan:
  """The plan that a model chose: reads as far as EOT or an empty slot."""
  sentences: list[list[Relation]] = [[]]
  limit = len(SPECIAL_UNITS) + len(table.entries)
  for unit in map(int, units):
    if unit in (EOT, -1):
      break
    if not -1 < unit < limit:
      raise InputError(
        f'units has {unit}; the units of table {table.id!r} are 0 to '
        f'{limit - 1}, and -1.'
      )
    if unit == EOS:
      sentences.append([])
    elif unit != BEG:
      entry = table.entries[unit - len(SPECIAL_UNITS)]
      sentences[-1].append(entry.relation)
  return tuple(tuple(sentence) for sentence in sentences if sentence)


def plan_to_json(plan: Plan, id: str = '') -> str:
  """A line of a file of plans."""
  sentences = [[list(relation) for relation in s] for s in plan]
  return json.dumps({'id': id, 'plan': sentences}, ensure_ascii=False)


def parse_plan(row: Any) -> Plan:
  """The plan of a parsed line of a file of plans."""
  try:
    plan = tuple(
      tuple(Relation(*map(str, relation)) for relation in sentence)
      for sentence in row['plan']
    )
  except (KeyError, TypeError) as error:
    raise InputError(
      "'plan' must be a list of sentences of [entity, value, type]."
    ) from error
  return plan
