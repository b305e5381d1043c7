"""Numbers of a text, and the words around them."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from stepwise.tables._words import singular

_DIGITS = (
  r"\d{1,3}(?:[.,'\u2019\u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
)
_NUMERAL = re.compile(
  rf"""
  (?<![\w.])(?P<money>[$€£¥₹])?\s?(?P<digits>{_DIGITS})(?![\d])
  (?P<scale>\s?(?:thousand|million|billion|k|m|bn)\b)?
  (?P<percent>\s?(?:%|per\ ?cent\b|percent(?:age\ points?)?\b))?
  """,
  re.VERBOSE | re.IGNORECASE,
)
_SCALES = {'t': 1e3, 'k': 1e3, 'm': 1e6, 'b': 1e9}
_SMALL = (
  *('one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'),
  *('ten', 'eleven', 'twelve'),
)
WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
UP = frozenset(
  {
    *('rose', 'rise', 'rises', 'risen', 'up', 'more', 'higher', 'grew', 'grow'),
    *('increased', 'increase', 'gained', 'gain', 'climbed', 'above', 'jumped'),
    *('soared', 'surged', 'improved', 'growing', 'rising'),
  }
)
DOWN = frozenset(
  {
    *('fell', 'fall', 'falls', 'fallen', 'down', 'fewer', 'less', 'lower'),
    *('decreased', 'decrease', 'lost', 'dropped', 'drop', 'declined', 'below'),
    *('shrank', 'slipped', 'sank', 'eased', 'decline', 'tumbled', 'falling'),
  }
)
SHARES = frozenset({'of', 'share', 'total', 'all', 'accounted'})
MEANS = frozenset({'mean', 'average', 'averaged', 'averaging', 'typical'})
TOTALS = frozenset(
  {'total', 'totals', 'together', 'overall', 'altogether', 'combined'}
)
# How far around a number its words are, in characters.
_BEFORE, _AFTER = 70, 45


class Numeral(NamedTuple):
  """A number in a sentence.

  Attributes:
    start, end: in the sentence, with a scale and a percent sign.
    digits: as they are written.
    scale: of `thousand`, `million` and the like.
    percent: whether it is a percentage.
    money: the sign of a currency.
    word: whether it is spelt.
  """

  start: int
  end: int
  digits: str
  scale: float
  percent: bool
  money: str
  word: bool = False

  def value(self, point: str) -> tuple[float, float] | None:
    """Its number, and half a unit of its last digit; None if it is none."""
    whole, _, part = self.digits.rpartition(point)
    if not whole or (len(part) == 3 and self.digits.count(point) > 1):
      whole, part = self.digits, ''
    if part and not part.isdigit():
      return None
    digits = re.sub(r'\D', '', whole)
    number = float(f'{digits}.{part or 0}')
    return number * self.scale, 0.5 * 10.0 ** -len(part) * self.scale


class Window:
  """The words around a number."""

  def __init__(self, sentence: str, numeral: Numeral):
    self.sentence = sentence
    self._end = numeral.end
    start = max(numeral.start - _BEFORE, 0)
    self._before = sentence[start : numeral.start]
    self._after = sentence[numeral.end : numeral.end + _AFTER]
    # Another number begins another statement.
    self._after = re.split(r'[;(]|(?<=\D)\d', self._after)[0]
    self._before = self._before.rpartition(';')[2]

  def follows(self, unit: str) -> bool:
    """Whether a unit stands right behind the number."""
    rest = self.sentence[self._end :].lstrip(' \u00a0\u202f')
    return rest.startswith(unit) and not rest[len(unit) :][:1].isalnum()

  def opens_aside(self, start: int) -> bool:
    """Whether somebody is named in brackets right behind the number."""
    return bool(re.fullmatch(r'.{0,12}\(', self.sentence[self._end : start]))

  @cached_property
  def after(self) -> str:
    return self._after

  @cached_property
  def near(self) -> frozenset[str]:
    return stems(self._before + ' ' + self._after)

  @cached_property
  def just_after(self) -> list[str]:
    return [word.lower() for word in WORD.findall(self._after)][:4]

  @cached_property
  def just_before(self) -> list[str]:
    return [word.lower() for word in WORD.findall(self._before)][-8:]

  @cached_property
  def movement(self) -> str:
    """The nearest word of rising or falling; one right behind comes first."""
    cues = UP | DOWN
    if self.just_after[:1] and self.just_after[0] in cues:
      return self.just_after[0]
    before = [word for word in self.just_before if word in cues]
    after = [word for word in self.just_after if word in cues]
    return next(iter([*before[::-1], *after]), '')

  @cached_property
  def all(self) -> frozenset[str]:
    return stems(self.sentence)


def stem(word: str) -> str:
  return singular(word.lower())


def stems(text: str) -> frozenset[str]:
  return frozenset(map(stem, WORD.findall(text)))


def find_numerals(
  sentence: str, inside: Callable[[int], bool]
) -> Iterator[Numeral]:
  """Numbers in digits and small ones in words.

  Args:
    sentence: to look in.
    inside: whether a place is in a name; numbers there are none.
  """
  for match in _NUMERAL.finditer(sentence):
    if not inside(match.start('digits')):
      yield _numeral(match)
  for match in WORD.finditer(sentence):
    if match[0].lower() in _SMALL and not inside(match.start()):
      digits = str(_SMALL.index(match[0].lower()) + 1)
      span = match.start(), match.end()
      yield Numeral(*span, digits, 1.0, False, '', word=True)


def _numeral(match: re.Match[str]) -> Numeral:
  scale = (match['scale'] or '').strip().lower()
  percent = (match['percent'] or '').strip().lower()
  # `12 points` are no percentage.
  is_percent = percent.startswith(('%', 'per'))
  return Numeral(
    match.start('digits'),
    match.end() if is_percent else match.end('scale' if scale else 'digits'),
    match['digits'],
    _SCALES[scale[0]] if scale else 1.0,
    is_percent,
    match['money'] or '',
  )
