"""Which language a text is in."""

import functools
import re
from typing import Any

from stepwise._errors import InputError

# As much of a text as is looked at.
_SAMPLE = 4000
_LEAST_LETTERS = 20
# A guess is believed if it is this probable.
_SURE = 0.9
_CODE = re.compile(r'[a-z]{2,3}')
_ENGLISH = frozenset(
  [
    'the',
    'of',
    'and',
    'to',
    'in',
    'a',
    'is',
    'that',
    'it',
    'for',
    'was',
    'on',
    'with',
    'as',
    'be',
    'by',
    'at',
    'he',
    'from',
    'his',
    'they',
    'she',
    'are',
    'this',
    'have',
    'not',
    'but',
    'had',
    'were',
    'which',
    'you',
    'we',
    'their',
    'an',
    'or',
    'will',
    'has',
  ]
)
# Share of a text's words that are among these in English, and hardly elsewhere.
_ENGLISH_SHARE = 0.22
_NAMES = {
  'ar': 'Arabic',
  'de': 'German',
  'en': 'English',
  'es': 'Spanish',
  'fr': 'French',
  'it': 'Italian',
  'ja': 'Japanese',
  'nl': 'Dutch',
  'pt': 'Portuguese',
  'ru': 'Russian',
  'zh': 'Chinese',
}


def detect_language(text: str) -> str:
  """The code of the language of a text; empty where it cannot be told.

  >>> detect_language('The harbour opened again, and the ships were back.')
  'en'
  """
  sample = text[:_SAMPLE]
  words = [word.strip('.,;:!?"\'()').lower() for word in sample.split()]
  letters = sum(map(str.isalpha, sample))
  if letters < _LEAST_LETTERS and sample.isascii():
    return ''
  common = sum(word in _ENGLISH for word in words)
  if len(words) >= 8 and common >= _ENGLISH_SHARE * len(words):
    return 'en'
  language, probability = _identifier().classify(sample)
  return language if probability >= _SURE else ''


def language_name(code: str) -> str:
  """For people: `German` of `de`, other codes as they are."""
  return _NAMES.get(code, code)


def check_language(code: str) -> str:
  """The code itself; what is none is an `InputError`."""
  if not _CODE.fullmatch(code):
    raise InputError(
      f'language is {code!r}, must be a code of two or three letters such as '
      'en or de.'
    )
  return code


@functools.cache
def _identifier() -> Any:
  # Unpacking its model takes a fifth of a second: only where it is needed.
  from py3langid.langid import MODEL_FILE, LanguageIdentifier

  return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
