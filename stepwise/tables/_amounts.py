"""Numbers as tables write them: money, percentages, units, separators."""

import dataclasses
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stepwise._errors import InputError

# Cells that stand for nothing, in lower case.
MISSING = frozenset(
  {
    *('', '-', '--', '\u2013', '\u2014', '?', '.', '..', '...'),
    *('n/a', 'na', 'n.a.', '#n/a', 'nan', 'null', 'none', 'nil', 'missing'),
  }
)
_CURRENCY = r'[$€£¥₹₩₽₺]|(?:US|CA|AU|NZ|HK)\$|CHF|USD|EUR|GBP|JPY'
_AMOUNT = re.compile(
  rf"""
  (?P<open>\()?(?P<sign>[+\-\u2212])?\s*
  (?P<prefix>{_CURRENCY})?\s*(?P<inner>[-\u2212])?
  (?P<digits>\d[\d.,'\u2019\u00a0\u202f\u2009\ ]*(?<=\d)|[.,]\d+)
  (?P<exponent>[eE][+-]?\d+)?
  (?P<suffix>[\s\u00a0]?(?:{_CURRENCY}|[%‰°µA-Za-z][\w°/%²³µ·]{{0,11}}))?
  (?P<close>\))?
  """,
  re.VERBOSE,
)
_PLAIN = re.compile(r'-?\d+(?:\.\d+)?')
_SPACES = '\u00a0\u202f\u2009 '
_QUOTES = "'\u2019"
# Digits with a decimal point, and with a decimal comma.
_POINT, _COMMA = (
  re.compile(
    rf'(?:\d{{1,3}}(?:[{group}{_SPACES}{_QUOTES}]\d{{3}})+|\d+|)(?:{point}\d+)?'
  )
  for group, point in ((',', r'\.'), (r'\.', ','))
)
_SCALES = {'k': 1e3, 'm': 1e6, 'mn': 1e6, 'bn': 1e9, 'b': 1e9}
# Decimals at most, and those of columns of very small numbers.
_DECIMALS, _TINY, _SMALLEST = 6, 12, 1e-3
# From here on digits are written in groups of three.
_GROUPED = 10_000


@dataclass(frozen=True)
class Style:
  """How a column writes its numbers, so that a report writes them the same.

  Attributes:
    prefix: a currency.
    suffix: a unit, with its space.
    decimals: at most.
    group: between groups of three digits.
    point: before the decimals.
  """

  prefix: str = ''
  suffix: str = ''
  decimals: int = 0
  group: str = ','
  point: str = '.'

  @property
  def percent(self) -> bool:
    return self.suffix.strip() == '%'

  def with_unit(self, unit: str) -> 'Style':
    """The unit that a header gives, or a template file."""
    if re.fullmatch(_CURRENCY, unit) and not unit.isalpha():
      return dataclasses.replace(self, prefix=unit, suffix='')
    space = '' if unit[:1] in '%‰°' and unit != '°C' else ' '
    return dataclasses.replace(self, prefix='', suffix=space + unit)

  def write(self, number: float, decimals: int | None = None) -> str:
    """
    >>> Style(prefix='$', decimals=2).write(-12345.5)
    '-$12,345.50'
    >>> Style(suffix='%', decimals=1, point=',').write(7.25, decimals=2)
    '7,25%'
    """
    places = self.decimals if decimals is None else decimals
    text = f'{abs(number):,.{places}f}'
    whole, _, part = text.partition('.')
    group = self.group if abs(number) >= _GROUPED else ''
    digits = whole.replace(',', group) + (self.point + part if part else '')
    # What is rounded to nothing has no sign.
    sign = '-' if number < 0 and any(c in '123456789' for c in digits) else ''
    return f'{sign}{self.prefix}{digits}{self.suffix}'


class Amounts(NamedTuple):
  """A column of numbers; None is missing."""

  numbers: list[float | None]
  style: Style


class NotNumbers(NamedTuple):
  """Why a column is none: the first row and its cell."""

  row: int
  cell: str
  share: float


def is_missing(cell: str) -> bool:
  return cell.strip().lower() in MISSING


def parse_amounts(cells: Sequence[str | None]) -> Amounts | NotNumbers:
  """Numbers of a column, all of one unit and one way of writing.

  `1,234` is a whole number, unless another cell shows that the comma is a
  decimal one.

  >>> parse_amounts(['$1,200', '(50)', None]).numbers
  [1200.0, -50.0, None]
  >>> parse_amounts(['1.234,5', '7']).numbers
  [1234.5, 7.0]
  """
  parts = [None if cell is None else _split(cell) for cell in cells]
  present = [i for i, cell in enumerate(cells) if cell is not None]
  bad = [i for i in present if parts[i] is None]
  if not present or bad:
    row = bad[0] if bad else 0
    share = 1 - len(bad) / max(len(present), 1)
    return NotNumbers(row, (cells[row] or '') if cells else '', share)
  known = [part for part in parts if part is not None]
  first = next((p for p in known if not p.is_zero), known[0])
  units = {p.unit for p in known if not p.is_zero}
  if any(prefix for prefix, _ in units):
    # Accounts write the currency in the first row alone.
    units.discard(('', ''))
  scaled = len(units) > 1 and _are_scales(units)
  if len(units) > 1 and not scaled:
    row = next(
      i
      for i in present
      if (part := parts[i]) is not None and part.unit != first.unit
    )
    return NotNumbers(row, cells[row] or '', 0.0)
  for pattern, point in ((_POINT, '.'), (_COMMA, ',')):
    if all(p.exponent or pattern.fullmatch(p.digits) for p in known):
      numbers = [None if p is None else p.number(point, scaled) for p in parts]
      return Amounts(numbers, _style(known, first, point, scaled))
  row = next(
    i
    for i in present
    if (part := parts[i]) is not None and not _POINT.fullmatch(part.digits)
  )
  return NotNumbers(row, cells[row] or '', 0.0)


class _Parts(NamedTuple):
  negative: bool
  prefix: str
  digits: str
  exponent: str
  suffix: str

  @property
  def unit(self) -> tuple[str, str]:
    return self.prefix, self.suffix.strip()

  @property
  def is_zero(self) -> bool:
    return not any(character in '123456789' for character in self.digits)

  def number(self, point: str, scaled: bool) -> float:
    digits = self.digits
    if not digits.isdecimal() and not self.exponent:
      for mark in (*_SPACES, *_QUOTES, ',.'.replace(point, '')):
        digits = digits.replace(mark, '')
      digits = digits.replace(point, '.')
    value = float(digits + self.exponent)
    if scaled:
      value *= _SCALES.get(self.suffix.strip().lower(), 1.0)
    return -value if self.negative else value

  def decimals(self, point: str, most: int) -> int:
    """As many as are written; where that is too many, those that count."""
    written = len(self.digits.partition(point)[2])
    if not self.exponent and written <= most:
      return written
    text = f'{self.number(point, False):.{most}f}'.rstrip('0')
    return len(text.partition('.')[2])


def _split(cell: str) -> _Parts | None:
  if _PLAIN.fullmatch(cell):
    return _Parts(cell[0] == '-', '', cell.lstrip('-'), '', '')
  match = _AMOUNT.fullmatch(cell.strip())
  if match is None or bool(match['open']) != bool(match['close']):
    return None
  signs = (match['sign'] or '') + (match['inner'] or '')
  return _Parts(
    bool(match['open']) or '-' in signs or '\u2212' in signs,
    match['prefix'] or '',
    match['digits'],
    match['exponent'] or '',
    match['suffix'] or '',
  )


def _are_scales(units: set[tuple[str, str]]) -> bool:
  """`$900k` and `$1.2M`: one currency, and thousands or millions of it."""
  prefixes = {prefix for prefix, _ in units}
  suffixes = {suffix.lower() for _, suffix in units}
  return (
    len(prefixes) == 1
    and '' not in prefixes
    and suffixes
    <= {
      '',
      *_SCALES,
    }
  )


def _style(
  known: Sequence[_Parts], first: _Parts, point: str, scaled: bool
) -> Style:
  group = ',' if point == '.' else '.'
  for part in known:
    marks = [c for c in part.digits if c in f'{_SPACES}{_QUOTES}']
    group = marks[0] if marks else group
  largest = max(abs(part.number(point, scaled)) for part in known)
  most = _TINY if largest < _SMALLEST else _DECIMALS
  decimals = 0 if scaled else max(part.decimals(point, most) for part in known)
  suffix = '' if scaled else first.suffix
  return Style(first.prefix, suffix, decimals, group, point)


def check_formula(cell: str, place: str) -> None:
  """A spreadsheet's formula says nothing to who has no spreadsheet."""
  if len(cell) > 1 and cell[0] == '=' and (cell[1].isalpha() or '(' in cell):
    raise InputError(
      f'{place}: {cell!r:.40} is a formula; save the table with its values.'
    )


def parse_float(text: str) -> float | None:
  """A finite number in Python's own spelling."""
  try:
    number = float(text)
  except ValueError:
    return None
  return number if math.isfinite(number) else None
