"""Where an entry stands among those that it can be compared with."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stepwise.tables._facts import Facts
from stepwise.tables._table import Entry, Table


class Place(NamedTuple):
  """A number among others.

  Attributes:
    top: 1 for the highest.
    bottom: 1 for the lowest.
    ties: how many others are equal.
    count: how many there are.
    deviation: from the median, in units of the usual deviation.
  """

  top: int
  bottom: int
  ties: int
  count: int
  deviation: float


class Pool:
  """Numbers that are compared with each other."""

  def __init__(self, numbers: Sequence[float]):
    self._sorted = sorted(numbers)
    values = np.array(self._sorted)
    self.median = float(np.median(values))
    spread = 1.4826 * float(np.median(np.abs(values - self.median)))
    self.scale = spread or float(values.std())

  def place(self, number: float) -> Place:
    left = bisect_left(self._sorted, number)
    right = bisect_right(self._sorted, number)
    count = len(self._sorted)
    away = (number - self.median) / self.scale if self.scale else 0.0
    return Place(count - right + 1, left + 1, right - left - 1, count, away)

  @property
  def falls(self) -> int:
    """How many are below zero."""
    return bisect_left(self._sorted, 0.0)

  @property
  def rises(self) -> int:
    return len(self._sorted) - bisect_right(self._sorted, 0.0)

  def against(self, number: float) -> bool:
    """Whether it is one of few that fall, or rise."""
    alike = self.rises if number > 0 else self.falls
    return 0 < alike <= len(self._sorted) / 4

  @property
  def single(self) -> bool:
    return len(self._sorted) == 1

  @property
  def constant(self) -> bool:
    return self._sorted[0] == self._sorted[-1]


class Pools:
  """All pools of a table."""

  def __init__(self, table: Table):
    self._table = table
    self.facts: dict[str, Facts] = {facts.kind: facts for facts in table.facts}

  @cached_property
  def kinds(self) -> dict[str, None]:
    """Of all entries, in their order."""
    return dict.fromkeys(entry.kind for entry in self._table.entries)

  @cached_property
  def _by_type(self) -> dict[tuple[str, str], Pool]:
    numbers: dict[tuple[str, str], list[float]] = defaultdict(list)
    for entry in self._table.entries:
      if entry.number is not None and not is_whole(entry):
        numbers[entry.kind, entry.relation.type].append(entry.number)
    return {key: Pool(found) for key, found in numbers.items()}

  @cached_property
  def _by_measure(self) -> dict[tuple[str, str], Pool]:
    numbers: dict[tuple[str, str], list[float]] = defaultdict(list)
    for entry in self._table.entries:
      if entry.number is not None and is_cell(entry):
        numbers[entry.kind, measure_of(entry)].append(entry.number)
    return {key: Pool(found) for key, found in numbers.items()}

  def of(self, entry: Entry) -> Pool:
    """Entries of the same kind and type."""
    return self._by_type[entry.kind, entry.relation.type]

  def all_cells(self, entry: Entry) -> Pool:
    """Cells of the same kind and measure, at all times."""
    return self._by_measure[entry.kind, measure_of(entry)]

  def place(self, entry: Entry) -> Place:
    assert entry.number is not None, 'only numbers have a place'
    return self.of(entry).place(entry.number)

  def standing(self, entry: Entry) -> tuple[int, int]:
    """Its place from the best, and from the worst: low may be better."""
    place = self.place(entry)
    about = entry.about
    amount = role_of(entry) in ('value', 'total', 'mean')
    low = about and about.measure and about.measure.column.better == 'low'
    if amount and low:
      return place.bottom, place.top
    return place.top, place.bottom

  def is_peak(self, entry: Entry) -> int:
    """1 for the highest cell of all times, -1 for the lowest, else 0."""
    if entry.number is None or not is_cell(entry) or not period_of(entry):
      return 0
    place = self.all_cells(entry).place(entry.number)
    if place.ties or place.count < 3:
      return 0
    return int(place.top == 1) - int(place.bottom == 1)

  def is_last(self, entry: Entry) -> bool:
    """Whether an entry is of the last time there is, or of none."""
    about = entry.about
    if about is None or about.period is None:
      return True
    return about.period == self.facts[entry.kind].periods[-1]


def is_whole(entry: Entry) -> bool:
  return entry.about is not None and entry.about.whole


def is_cell(entry: Entry) -> bool:
  return role_of(entry) == 'value' and not is_whole(entry)


def role_of(entry: Entry) -> str:
  if entry.about is not None:
    return entry.about.role
  return 'value' if entry.number is not None else 'text'


def period_of(entry: Entry) -> str:
  about = entry.about
  return about.period.text if about and about.period else ''


def measure_of(entry: Entry) -> str:
  """The column of an entry; its type, where no sheet was read."""
  about = entry.about
  return about.measure_name if about and about.measure else entry.relation.type


def group_of(entry: Entry) -> str:
  """The group of its measure, which is one of its own where none is given."""
  about = entry.about
  group = about.measure.column.group if about and about.measure else ''
  return f'{group} ' if group else measure_of(entry)
