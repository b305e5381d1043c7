"""Words, sentences and numbers of English game reports."""

import re
from collections.abc import Sequence
from typing import NamedTuple

# Initials and short forms keep their stop, hyphens and possessives are words
# of their own. Tokenising the joined tokens again changes nothing.
_TOKEN = re.compile(
  r"""
    (?:[A-Za-z]\.){2,}                       # J.R.
  | [A-Z]\.[A-Z](?!\w)                       # C.J
  | (?:Jr|Sr|Dr|Mr|St|vs|Jan|Feb|Mar|Apr|Aug|Sept|Oct|Nov|Dec)\.
  | \.?\d+(?:[.:,]\d+)*[^\W\d_]*             # .500 4:30 76ers
  | [^\W\d_]+(?:['\u2019](?!s(?![^\W\d_]))[^\W\d_]+)*  # O'Neal
  | ['\u2019]s(?![^\W\d_])
  | \S
  """,
  re.VERBOSE,
)
_STOPS = frozenset('.!?')
_CLOSING = frozenset(['"', "'", '\u2019', '\u201d', ')', ']'])

_UNITS = (
  *('zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'),
  *('nine', 'ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen'),
  *('sixteen', 'seventeen', 'eighteen', 'nineteen'),
)
_TENS = (
  *('twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty'),
  'ninety',
)
_UNIT_VALUES = {word: value for value, word in enumerate(_UNITS)}
_TEN_VALUES = {word: 10 * value for value, word in enumerate(_TENS, 2)}
# Longer ones are no amounts, and very long ones no numbers for Python.
_MAX_DIGITS = 9
_THREE_POINT = frozenset(
  {'point', 'pointer', 'pointers', 'pt', 'ball', 'balls'}
)


class Number(NamedTuple):
  """A whole number in `tokens[start:end]`."""

  start: int
  end: int
  value: int


def tokenize(text: str) -> list[str]:
  """
  >>> ' '.join(tokenize("J.R. Hill's 22-point night (7-of-11) ended it."))
  "J.R. Hill 's 22 - point night ( 7 - of - 11 ) ended it ."
  """
  return _TOKEN.findall(text)


def sentence_tokens(text: str) -> list[list[str]]:
  """Tokens of every sentence; a stop and the brackets after it end one."""
  sentences: list[list[str]] = []
  ended = True
  for token in tokenize(text):
    if ended and not (sentences and token in _STOPS | _CLOSING):
      sentences.append([])
      ended = False
    sentences[-1].append(token)
    ended = ended or token in _STOPS
  return sentences


def find_numbers(tokens: Sequence[str]) -> list[Number]:
  """Whole numbers in digits or words; not the three of `three - pointers`.

  >>> find_numbers('twenty - two points , 9 boards'.split())
  [Number(start=0, end=3, value=22), Number(start=5, end=6, value=9)]
  """
  numbers, position = [], 0
  while position < len(tokens):
    number = _number_at(tokens, position)
    if number is None:
      position += 1
    else:
      position = number.end
      if not _is_no_amount(tokens, number):
        numbers.append(number)
  return numbers


def parse_number(text: str) -> int | None:
  """The whole number that a text is, or None."""
  tokens = tokenize(text)
  number = _number_at(tokens, 0) if tokens else None
  return number.value if number and number.end == len(tokens) else None


def _number_at(tokens: Sequence[str], start: int) -> Number | None:
  word = tokens[start].lower()
  if word.isdecimal() and len(word) <= _MAX_DIGITS:
    return Number(start, start + 1, int(word))
  if word in _UNIT_VALUES:
    return Number(start, start + 1, _UNIT_VALUES[word])
  if word not in _TEN_VALUES:
    return None
  following = [token.lower() for token in tokens[start + 1 : start + 3]]
  unit = following[-1] if following[:1] == ['-'] else (following or [''])[0]
  value = _UNIT_VALUES.get(unit, 0)
  if not 1 <= value <= 9:
    return Number(start, start + 1, _TEN_VALUES[word])
  words = 3 if following[0] == '-' else 2
  return Number(start, start + words, _TEN_VALUES[word] + value)


def _is_no_amount(tokens: Sequence[str], number: Number) -> bool:
  """`three - point range`, `3 - pointers` and `one of the best`."""
  rest = [token.lower() for token in tokens[number.end : number.end + 2]]
  if number.value == 1 and rest[:1] == ['of']:
    return True
  after_hyphen = rest[1:] if rest[:1] == ['-'] else rest
  is_three_point = number.value == 3 and after_hyphen[:1] != ['points']
  return is_three_point and bool(_THREE_POINT.intersection(after_hyphen[:1]))
