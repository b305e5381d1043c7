"""Words as the Perl script ROUGE-1.5.5 reduces them.

Irregular forms come from WordNet's lists, all other words go through the
algorithm of Porter (1980), An algorithm for suffix stripping, in the variant
of the script, which tries `-ment` and `-ent` after the other endings of the
fourth step, on what those left.
"""

import re
from functools import cache, lru_cache
from importlib import resources

# A word is [C](VC){m}[V]; y is a vowel except at the beginning or after one.
_C = '[^aeiou][^aeiouy]*'
_V = '[aeiouy][aeiou]*'
_has_vowel = re.compile(f'(?:{_C})?[aeiouy]').match
_m_above_0 = re.compile(f'(?:{_C})?{_V}{_C}').match
_m_is_1 = re.compile(f'(?:{_C})?{_V}{_C}(?:{_V})?$').match
_m_above_1 = re.compile(f'(?:{_C})?{_V}{_C}{_V}{_C}').match
_short = re.compile(f'{_C}[aeiouy][^aeiouwxy]$').match
_double = re.compile(r'([^aeiouylsz])\1$').search

_STEP_2 = {
  'ational': 'ate',
  'tional': 'tion',
  'enci': 'ence',
  'anci': 'ance',
  'izer': 'ize',
  'bli': 'ble',
  'alli': 'al',
  'entli': 'ent',
  'eli': 'e',
  'ousli': 'ous',
  'ization': 'ize',
  'ation': 'ate',
  'ator': 'ate',
  'alism': 'al',
  'iveness': 'ive',
  'fulness': 'ful',
  'ousness': 'ous',
  'aliti': 'al',
  'iviti': 'ive',
  'biliti': 'ble',
  'logi': 'log',
}
_STEP_3 = {
  'icate': 'ic',
  'ative': '',
  'alize': 'al',
  'iciti': 'ic',
  'ical': 'ic',
  'ful': '',
  'ness': '',
}
_STEP_4 = (
  *('al', 'ance', 'ence', 'er', 'ic', 'able', 'ible', 'ant', 'ement', 'ou'),
  *('ism', 'ate', 'iti', 'ous', 'ive', 'ize'),
)


def _ending(endings) -> re.Pattern[str]:
  # The leftmost match is the longest ending.
  return re.compile(f'(?:{"|".join(endings)})$')


_ENDINGS_2, _ENDINGS_3, _ENDINGS_4 = map(_ending, (_STEP_2, _STEP_3, _STEP_4))


@lru_cache(maxsize=2**18)
def stem_word(word: str) -> str:
  """The token of a lower-case ASCII word; up to three letters stay."""
  if len(word) <= 3:
    return word
  return irregular_forms().get(word) or porter_stem(word)


@cache
def irregular_forms() -> dict[str, str]:
  """The base form of every irregular one."""
  lists = resources.files('stepwise._rouge') / 'irregular_forms.txt'
  lines = lists.read_text('ascii').splitlines()
  return {
    form: base
    for line in lines
    if not line.startswith('#')
    for base, *forms in [line.split()]
    for form in forms
  }


def porter_stem(word: str) -> str:
  """The stem of a lower-case word of at least three letters."""
  if word[0] == 'y':
    # A capital is nowhere taken for a vowel.
    stem = _strip('Y' + word[1:])
    return 'y' + stem[1:]
  return _strip(word)


def _strip(word: str) -> str:
  word = _past_and_gerund(_plural(word))
  if word[-1] == 'y' and _has_vowel(word[:-1]):
    word = word[:-1] + 'i'
  word = _replace(word, _ENDINGS_2, _STEP_2)
  word = _replace(word, _ENDINGS_3, _STEP_3)
  word = _residue(word)
  if word[-1] == 'e':
    stem = word[:-1]
    if _m_above_1(stem) or (_m_is_1(stem) and not _short(stem)):
      word = stem
  if word.endswith('ll') and _m_above_1(word):
    word = word[:-1]
  return word


def _plural(word: str) -> str:
  if word.endswith(('sses', 'ies')):
    return word[:-2]
  return word[:-1] if word[-1] == 's' and word[-2] != 's' else word


def _past_and_gerund(word: str) -> str:
  if word.endswith('eed'):
    return word[:-1] if _m_above_0(word[:-3]) else word
  length = 2 if word.endswith('ed') else 3 if word.endswith('ing') else 0
  if not length or not _has_vowel(stem := word[:-length]):
    return word
  if stem.endswith(('at', 'bl', 'iz')):
    return stem + 'e'
  if _double(stem):
    return stem[:-1]
  return stem + 'e' if _short(stem) else stem


def _replace(word: str, endings: re.Pattern[str], by: dict[str, str]) -> str:
  found = endings.search(word)
  if found and _m_above_0(stem := word[: found.start()]):
    return stem + by[found.group()]
  return word


def _residue(word: str) -> str:
  """Step 4: long words lose what is left of their endings."""
  found = _ENDINGS_4.search(word)
  if found:
    word = _cut(word, len(found.group()))
  if word.endswith('ment'):
    word = _cut(word, 4)
  if word.endswith('ent'):
    return _cut(word, 3)
  return _cut(word, 3) if word.endswith(('sion', 'tion')) else word


def _cut(word: str, length: int) -> str:
  stem = word[:-length]
  return stem if _m_above_1(stem) else word
