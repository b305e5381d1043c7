"""Tables of entities as units: one sentence for every entry."""

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from stepwise._errors import InputError
from stepwise.documents import Document
from stepwise.tables._amounts import parse_float
from stepwise.tables._facts import About, Facts
from stepwise.tables._schema import Kind, Schema
from stepwise.tables._words import ordinal

# `<EOS> <EOT> <BEG>`: sentence break, end of the plan, its beginning.
SPECIAL_UNITS = ('eos', 'eot', 'beg')
MAX_UNITS = 512


class Relation(NamedTuple):
  """What an entry says; a table has one value for an entity and a type."""

  entity: str
  value: str
  type: str


@dataclass(frozen=True)
class Entity:
  """A row of a table: a name, a kind of the schema, and values by column."""

  name: str
  kind: str
  values: Mapping[str, str]


class Entry(NamedTuple):
  """A cell of a table as a unit.

  Attributes:
    relation: what it says.
    text: its sentence.
    repeatable: whether a plan may choose it more than once.
    droppable: whether it may go when the table is too long.
    kind: of its entity.
    number: that its value is, if it is one.
    rank: of the number among those of its kind and type; 1 is the best.
    count: how many there are.
    about: what it is an entry of, if a sheet was read.
  """

  relation: Relation
  text: str
  repeatable: bool = False
  droppable: bool = False
  kind: str = ''
  number: float | None = None
  rank: int | None = None
  count: int = 0
  about: About | None = None


@dataclass(frozen=True)
class Table:
  """Entries in the order of the units, and how many there is no room for.

  Attributes:
    entries: after filtering.
    id: where the table came from.
    title: what it is about.
    facts: what its sheets say, kind by kind.
    main: measures that the templates call main, by kind.
    zeros_dropped: entries of value 0 that went to make room.
    entries_cut: entries lost from the end, as all zeros were not enough.
  """

  entries: tuple[Entry, ...]
  id: str = ''
  title: str = ''
  facts: tuple[Facts, ...] = ()
  main: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
  zeros_dropped: int = 0
  entries_cut: int = 0

  @cached_property
  def index(self) -> dict[tuple[str, str], int]:
    """The place of an entry, by entity and type."""
    relations = [entry.relation for entry in self.entries]
    return {(r.entity, r.type): i for i, r in enumerate(relations)}

  @cached_property
  def relations(self) -> frozenset[Relation]:
    return frozenset(entry.relation for entry in self.entries)

  @property
  def document(self) -> Document:
    """The sentences, one a line, as a document whose units they are."""
    spans, start = [], 0
    for entry in self.entries:
      spans.append((start, start + len(entry.text)))
      start = spans[-1][1] + 1
    text = '\n'.join(entry.text for entry in self.entries)
    return Document(text, tuple(spans), id=self.id)


def make_table(
  entities: Sequence[Entity],
  schema: Schema,
  *,
  max_units: int | None = MAX_UNITS,
  id: str = '',
) -> Table:
  """Renders the entries of entities and keeps at most `max_units` of them.

  Missing values have no entry. If there are too many units, special ones
  counted, droppable entries of value 0 go, from the end and only as many as
  needed; then whatever is last.

  Args:
    entities: with distinct names.
    schema: gives the templates.
    max_units: of HiBERT's position table in the paper; None keeps all entries.
    id: of the table.
  """
  names = [entity.name for entity in entities]
  if len(set(names)) < len(names):
    twice = next(name for name in names if names.count(name) > 1)
    raise InputError(f'two entities are named {twice!r}; names must differ.')
  entries = _render(entities, schema)
  if not entries:
    raise InputError('the table has no entry with a value and a template.')
  table = Table(tuple(entries), id, schema.title, main=main_columns(schema))
  return cut_table(table, max_units)


def main_columns(schema: Schema) -> dict[str, frozenset[str]]:
  """Those that a template file calls main, by kind."""
  return {
    name: frozenset(c for c, column in kind.columns.items() if column.main)
    for name, kind in schema.kinds.items()
  }


def cut_table(table: Table, max_units: int | None) -> Table:
  """At most `max_units` units, special ones counted; None keeps all."""
  if max_units is None:
    return table
  entries = table.entries
  room = max_units - len(SPECIAL_UNITS)
  if room < 1:
    raise InputError(
      f'max_units is {max_units}; it must be more than {len(SPECIAL_UNITS)}.'
    )
  kept = _drop_from_end(entries, len(entries) - room)
  return dataclasses.replace(
    table,
    entries=tuple(kept[:room]),
    zeros_dropped=len(entries) - len(kept),
    entries_cut=max(len(kept) - room, 0),
  )


def _render(entities: Sequence[Entity], schema: Schema) -> list[Entry]:
  ranks = _ranks(entities, schema)
  entries = []
  for entity in entities:
    spaced = {k: v.replace(' ', schema.space) for k, v in entity.values.items()}
    spaced['entity'] = entity.name.replace(' ', schema.space)
    for type, template in schema.kinds[entity.kind].templates.items():
      value = entity.values.get(type, '')
      if value not in schema.missing:
        text = fill_template(template, {**spaced, 'value': spaced[type]})
        rank = ranks.get((entity.kind, type, value))
        if rank and type not in schema.kinds[entity.kind].unranked:
          text += rank_text(schema.ranks, *rank)
        entries.append(_entry(entity, type, text, schema, rank))
  return entries


@functools.lru_cache(maxsize=4096)
def rank_text(template: str, rank: int, count: int) -> str:
  """What the sentence of an entry says of its rank."""
  return template.format(rank=ordinal(rank), count=count)


def _entry(
  entity: Entity,
  type: str,
  text: str,
  schema: Schema,
  rank: tuple[int, int] | None,
) -> Entry:
  kind, value = schema.kinds[entity.kind], entity.values[type]
  return Entry(
    Relation(entity.name, value, type),
    text,
    repeatable=type in kind.repeatable,
    droppable=kind.drop_zeros and parse_float(value) == 0,
    kind=entity.kind,
    number=parse_float(value) if rank else None,
    rank=rank[0] if rank else None,
    count=rank[1] if rank else 0,
  )


def fill_template(template: str, values: Mapping[str, str]) -> str:
  try:
    return template.format_map(values)
  except (KeyError, IndexError, ValueError) as error:
    raise InputError(
      f'template {template!r} cannot be filled: {error}; it may name '
      f'{sorted(values)} in curly brackets.'
    ) from error


def _ranks(
  entities: Iterable[Entity], schema: Schema
) -> dict[tuple[str, str, str], tuple[int, int]]:
  """The rank of a value among those of its kind and type, and their number.

  A rank is 1 plus how many are better: greater, unless the schema says lower.
  """
  values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(
    lambda: defaultdict(list)
  )
  for entity in entities:
    for type in schema.kinds[entity.kind].templates:
      text = entity.values.get(type, '')
      number = None if text in schema.missing else parse_float(text)
      if number is not None:
        values[entity.kind, type][text].append(number)
  ranks = {}
  for (kind, type), texts in values.items():
    numbers = [number for same in texts.values() for number in same]
    rank_of = rank_numbers(numbers, _better(schema.kinds[kind], type))
    for text, (number, *_) in texts.items():
      ranks[kind, type, text] = rank_of[number], len(numbers)
  return ranks


def rank_numbers(numbers: Sequence[float], better: str) -> dict[float, int]:
  """The rank of every number; equal ones share the best of theirs."""
  in_order = sorted(numbers, reverse=better != 'low')
  ranks: dict[float, int] = {}
  for place, number in enumerate(in_order, 1):
    ranks.setdefault(number, place)
  return ranks


def _better(kind: Kind, type: str) -> str:
  return kind.columns[type].better if type in kind.columns else 'high'


def _drop_from_end(entries: Sequence[Entry], excess: int) -> list[Entry]:
  """Leaves out the last `excess` droppable entries, or all there are."""
  kept = []
  for entry in reversed(entries):
    if excess > 0 and entry.droppable:
      excess -= 1
    else:
      kept.append(entry)
  return kept[::-1]
