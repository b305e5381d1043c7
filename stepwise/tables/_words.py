"""Small matters of English: lists, plurals, numbers and ranks in words."""

from collections.abc import Sequence

_NUMBERS = (
  *('no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'),
  *('nine', 'ten', 'eleven', 'twelve'),
)
_ORDINALS = (
  *('', 'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'),
  *('eighth', 'ninth', 'tenth'),
)
_SINGULAR_S = ('ss', 'us', 'is')
_IRREGULAR = {
  'person': 'people',
  'child': 'children',
  'man': 'men',
  'woman': 'women',
  'series': 'series',
  'species': 'species',
  'staff': 'staff',
}


def listed(items: Sequence[str], last: str = 'and') -> str:
  """
  >>> listed(['a']), listed(['a', 'b']), listed(['a', 'b', 'c'])
  ('a', 'a and b', 'a, b and c')
  """
  *before, end = items
  return f'{", ".join(before)} {last} {end}' if before else end


def plural(noun: str) -> str:
  """
  >>> [plural(n) for n in ('team', 'city', 'box', 'weather station', 'person')]
  ['teams', 'cities', 'boxes', 'weather stations', 'people']
  """
  before, space, last = noun.rpartition(' ')
  if last in _IRREGULAR:
    return before + space + _IRREGULAR[last]
  if last.endswith('y') and last[-2:-1] not in (*'aeiou', ''):
    return f'{noun[:-1]}ies'
  if last.endswith(('s', 'x', 'z', 'ch', 'sh')):
    return f'{noun}es'
  return f'{noun}s'


def singular(noun: str) -> str:
  """
  >>> [singular(n) for n in ('teams', 'cities', 'boxes', 'bus', 'sales')]
  ['team', 'city', 'box', 'bus', 'sale']
  """
  by_plural = {many: one for one, many in _IRREGULAR.items()}
  if noun in by_plural:
    return by_plural[noun]
  if noun.endswith('ies') and len(noun) > 4:
    return f'{noun[:-3]}y'
  if noun.endswith(('xes', 'ches', 'shes', 'sses')):
    return noun[:-2]
  if is_plural(noun):
    return noun[:-1]
  return noun


def is_plural(noun: str) -> bool:
  """As far as the spelling tells."""
  return noun.endswith('s') and not noun.endswith(_SINGULAR_S)


def in_words(number: int) -> str:
  """Small numbers as words; none is `no`.

  >>> in_words(3), in_words(14)
  ('three', '14')
  """
  return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else str(number)


def rank_word(rank: int) -> str:
  """
  >>> rank_word(2), rank_word(21)
  ('second', '21st')
  """
  return _ORDINALS[rank] if rank < len(_ORDINALS) else ordinal(rank)


def ordinal(number: int) -> str:
  """
  >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)]
  ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']
  """
  endings = {1: 'st', 2: 'nd', 3: 'rd'}
  teen = 10 < number % 100 < 14
  return f'{number}{"th" if teen else endings.get(number % 10, "th")}'


def capitalised(text: str) -> str:
  return text[:1].upper() + text[1:]
