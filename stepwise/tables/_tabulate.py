"""Sheets as tables of entries: every cell, and what follows from the cells."""

import dataclasses
import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from stepwise._errors import InputError
from stepwise.tables._amounts import Style
from stepwise.tables._calendar import Period
from stepwise.tables._facts import About, Facts, Measure, add_totals, read_facts
from stepwise.tables._schema import Kind, Schema
from stepwise.tables._sheets import Sheet
from stepwise.tables._table import (
  Entry,
  Relation,
  Table,
  fill_template,
  main_columns,
  rank_numbers,
  rank_text,
)

# What is said of all entities, after the name of the whole.
RANKS = ' which is {rank} best of {count}'
_TEMPLATE = '{label} of {entity} is {value}'
# Numbers by entity and place of the period.
Cells = Mapping[tuple[str, int], float]
# A change of more than this many times is told in numbers, not in percent.
_MOST_PERCENT = 10.0


def tabulate(
  sheets: Sequence[Sheet], schema: Schema | None = None, *, id: str = ''
) -> Table:
  """The entries of sheets.

  Cells come first, entity by entity; then totals, means, shares and changes of
  each; then those of all together.

  Args:
    sheets: one for every kind of entity; where a column of one names entities
      of another, these get the totals of what they own.
    schema: what a template file says; what it does not say is guessed.
    id: of the table.
  """
  if not sheets:
    raise InputError('no table is given.')
  schema = schema or Schema({}, ranks=RANKS)
  found = []
  for sheet in sheets:
    sheet = _without(sheet, schema.missing)
    kind = _kind_of(sheet, schema, len(sheets) == 1)
    found.append(read_facts(sheet, kind, schema.kinds.get(kind, Kind({}))))
  facts = _distinct(add_totals(found, schema.kinds))
  entries = [entry for each in facts for entry in _entries(each, schema)]
  return Table(
    tuple(entries),
    id or sheets[0].name,
    schema.title,
    facts=tuple(facts),
    main=main_columns(schema),
  )


def _kind_of(sheet: Sheet, schema: Schema, single: bool) -> str:
  """The section of a template file that is about a sheet."""
  if single and len(schema.kinds) == 1:
    return next(iter(schema.kinds))
  if schema.kinds and sheet.name not in schema.kinds:
    raise InputError(
      f'the templates have no kind {sheet.name!r}, as this table is named; '
      f'they have {sorted(schema.kinds)}.'
    )
  return sheet.name if schema.kinds or not single else ''


def _without(sheet: Sheet, missing: Set[str]) -> Sheet:
  """Cells that the templates call missing become None."""
  if missing <= {''}:
    return sheet
  rows = (tuple(None if c in missing else c for c in r) for r in sheet.rows)
  return dataclasses.replace(sheet, rows=tuple(rows))


def _distinct(facts: Sequence[Facts]) -> list[Facts]:
  """Entities of two kinds with one name are told apart by their kind."""
  seen: set[str] = set()
  distinct = []
  for each in facts:
    new = {
      name: f'{name} ({each.noun})' if name in seen else name
      for name in each.entities
    }
    seen |= set(new.values())
    distinct.append(
      dataclasses.replace(
        each,
        entities=tuple(new.values()),
        numbers={
          m: {(new[e], at): n for (e, at), n in cells.items()}
          for m, cells in each.numbers.items()
        },
        texts={
          label: {new[e]: text for e, text in cells.items()}
          for label, cells in each.texts.items()
        },
      )
    )
  return distinct


def _entries(facts: Facts, schema: Schema) -> Iterator[Entry]:
  makers = [_Maker(facts, measure) for measure in facts.measures]
  drafts = [draft for maker in makers for draft in maker.drafts()]
  ranks = _ranks(drafts)
  by_entity: dict[str, list[_Draft]] = defaultdict(list)
  names = {measure.name for measure in facts.measures}
  for draft in drafts:
    # A column of totals has its own entries.
    if draft.type == draft.about.measure_name or draft.type not in names:
      by_entity[draft.entity].append(draft)
  kind = schema.kinds.get(facts.kind, Kind({}))
  for entity in (*facts.entities, whole_name(facts)):
    for label, cells in facts.texts.items():
      if entity in cells:
        relation = Relation(entity, cells[entity], label)
        text = _TEMPLATE.format(label=label, entity=entity, value=cells[entity])
        about = About(None, 'text')
        yield Entry(relation, text, kind=facts.kind, about=about)
    for draft in by_entity[entity]:
      rank = (
        None if draft.about.whole else ranks.get((draft.type, draft.number))
      )
      yield draft.entry(facts, kind, schema, rank)


def whole_name(facts: Facts) -> str:
  """What all entities together are called."""
  return f'all {facts.plural}'


@dataclasses.dataclass(frozen=True)
class _Draft:
  """An entry before ranks are known."""

  entity: str
  type: str
  number: float
  value: str
  about: About

  def entry(
    self,
    facts: Facts,
    kind: Kind,
    schema: Schema,
    rank: tuple[int, int] | None,
  ) -> Entry:
    measure = self.about.measure
    assert measure is not None, 'drafts are of numbers'
    template = kind.templates.get(self.type, _TEMPLATE)
    words = {
      'label': _words(self.about, measure),
      'entity': self.entity.replace(' ', schema.space),
      'value': self.value.replace(' ', schema.space),
    }
    if template is not _TEMPLATE:
      texts = facts.texts.items()
      words = {t: cells.get(self.entity, '') for t, cells in texts} | words
    text = fill_template(template, words)
    ranks = rank and self.type not in kind.unranked
    return Entry(
      Relation(self.entity, self.value, self.type),
      text + (rank_text(schema.ranks, *rank) if rank and ranks else ''),
      repeatable=self.type in kind.repeatable,
      droppable=kind.drop_zeros and self.number == 0,
      kind=facts.kind,
      number=self.number,
      rank=rank[0] if rank else None,
      count=rank[1] if rank else 0,
      about=self.about,
    )


def _words(about: About, measure: Measure) -> str:
  role = '' if about.role == 'value' else f'{about.role} of '
  when = f' {about.period.phrase}' if about.period else ''
  return f'{role}{measure.label}{when}'


def _ranks(
  drafts: Sequence[_Draft],
) -> dict[tuple[str, float], tuple[int, int]]:
  numbers: dict[str, list[float]] = defaultdict(list)
  better: dict[str, str] = {}
  for draft in drafts:
    if not draft.about.whole and draft.about.measure is not None:
      numbers[draft.type].append(draft.number)
      better[draft.type] = draft.about.measure.column.better
  return {
    (type, number): (rank, len(of_type))
    for type, of_type in numbers.items()
    if len(of_type) > 1
    for number, rank in rank_numbers(of_type, better[type]).items()
  }


@dataclasses.dataclass(frozen=True)
class _Maker:
  """Makes the entries of one measure."""

  facts: Facts
  measure: Measure

  def drafts(self) -> Iterator[_Draft]:
    periods = self.facts.periods
    cells = self.facts.numbers[self.measure.name]
    for entity in self.facts.entities:
      for at in range(max(len(periods), 1)):
        if (entity, at) in cells:
          yield self._value(entity, at, cells[entity, at])
      if len(periods) > 1:
        yield from self._over_time(entity, cells)
    if len(self.facts.entities) > 1:
      yield from self._shares(cells)
      yield from self._of_all(cells)

  def _wants(self, aggregate: str) -> bool:
    given = self.measure.column.aggregates
    if given is not None:
      return aggregate in given
    if aggregate == 'share':
      return self.measure.shared
    if aggregate == 'total':
      return self.measure.additive
    return aggregate != 'mean' or not self.measure.additive

  def _period(self, at: int) -> Period | None:
    return self.facts.periods[at] if self.facts.periods else None

  def _draft(
    self, entity: str, role: str, number: float, value: str, **about: object
  ) -> _Draft:
    type = self.measure.name + ('' if role == 'value' else f' {role}')
    period = about.get('period')
    if isinstance(period, Period) and role == 'value':
      type += f' {period.text}'
    return _Draft(
      entity,
      type,
      number,
      value,
      About(self.measure, role, **about),  # pyright: ignore
    )

  def _value(self, entity: str, at: int, number: float) -> _Draft:
    value = self.measure.style.write(number)
    return self._draft(entity, 'value', number, value, period=self._period(at))

  def _over_time(self, entity: str, cells: Cells) -> Iterator[_Draft]:
    last = len(self.facts.periods) - 1
    places = [(entity, at) for at in range(last + 1)]
    numbers = [cells[place] for place in places if place in cells]
    if len(numbers) == len(places):
      if self._wants('total'):
        yield self._total(entity, sum(numbers))
      if self._wants('mean'):
        yield self._mean(entity, numbers)
    for role, since in (('change', last - 1), ('growth', 0)):
      if role == 'growth' and last < 2:
        continue
      before, after = cells.get((entity, since)), cells.get((entity, last))
      if self._wants(role) and before is not None and after is not None:
        yield self._change(entity, role, before, after, since)

  def _total(self, entity: str, number: float, **about: object) -> _Draft:
    value = self.measure.style.write(number)
    return self._draft(entity, 'total', number, value, **about)

  def _mean(
    self, entity: str, numbers: Sequence[float], **about: object
  ) -> _Draft:
    mean = sum(numbers) / len(numbers)
    style = self.measure.style
    places = style.decimals if style.decimals else (1 if mean < 1000 else 0)
    return self._draft(
      entity, 'mean', mean, style.write(mean, decimals=places), **about
    )

  def _change(
    self, entity: str, role: str, before: float, after: float, since: int
  ) -> _Draft:
    number = after - before
    style = self.measure.style
    if self._in_percent:
      number = 100 * number / before
      value = write_percent(number, style)
    else:
      value = style.write(number)
    signed = value if value.startswith('-') else f'+{value}'
    return self._draft(
      entity,
      role,
      number,
      signed,
      period=self.facts.periods[-1],
      since=self.facts.periods[since],
      whole=entity not in self.facts.entities,
    )

  @functools.cached_property
  def _in_percent(self) -> bool:
    """Changes of a percentage, from nothing or to many times are no shares."""
    if self.measure.style.percent or '°' in self.measure.style.suffix:
      return False
    least: dict[str, float] = {}
    most: dict[str, float] = {}
    for (entity, _), number in self.facts.numbers[self.measure.name].items():
      least[entity] = min(number, least.get(entity, number))
      most[entity] = max(number, most.get(entity, number))
    return all(0 < most[e] <= _MOST_PERCENT * least[e] for e in least)

  def _shares(self, cells: Cells) -> Iterator[_Draft]:
    last = max(len(self.facts.periods) - 1, 0)
    now = {e: cells[e, last] for e in self.facts.entities if (e, last) in cells}
    whole = sum(now.values())
    fit = self._wants('share') and len(now) == len(self.facts.entities)
    if not fit or min(now.values()) < 0 or whole <= 0:
      return
    for entity, number in now.items():
      share = 100 * number / whole
      value = write_percent(share, self.measure.style)
      yield self._draft(
        entity, 'share', share, value, period=self._period(last)
      )

  def _of_all(self, cells: Cells) -> Iterator[_Draft]:
    name, periods = whole_name(self.facts), self.facts.periods
    size, last = len(self.facts.entities), len(periods) - 1
    by_time = [
      [cells[e, at] for e in self.facts.entities if (e, at) in cells]
      for at in range(max(len(periods), 1))
    ]
    complete = all(len(numbers) == size for numbers in by_time)
    if self._wants('total') and complete:
      totals = [sum(numbers) for numbers in by_time]
      yield self._total(name, sum(totals), whole=True)
      if last > 0:
        now = self.measure.style.write(totals[-1])
        yield self._draft(
          *(name, 'value', totals[-1], now), period=periods[-1], whole=True
        )
        if self._wants('change'):
          yield self._change(name, 'change', totals[-2], totals[-1], last - 1)
    if self._wants('mean') and any(by_time):
      numbers = [number for at in by_time for number in at]
      yield self._mean(name, numbers, whole=True)


@functools.cache
def _percent(style: Style) -> Style:
  return dataclasses.replace(style, prefix='', suffix='%')


def write_percent(number: float, style: Style) -> str:
  """A percentage with a decimal where that is worth something.

  >>> write_percent(7.25, Style()), write_percent(-31.6, Style())
  ('7.2%', '-32%')
  """
  places = int(abs(number) < 10 and round(number, 1) != round(number))
  return _percent(style).write(number, places)
