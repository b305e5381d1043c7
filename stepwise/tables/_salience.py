"""A planner without weights: what stands out, what belongs together.

An entry is worth saying if its number is extreme among those it is compared
with, if it changed much, if it is of a measure or an entity that matters, and
if nothing like it was said. Every choice tells why it was made.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stepwise._errors import InputError
from stepwise.tables._columns import split_unit
from stepwise.tables._facts import Facts
from stepwise.tables._plans import Plan
from stepwise.tables._pools import (
  Pools,
  group_of,
  is_cell,
  is_whole,
  measure_of,
  period_of,
  role_of,
)
from stepwise.tables._table import SPECIAL_UNITS, Entry, Table, cut_table
from stepwise.tables._words import ordinal

# What is never worth more than the best of these many entries is not weighed
# again at every choice.
_CANDIDATES = 600
# Later entries of an entity, a measure and a type count less and less.
_SAME_ENTITY, _SAME_MEASURE, _SAME_TYPE = 0.8, 0.75, 0.8
# Of totals, means and the like, beside a value: where times are few and
# follow each other, and where they are single days.
_ROLES = ('value', 'change', 'growth', 'share', 'total', 'mean')
_TREND, _DAYS = (
  {str(role): worth for role, worth in zip(_ROLES, worths, strict=True)}
  for worths in (
    (1.0, 0.95, 0.75, 0.6, 0.45, 0.5),
    (0.04, 0.03, 0.03, 0.03, 1.0, 0.95),
  )
)
# Of the highest and lowest of all times: of days, and of times alone. Between
# quarters of large and small entities, it says nothing.
_PEAK = 1.1
_MAIN_WORDS = frozenset(
  {
    *('points', 'total', 'sales', 'revenue', 'score', 'value', 'amount'),
    *('population', 'profit', 'votes', 'result', 'turnover', 'price', 'income'),
  }
)


@dataclass(frozen=True)
class Wishes:
  """What a plan should be like.

  Attributes:
    entries: how many at most; None = as many as fit the table.
    must_include: entities, columns, or `entity:column`, that a plan must have.
    about: entities or columns that it is confined to, with all together.
  """

  entries: int | None = None
  must_include: tuple[str, ...] = ()
  about: tuple[str, ...] = ()


class Choice(NamedTuple):
  """An entry of a plan.

  Attributes:
    entry: what was chosen.
    score: what it was worth then.
    reasons: why, in words.
  """

  entry: Entry
  score: float
  reasons: tuple[str, ...]


def salient_choices(table: Table, wishes: Wishes = Wishes()) -> list[Choice]:
  """The entries most worth saying, best first."""
  weigher = _Weigher(table)
  allowed = _allowed(table, wishes.about)
  scored = [
    (score, reasons, place)
    for place, entry in enumerate(table.entries)
    if place in allowed
    for score, reasons in [weigher.weigh(entry)]
    if score > 0
  ]
  scored.sort(key=lambda item: (-item[0], item[2]))
  size = wishes.entries or default_size(table)
  if size < 1:
    raise InputError(f'entries is {size}; at least 1 is needed.')
  chosen: list[Choice] = []
  counts = _Counts()
  for place in _demanded(table, wishes.must_include, weigher, allowed):
    entry = table.entries[place]
    score, reasons = weigher.weigh(entry)
    chosen.append(Choice(entry, score, ('asked for', *reasons)))
    counts.add(entry)
  taken = {(c.entry.relation.entity, c.entry.relation.type) for c in chosen}
  open_ones = [
    item
    for item in scored[:_CANDIDATES]
    if _key(table.entries[item[2]]) not in taken
  ]
  while open_ones and len(chosen) < size:
    worth = [
      score * counts.discount(table.entries[place])
      for score, _, place in open_ones
    ]
    best = int(np.argmax(worth))
    _, reasons, place = open_ones.pop(best)
    entry = table.entries[place]
    together = counts.together(entry)
    chosen.append(Choice(entry, worth[best], (*reasons, *together)))
    counts.add(entry)
  if not chosen:
    raise InputError(
      f'nothing in {table.id!r} stands out: its numbers are all the same.'
    )
  return chosen


def most_salient(table: Table, max_units: int | None) -> Table:
  """A table with room for so many units, special ones counted.

  What is least worth saying goes; the rest keeps its order. None keeps all.
  """
  room = (max_units or 0) - len(SPECIAL_UNITS)
  if max_units is None or len(table.entries) <= room:
    return table
  if room < 1:
    # Says so.
    return cut_table(table, max_units)
  weigher = _Weigher(table)
  worth = [weigher.weigh(entry)[0] for entry in table.entries]
  best = sorted(range(len(worth)), key=lambda place: (-worth[place], place))
  kept = tuple(table.entries[place] for place in sorted(best[:room]))
  cut = len(table.entries) - room
  return replace(table, entries=kept, entries_cut=cut)


def default_size(table: Table) -> int:
  """More of a larger table, but never many.

  Games, whose entries no sheet gave, have the length of a newspaper's report.
  """
  if not table.facts:
    return 24
  return min(max(round(2.2 * math.log2(len(table.entries) + 1)), 4), 18)


def _key(entry: Entry) -> tuple[str, str]:
  return entry.relation.entity, entry.relation.type


class _Counts:
  """What was chosen so far, and how much the like of it is still worth."""

  def __init__(self) -> None:
    self._entities: Counter[tuple[str, str]] = Counter()
    self._measures: Counter[tuple[str, str]] = Counter()
    self._types: Counter[tuple[str, str, bool]] = Counter()
    self._cells: set[tuple[str, str]] = set()

  def add(self, entry: Entry) -> None:
    self._entities[entry.kind, entry.relation.entity] += 1
    self._measures[entry.kind, measure_of(entry)] += 1
    self._types[entry.kind, entry.relation.type, is_whole(entry)] += 1
    if is_cell(entry):
      self._cells.add((entry.relation.entity, measure_of(entry)))

  def discount(self, entry: Entry) -> float:
    entity = self._entities[entry.kind, entry.relation.entity]
    measure = self._measures[entry.kind, measure_of(entry)]
    type = self._types[entry.kind, entry.relation.type, is_whole(entry)]
    worth = _SAME_ENTITY**entity * _SAME_MEASURE ** (measure / 2)
    worth *= _SAME_TYPE**type
    return worth * (1.5 if self.together(entry) else 1.0)

  def together(self, entry: Entry) -> tuple[str, ...]:
    """Whether the value that it explains was chosen."""
    place = entry.relation.entity, measure_of(entry)
    if role_of(entry) in ('change', 'share') and place in self._cells:
      return (f'belongs to {place[1]} of {place[0]}',)
    return ()


class _Weigher:
  """What an entry is worth by itself."""

  def __init__(self, table: Table):
    self._pools = Pools(table)
    self._main = main_types(table)
    self._importance = _importance(table, self._main, self._pools)
    self._days = {
      facts.kind: bool(facts.periods)
      and facts.periods[0].kind in ('date', 'weekday', 'counted')
      for facts in table.facts
    }

  def weigh(self, entry: Entry) -> tuple[float, tuple[str, ...]]:
    if entry.number is None or entry.droppable:
      return 0.0, ()
    role = role_of(entry)
    weights = _DAYS if self._days.get(entry.kind) else _TREND
    main = measure_of(entry) in self._main.get(entry.kind, ())
    weight = (1.0 if main else 0.62) * weights[role]
    reasons = ['what matters most'] if main else []
    if is_whole(entry):
      return self._whole(entry, weight, reasons)
    pool = self._pools.of(entry)
    peak = self._pools.is_peak(entry)
    timely = self._pools.is_last(entry)
    if peak and (self._days.get(entry.kind) or pool.single):
      weight = max(weight if timely else 0, _PEAK * (1 if main else 0.55))
      reasons.append(f'the {"highest" if peak > 0 else "lowest"} of all times')
    elif not timely or (pool.constant and not pool.single):
      return 0.0, ()
    else:
      peak = 0
    place = pool.place(entry.number)
    reasons += list(_rank_reasons(place.top, place.bottom, place.count))
    if abs(place.deviation) >= 2:
      side = 'above' if place.deviation > 0 else 'below'
      reasons.append(
        f'{abs(place.deviation):.1f} usual deviations {side} the median'
      )
    # Of those who played little nobody asks what they did least.
    best, worst = self._pools.standing(entry)
    worst = worst if entry.about else place.count
    if main and not entry.about and place.count < 4:
      weight *= 1.5
    extreme = 1 in (best, worst) and not place.ties
    if not (main or peak or extreme):
      weight *= 0.35
    away = min(abs(place.deviation), 4.0) / 4.0
    rank = _rank_worth(best, worst, place.ties, place.count)
    if role in ('change', 'growth') and pool.against(entry.number):
      rank = 1.0
      reasons.append(f'a {"rise" if entry.number > 0 else "fall"} among others')
    importance = self._importance.get((entry.kind, entry.relation.entity), 0.4)
    if importance == 1.0:
      reasons.append(f'{entry.relation.entity} leads')
    stands_out = 1.0 if peak else 0.55 * rank + 0.45 * away
    return weight * (0.6 * stands_out + 0.4 * importance), tuple(reasons)

  def _whole(
    self, entry: Entry, weight: float, reasons: list[str]
  ) -> tuple[float, tuple[str, ...]]:
    """Of all together: totals of money matter, those of wins hardly."""
    about = entry.about
    assert about is not None and about.measure is not None, 'is_whole'
    dull = about.measure.counted and not about.period
    if dull or self._pools.all_cells(entry).constant:
      return 0.0, ()
    main = measure_of(entry) in self._main.get(entry.kind, ())
    worth = 0.8 if about.measure.shared else 0.45
    reasons = [*reasons, 'all together']
    return weight * worth * (1.0 if main else 0.15), tuple(reasons)


def _rank_reasons(top: int, bottom: int, count: int) -> list[str]:
  if count < 2:
    return []
  if top == 1:
    return [f'highest of {count}']
  if bottom == 1:
    return [f'lowest of {count}']
  return [f'{ordinal(top)} of {count}'] if top < 4 else []


def _rank_worth(best: int, worst: int, ties: int, count: int) -> float:
  """1 for the best, less for the worst and those next to the best."""
  if count < 2:
    return 0.5
  worth = max({1: 1.0, 2: 0.5, 3: 0.3}.get(best, 0.0), 0.75 * (worst == 1))
  return worth / (1 + ties)


def main_types(table: Table) -> dict[str, Set[str]]:
  """The measures that matter most, by kind.

  Given ones; else by name, their own or the table's; else the one that the
  others go with.
  """
  title = split_unit(table.id)[0].lower()
  found: dict[str, Set[str]] = {
    kind: measures for kind, measures in table.main.items() if measures
  }
  for facts in table.facts:
    if facts.kind in found:
      continue
    named = [
      m.name
      for m in facts.measures
      if set(m.label.lower().split()) & _MAIN_WORDS
    ]
    named += [m.name for m in facts.measures if m.label.lower() == title]
    found[facts.kind] = {next(iter(named), None) or _central(facts)}
  return found


def _central(facts: Facts) -> str:
  """The measure that the others go with; the first of equals."""
  measures = [m for m in facts.measures if m.column.better == 'high']
  measures = (measures or list(facts.measures))[:50]
  keys = set(facts.numbers[measures[0].name])
  for measure in measures[1:]:
    keys &= facts.numbers[measure.name].keys()
  if len(measures) < 3 or len(keys) < 3:
    return measures[0].name
  order = sorted(keys)
  rows = np.array([[facts.numbers[m.name][k] for k in order] for m in measures])
  varied = rows.std(axis=1) > 0
  if varied.sum() < 2:
    return measures[0].name
  together = np.abs(np.corrcoef(rows[varied])).mean(axis=1)
  names = [m.name for m, v in zip(measures, varied, strict=True) if v]
  return names[int(np.argmax(np.round(together, 6)))]


def _importance(
  table: Table, main: dict[str, Set[str]], pools: Pools
) -> dict[tuple[str, str], float]:
  """Of entities, by their place in what matters most."""
  found: dict[tuple[str, str], float] = defaultdict(float)
  for entry in table.entries:
    if entry.number is None or is_whole(entry):
      continue
    if measure_of(entry) not in main.get(entry.kind, ()):
      continue
    if role_of(entry) == 'value' and not pools.is_last(entry):
      continue
    if role_of(entry) not in ('value', 'total', 'mean'):
      continue
    best, worst = pools.standing(entry)
    worth = {1: 1.0, 2: 0.75, 3: 0.6}.get(best, 0.3)
    worth = max(worth, 0.55 if worst == 1 else 0.0)
    key = entry.kind, entry.relation.entity
    found[key] = max(found[key], worth)
  return found


def _matcher(table: Table, wish: str) -> Callable[[Entry], bool]:
  """Entries that a wish names: an entity, a column, or `entity:column`."""
  entity, _, column = wish.partition(':')
  names = {e.relation.entity.lower(): e.relation.entity for e in table.entries}
  columns = {
    word.lower(): measure_of(entry)
    for entry in table.entries
    for word in (measure_of(entry), entry.relation.type, *_label(entry))
  }
  types = {e.relation.type.lower() for e in table.entries}

  def has_column(entry: Entry, name: str) -> bool:
    if name.lower() in types and name.lower() not in (
      measure_of(entry).lower(),
      *(label.lower() for label in _label(entry)),
    ):
      return entry.relation.type.lower() == name.lower()
    return measure_of(entry) == columns[name.lower()]

  known = ', '.join(
    [*list(names.values())[:8], *sorted(set(columns.values()))[:8]]
  )
  unknown = InputError(
    f'the table has no entity or column {wish!r}; it has {known}.'
  )
  if column:
    if entity.lower() not in names or column.lower() not in columns:
      raise unknown
    name = names[entity.lower()]
    return lambda e: e.relation.entity == name and has_column(e, column)
  if wish.lower() in names:
    name = names[wish.lower()]
    return lambda e: e.relation.entity == name
  if wish.lower() in columns:
    return lambda e: has_column(e, wish)
  raise unknown


def _label(entry: Entry) -> tuple[str, ...]:
  about = entry.about
  return (about.measure.label,) if about and about.measure else ()


def _allowed(table: Table, about: Sequence[str]) -> Set[int]:
  places = set(range(len(table.entries)))
  if not about:
    return places
  matchers = [_matcher(table, wish) for wish in about]
  return {
    place
    for place, entry in enumerate(table.entries)
    if any(matches(entry) for matches in matchers)
  }


def _demanded(
  table: Table, wishes: Sequence[str], weigher: _Weigher, allowed: Set[int]
) -> list[int]:
  """For every wish, the best entry that fulfils it."""
  places: list[int] = []
  for wish in wishes:
    matches = _matcher(table, wish)
    fitting = [p for p, e in enumerate(table.entries) if matches(e)]
    inside = [place for place in fitting if place in allowed] or fitting
    best = max(inside, key=lambda p: (weigher.weigh(table.entries[p])[0], -p))
    if best not in places:
      places.append(best)
  return places


def arrange(choices: Sequence[Choice], table: Table) -> Plan:
  """Sentences of a plan: all together, then who leads, then the others.

  What is said of an entity stays together; single entries of several entities
  about one measure become a comparison; extremes of all times another.
  """
  pools, main = Pools(table), main_types(table)
  whole = [c for c in choices if is_whole(c.entry)]
  peaks = [
    c
    for c in choices
    if not is_whole(c.entry)
    and pools.is_peak(c.entry)
    and (_is_daily(c.entry) or pools.of(c.entry).single)
  ]
  rest = [c for c in choices if c not in whole and c not in peaks]
  groups = _by(whole, lambda c: (c.entry.kind, measure_of(c.entry)))
  by_entity = _by(rest, lambda c: (c.entry.kind, c.entry.relation.entity))
  single = [g for g in by_entity if len(g) == 1]
  several = [g for g in by_entity if len(g) > 1]
  alike = _by(
    [c for group in single for c in group],
    lambda c: (c.entry.kind, measure_of(c.entry), role_of(c.entry)),
  )
  compared = [
    sorted(group, key=lambda c: pools.standing(c.entry)[0]) for group in alike
  ]
  groups += sorted([*several, *compared], key=lambda g: _lead(g, pools, main))
  groups += _by(peaks, lambda c: (c.entry.kind, measure_of(c.entry)))
  in_order = (
    _in_order(group, pools, main.get(group[0].entry.kind, frozenset()))
    for group in groups
  )
  return tuple(tuple(c.entry.relation for c in group) for group in in_order)


def _is_daily(entry: Entry) -> bool:
  about = entry.about
  kinds = ('date', 'weekday', 'counted')
  return bool(about and about.period and about.period.kind in kinds)


def _lead(
  group: Sequence[Choice], pools: Pools, main: Mapping[str, Set[str]]
) -> tuple[int, int, float]:
  """The first three of what matters most, in their order; then by score."""
  tops = [
    pools.standing(c.entry)[0]
    for c in group
    if measure_of(c.entry) in main.get(c.entry.kind, ())
    and role_of(c.entry) in ('value', 'total', 'mean')
  ]
  # Of games, teams come before players, as in the table.
  kinds = list(pools.kinds) if not pools.facts else []
  kind = kinds.index(group[0].entry.kind) if kinds else 0
  return kind, min([*tops, 4]), -max(choice.score for choice in group)


def _by(
  choices: Sequence[Choice], key: Callable[[Choice], object]
) -> list[list[Choice]]:
  groups: dict[object, list[Choice]] = {}
  for choice in choices:
    groups.setdefault(key(choice), []).append(choice)
  return list(groups.values())


_ROLE_ORDER = ('value', 'total', 'mean', 'share', 'change', 'growth', 'text')


def _in_order(
  group: Sequence[Choice], pools: Pools, main: Set[str]
) -> list[Choice]:
  """What matters most first, then by the best choice; values before changes."""
  entities = {choice.entry.relation.entity for choice in group}
  if len(entities) > 1:
    return sorted(group, key=lambda c: -pools.is_peak(c.entry))
  first: dict[str, int] = {}
  for choice in sorted(group, key=lambda c: measure_of(c.entry) not in main):
    first.setdefault(group_of(choice.entry), len(first))
    first.setdefault(measure_of(choice.entry), len(first))
  return sorted(
    group,
    key=lambda c: (
      first[group_of(c.entry)],
      first[measure_of(c.entry)],
      _ROLE_ORDER.index(role_of(c.entry)),
      -pools.is_peak(c.entry),
      period_of(c.entry),
    ),
  )
