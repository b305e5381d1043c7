"""Tables of entities as units: one sentence for every entry."""

import csv
import io
import json
import math
import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from stepwise._errors import InputError
from stepwise.data import open_for_reading
from stepwise.documents import Document
from stepwise.tables._schema import Kind, Schema

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
  """

  relation: Relation
  text: str
  repeatable: bool = False
  droppable: bool = False


@dataclass(frozen=True)
class Table:
  """Entries in the order of the units, and how many there is no room for.

  Attributes:
    entries: after filtering.
    id: where the table came from.
    zeros_dropped: entries of value 0 that went to make room.
    entries_cut: entries lost from the end, as all zeros were not enough.
  """

  entries: tuple[Entry, ...]
  id: str = ''
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
  if max_units is None:
    return Table(tuple(entries), id)
  room = max_units - len(SPECIAL_UNITS)
  if room < 1:
    raise InputError(
      f'max_units is {max_units}; it must be more than {len(SPECIAL_UNITS)}.'
    )
  kept = _drop_from_end(entries, len(entries) - room)
  return Table(
    tuple(kept[:room]),
    id,
    zeros_dropped=len(entries) - len(kept),
    entries_cut=max(len(kept) - room, 0),
  )


def read_entities(path: str | os.PathLike[str], schema: Schema) -> list[Entity]:
  """Entities of a `.csv` with a header, or of a `.json` list of objects."""
  path = Path(path)
  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    text = content.decode('utf-8-sig')
    rows = (
      json.loads(text)
      if '.json' in path.suffixes
      else list(csv.DictReader(io.StringIO(text), strict=True))
    )
  except (ValueError, csv.Error) as error:
    raise InputError(f'{path}: not a table: {error}') from error
  if not isinstance(rows, list):
    raise InputError(f'{path}: a list of objects is needed.')
  entities = []
  for number, row in enumerate(rows, 1):
    try:
      entities.append(_parse_entity(row, schema))
    except InputError as error:
      raise InputError(f'{path}: row {number}: {error}') from error
  return entities


def _parse_entity(row: Any, schema: Schema) -> Entity:
  if not isinstance(row, dict) or schema.entity not in row:
    raise InputError(f'an object with {schema.entity!r} is needed.')
  if None in row or None in row.values():
    raise InputError('its number of cells is not that of the header.')
  only_kind = next(iter(schema.kinds)) if len(schema.kinds) == 1 else None
  kind = row.get(schema.kind, only_kind)
  if kind not in schema.kinds:
    raise InputError(
      f'{schema.kind!r} is {kind!r}; the templates have {list(schema.kinds)}.'
    )
  values = {key: str(value) for key, value in row.items()}
  return Entity(str(row[schema.entity]), kind, values)


def _render(entities: Sequence[Entity], schema: Schema) -> list[Entry]:
  ranks = _ranks(entities, schema)
  entries = []
  for entity in entities:
    spaced = {k: v.replace(' ', schema.space) for k, v in entity.values.items()}
    spaced['entity'] = entity.name.replace(' ', schema.space)
    for type, template in schema.kinds[entity.kind].templates.items():
      value = entity.values.get(type, '')
      if value not in schema.missing:
        text = _fill(template, {**spaced, 'value': spaced[type]})
        rank = ranks.get((entity.kind, type, value))
        suffix = f' which is {ordinal(rank)} best' if rank else ''
        entries.append(_entry(entity, type, text + suffix, schema))
  return entries


def _entry(entity: Entity, type: str, text: str, schema: Schema) -> Entry:
  kind, value = schema.kinds[entity.kind], entity.values[type]
  return Entry(
    Relation(entity.name, value, type),
    text,
    repeatable=type in kind.repeatable,
    droppable=kind.drop_zeros and _number(value) == 0,
  )


def _fill(template: str, values: Mapping[str, str]) -> str:
  try:
    return template.format_map(values)
  except (KeyError, IndexError, ValueError) as error:
    raise InputError(
      f'template {template!r} cannot be filled: {error}; it may name '
      f'{sorted(values)} in curly brackets.'
    ) from error


def _ranks(
  entities: Iterable[Entity], schema: Schema
) -> dict[tuple[str, str, str], int]:
  """The rank of a value of a kind and type: 1 plus how many are greater."""
  values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(
    lambda: defaultdict(list)
  )
  for entity in entities:
    for type in _ranked_types(schema.kinds[entity.kind]):
      text = entity.values.get(type, '')
      number = None if text in schema.missing else _number(text)
      if number is not None:
        values[entity.kind, type][text].append(number)
  ranks = {}
  for (kind, type), texts in values.items():
    in_order = sorted(number for same in texts.values() for number in same)
    for text, (number, *_) in texts.items():
      greater = len(in_order) - bisect_right(in_order, number)
      ranks[kind, type, text] = greater + 1
  return ranks


def _ranked_types(kind: Kind) -> list[str]:
  return [type for type in kind.templates if type not in kind.unranked]


def _number(text: str) -> float | None:
  try:
    number = float(text)
  except ValueError:
    return None
  return number if math.isfinite(number) else None


def _drop_from_end(entries: Sequence[Entry], excess: int) -> list[Entry]:
  """Leaves out the last `excess` droppable entries, or all there are."""
  kept = []
  for entry in reversed(entries):
    if excess > 0 and entry.droppable:
      excess -= 1
    else:
      kept.append(entry)
  return kept[::-1]


def ordinal(number: int) -> str:
  """
  >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)]
  ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']
  """
  endings = {1: 'st', 2: 'nd', 3: 'rd'}
  teen = 10 < number % 100 < 14
  return f'{number}{"th" if teen else endings.get(number % 10, "th")}'
