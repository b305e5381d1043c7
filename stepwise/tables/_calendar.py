"""Days, months and other periods, in English whatever the machine's locale."""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

WEEKDAYS = (
  *('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'),
  'Sunday',
)
MONTHS = (
  *('January', 'February', 'March', 'April', 'May', 'June', 'July'),
  *('August', 'September', 'October', 'November', 'December'),
)
_MONTH = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_DAY = {name[:3].lower(): number for number, name in enumerate(WEEKDAYS)}
_NAMES = {name.lower() for name in (*MONTHS, *WEEKDAYS)} | {
  *_MONTH,
  *_DAY,
  *('sept', 'tues', 'thur', 'thurs'),
}
_COUNTED = 'week|round|day|wave|period|sprint|matchday|year|stage|season|lap'
_PATTERNS = {
  'year': re.compile(r'(?:FY ?)?(?P<year>1[5-9]\d\d|2[01]\d\d)', re.I),
  'quarter': re.compile(
    r'(?:(?P<year>\d{4})[ -]?)?Q(?P<part>[1-4])(?:[ -/]?(?P<late>\d{4}))?', re.I
  ),
  'iso': re.compile(
    r'(?P<year>\d{4})[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)'
    r'(?:[T ](?P<time>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?'
  ),
  'numeric': re.compile(
    r'(?P<a>\d\d?)(?P<sep>[./])(?P<b>\d\d?)[./](?P<y>\d{4})'
  ),
  'day month': re.compile(
    r'(?P<day>\d\d?)\.? (?P<name>[A-Za-z]+)\.?,?(?: (?P<year>\d{4}))?'
  ),
  'month day': re.compile(
    r'(?P<name>[A-Za-z]+)\.? (?P<day>\d\d?)(?:,? (?P<year>\d{4}))?'
  ),
  'month': re.compile(r'(?P<name>[A-Za-z]+)\.?(?:[ -](?P<year>\d{4}))?'),
  'iso month': re.compile(r'(?P<year>\d{4})[-/](?P<month>0[1-9]|1[0-2])'),
  'weekday': re.compile(r'(?P<name>[A-Za-z]+)\.?'),
  'counted': re.compile(rf'(?P<name>{_COUNTED}) ?(?P<number>\d+)', re.I),
}


class Period(NamedTuple):
  """A time of a table.

  Attributes:
    order: sorts it among periods of its kind.
    kind: `date`, `month`, `quarter`, `year`, `weekday` or `counted`.
    text: how to speak of it, without a preposition.
  """

  order: tuple[int | str, ...]
  kind: str
  text: str

  @property
  def phrase(self) -> str:
    """
    >>> Period((2024, 4), 'quarter', 'Q4 2024').phrase
    'in Q4 2024'
    """
    return f'{"on" if self.kind in ("date", "weekday") else "in"} {self.text}'


def weekday(date: datetime.date) -> str:
  """
  >>> weekday(datetime.date(2016, 12, 25))
  'Sunday'
  """
  return WEEKDAYS[date.weekday()]


def parse_periods(cells: Sequence[str]) -> list[Period] | None:
  """Periods of one kind, or None if the cells are anything else.

  What all have in common, as a year, is left out of their texts. In dates such
  as 3/4/2024 the month comes first, unless a number above 12 tells otherwise;
  between dots the day does.

  >>> [p.text for p in parse_periods(['2024-Q1', '2024-Q2']) or ()]
  ['Q1', 'Q2']
  >>> [p.text for p in parse_periods(['4/3/2024', '30/3/2024']) or ()]
  ['4 March', '30 March']
  """
  cells = [cell.strip() for cell in cells]
  if not cells:
    return None
  for reader in (_years, _quarters, _dates, _months, _weekdays, _counted):
    found = reader(cells)
    if found is not None:
      return found
  return None


def _matches(name: str, cells: Sequence[str]) -> list[dict[str, str]] | None:
  pattern, found = _PATTERNS[name], []
  for cell in cells:
    match = pattern.fullmatch(cell)
    if match is None:
      return None
    found.append(match.groupdict(''))
  return found


def _years(cells: Sequence[str]) -> list[Period] | None:
  found = _matches('year', cells)
  if found is None:
    return None
  pairs = zip(cells, found, strict=True)
  return [Period((int(f['year']),), 'year', cell) for cell, f in pairs]


def _quarters(cells: Sequence[str]) -> list[Period] | None:
  found = _matches('quarter', cells)
  if found is None:
    return None
  years = [f['year'] or f['late'] for f in found]
  one_year = len(set(years)) == 1
  return [
    Period(
      (int(year or 0), int(f['part'])),
      'quarter',
      f'Q{f["part"]}' if one_year or not year else f'Q{f["part"]} {year}',
    )
    for f, year in zip(found, years, strict=True)
  ]


def _months(cells: Sequence[str]) -> list[Period] | None:
  named = _matches('month', cells)
  if named is not None and all(_month(f['name']) for f in named):
    dates = [(int(f['year'] or 0), _month(f['name'])) for f in named]
  elif (found := _matches('iso month', cells)) is not None:
    dates = [(int(f['year']), int(f['month'])) for f in found]
  else:
    return None
  one_year = len({year for year, _ in dates}) == 1
  return [
    Period(
      (year, month),
      'month',
      MONTHS[month - 1] + ('' if one_year or not year else f' {year}'),
    )
    for year, month in dates
  ]


def _weekdays(cells: Sequence[str]) -> list[Period] | None:
  found = _matches('weekday', cells)
  if found is None or any(f['name'].lower() not in _NAMES for f in found):
    return None
  numbers = [_DAY.get(f['name'][:3].lower()) for f in found]
  if None in numbers:
    return None
  known = [number for number in numbers if number is not None]
  return [Period((n,), 'weekday', WEEKDAYS[n]) for n in known]


def _counted(cells: Sequence[str]) -> list[Period] | None:
  found = _matches('counted', cells)
  if found is None or len({f['name'].lower() for f in found}) > 1:
    return None
  return [
    Period(
      (int(f['number']),), 'counted', f'{f["name"].lower()} {int(f["number"])}'
    )
    for f in found
  ]


def _dates(cells: Sequence[str]) -> list[Period] | None:
  try:
    dates = list(_read_dates(cells))
  except ValueError:
    return None
  return _date_periods(dates) if dates else None


_Day = tuple[datetime.date, str]


def _read_dates(cells: Sequence[str]) -> Iterator[_Day]:
  """Days and times; nothing if the cells are no dates."""
  found = _matches('iso', cells)
  if found is not None:
    for f in found:
      date = datetime.date(int(f['year']), int(f['month']), int(f['day']))
      yield date, '' if f['time'] == '00:00' else f['time']
    return
  found = _matches('numeric', cells)
  if found is not None:
    day_first = any(f['sep'] == '.' or int(f['a']) > 12 for f in found)
    for f in found:
      day, month = (f['a'], f['b']) if day_first else (f['b'], f['a'])
      yield datetime.date(int(f['y']), int(month), int(day)), ''
    return
  found = _matches('day month', cells) or _matches('month day', cells)
  if found is not None and all(_month(f['name']) for f in found):
    for f in found:
      # A leap year: without one, every day of the year must be possible.
      year = int(f['year'] or 1904)
      yield datetime.date(year, _month(f['name']), int(f['day'])), ''


def _date_periods(dates: Sequence[_Day]) -> list[Period]:
  days = [date for date, _ in dates]
  one_week = (max(days) - min(days)).days < 7
  one_year = len({date.year for date in days}) == 1
  periods = []
  for date, time in dates:
    if one_week and date.year != 1904:
      text = weekday(date)
    else:
      text = f'{date.day} {MONTHS[date.month - 1]}'
      text += '' if one_year else f' {date.year}'
    order = date.toordinal(), time
    periods.append(Period(order, 'date', f'{text} at {time}' if time else text))
  return periods


def _month(name: str) -> int:
  """The number of a month, 0 for other words."""
  known = name.lower() in _NAMES
  return _MONTH.get(name[:3].lower(), 0) if known else 0
