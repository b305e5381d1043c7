"""What the columns of a sheet are: numbers, names, periods, identifiers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stepwise._errors import InputError
from stepwise.tables._amounts import NotNumbers, Style, parse_amounts
from stepwise.tables._calendar import Period, parse_periods
from stepwise.tables._schema import Column
from stepwise.tables._sheets import Sheet

_ID_WORDS = frozenset(
  {
    *('id', 'ids', 'code', 'zip', 'zipcode', 'postcode', 'phone', 'telephone'),
    *('tel', 'fax', 'sku', 'isbn', 'ean', 'iban', 'uuid', 'fips', 'key', 'no'),
    *('nr', 'number', 'ref', 'reference', 'serial', 'account', 'rank'),
    *('position', 'pos', 'place', 'seed', 'standing', 'lat', 'latitude', 'lon'),
    *('lng', 'longitude', '#'),
  }
)
_TIME_WORDS = frozenset(
  {
    *('year', 'years', 'quarter', 'month', 'week', 'date', 'day', 'period'),
    *('season', 'time', 'weekday', 'round', 'datetime', 'timestamp', 'fy'),
  }
)
# Years that say when something began are no amounts.
_YEAR_WORDS = frozenset(
  {
    *('founded', 'built', 'established', 'born', 'opened', 'since', 'released'),
    *('birth', 'start', 'end', 'published', 'year'),
  }
)
_UNIT = re.compile(r'\s*(?:\(([^()]{1,12})\)|\[([^\[\]]{1,12})\])\s*$')
_PERCENT_WORDS = {'pct', 'percent', 'percentage', '%'}
_CODES = {'usd': '$', 'eur': '€', 'gbp': '£', 'jpy': '¥'}
# A column with fewer numbers than this is text without a remark.
_MOSTLY = 0.8


@dataclass(frozen=True, eq=False)
class ReadColumn:
  """A column and what it holds.

  Attributes:
    name: as in the header.
    label: its words, without unit.
    kind: `number`, `period`, `text`, `id` or `empty`.
    cells: as in the sheet.
    numbers: of a column of numbers.
    style: how it writes them.
    periods: of a column of periods.
    note: what a reader may not expect, one sentence, or nothing.
  """

  name: str
  label: str
  kind: str
  cells: Sequence[str | None]
  numbers: Sequence[float | None] = ()
  style: Style = Style()
  periods: Sequence[Period | None] = field(default=(), repr=False)
  note: str = ''


def read_columns(
  sheet: Sheet, given: Mapping[str, Column] = {}
) -> list[ReadColumn]:
  """All columns of a sheet, in their order; types may be given."""
  columns = zip(*sheet.rows, strict=True)
  return [
    _as_told(read_column(name, cells), given.get(name, Column()).type)
    for name, cells in zip(sheet.header, columns, strict=True)
  ]


def _as_told(column: ReadColumn, type: str) -> ReadColumn:
  """The column as the type that a template file gives, if it gives one."""
  if type in ('', column.kind) or column.kind == 'empty':
    return column
  told = ReadColumn(column.name, column.label, type, column.cells)
  if type in ('text', 'id'):
    return told
  present = [cell for cell in column.cells if cell is not None]
  if type == 'period':
    periods = _periods(present, True)
    if periods is None:
      raise InputError(
        f'column {column.name!r} is given as a period, but its cells are no '
        f'times: {present[0]!r:.40}.'
      )
    found = [None if cell is None else periods[cell] for cell in column.cells]
    return replace(told, periods=found)
  amounts = parse_amounts(column.cells)
  if isinstance(amounts, NotNumbers):
    raise InputError(
      f'column {column.name!r} is given as a number, but row {amounts.row + 1} '
      f'has {amounts.cell!r:.40}.'
    )
  style = _with_header_unit(amounts.style, column.name)
  return replace(told, numbers=amounts.numbers, style=style)


def _with_header_unit(style: Style, name: str) -> Style:
  _, unit = split_unit(name)
  if unit and not (style.prefix or style.suffix):
    return style.with_unit(unit)
  return style


def read_column(name: str, cells: Sequence[str | None]) -> ReadColumn:
  """Tells what a column holds from its name and all of its cells."""
  label, _ = split_unit(name)
  present = [cell for cell in cells if cell is not None]
  if not present:
    return ReadColumn(name, label, 'empty', cells)
  words = set(label.lower().split())
  periods = _periods(present, bool(words & _TIME_WORDS))
  if periods is not None:
    found = [None if cell is None else periods[cell] for cell in cells]
    return ReadColumn(name, label, 'period', cells, periods=found)
  amounts = parse_amounts(cells)
  if isinstance(amounts, NotNumbers):
    note = ''
    if amounts.share >= _MOSTLY:
      note = (
        f'column {name!r} is read as text: row {amounts.row + 1} has '
        f'{amounts.cell!r:.40}, no number like the others.'
      )
    return ReadColumn(name, label, 'text', cells, note=note)
  if _is_id(label, present, amounts.numbers):
    return ReadColumn(name, label, 'id', cells)
  style = _with_header_unit(amounts.style, name)
  return ReadColumn(name, label, 'number', cells, amounts.numbers, style)


def split_unit(name: str) -> tuple[str, str]:
  """The words of a header, and its unit.

  >>> split_unit('max_temp (°C)')
  ('max temp', '°C')
  >>> split_unit('GoalsFor'), split_unit('sales_usd'), split_unit('GDP')
  (('goals for', ''), ('sales', '$'), ('GDP', ''))
  """
  match = _UNIT.search(name)
  unit = (match[1] or match[2]).strip() if match else ''
  words = name[: match.start()] if match else name
  words = re.sub(r'(?<=[a-z])(?=[A-Z])', ' ', words).replace('_', ' ').split()
  last = words[-1].lower() if words else ''
  if not unit and len(words) > 1 and (last in _CODES or last in _PERCENT_WORDS):
    unit = _CODES.get(last, '%')
    words = words[:-1]
  label = ' '.join(
    w if w.isupper() and len(w) > 1 else w.lower() for w in words
  )
  return label or name.strip(), unit


def _periods(cells: Sequence[str], expected: bool) -> dict[str, Period] | None:
  """Periods by cell; numbers are years only where the header says so."""
  distinct = list(dict.fromkeys(cells))
  if not expected and (len(distinct) < 3 or distinct[0].isdecimal()):
    return None
  # Most columns are told apart by their first cells.
  if parse_periods(distinct[:3]) is None:
    return None
  periods = parse_periods(distinct)
  return dict(zip(distinct, periods, strict=True)) if periods else None


def _is_id(
  label: str, cells: Sequence[str], numbers: Sequence[float | None]
) -> bool:
  words = label.lower().split()
  if words and words[-1].strip('.') in _ID_WORDS:
    return True
  if not all(cell.isdecimal() for cell in cells):
    return False
  if any(len(cell) > 1 and cell[0] == '0' for cell in cells):
    return True
  whole = [int(cell) for cell in cells]
  if set(words) & _YEAR_WORDS and all(1000 <= n <= 2200 for n in whole):
    return True
  # Rows that count from one to the next.
  return len(whole) > 3 and whole == list(
    range(whole[0], whole[0] + len(whole))
  )
