"""Words as the metrics see them: lower-cased, without punctuation, stemmed."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from stepwise._errors import InputError
from stepwise._extras import needs
from stepwise._rouge._stemmer import stem_word

DEFAULT_METRIC = 'rouge-1.5.5'
_ASCII_WORDS = re.compile('[a-z0-9]+').findall
# Scripts written without spaces: every character is a word of its own.
_UNSPACED = ('CJK UNIFIED', 'CJK COMPAT', 'HIRAGANA', 'KATAKANA', 'THAI', 'LAO')

Tokenize = Callable[[str], list[str]]


def tokenize(text: str) -> list[str]:
  """Tokens of the script ROUGE-1.5.5 with `-m`; what is not ASCII separates."""
  return [stem_word(word) for word in tokenize_unstemmed(text)]


def tokenize_unstemmed(text: str) -> list[str]:
  """Tokens of the script without `-m`."""
  if not text.isascii():
    # Only ASCII letters have a lower case here, so that a Kelvin sign is no k.
    text = text.encode('ascii', 'replace').decode('ascii')
  return _ASCII_WORDS(text.lower())


def tokenize_unicode(text: str) -> list[str]:
  """Letters, marks and digits of every script; equal to `tokenize` on ASCII.

  Only ASCII words are stemmed, the stemmer being English. Characters of scripts
  without spaces are single tokens.
  """
  return [stem_word(w) if w.isascii() else w for w in _unicode_words(text)]


def tokenize_rouge_score(text: str) -> list[str]:
  """Tokens of `rouge-score` with its stemmer: what is not ASCII is dropped."""
  return [_rouge_score_stem(word) for word in _ASCII_WORDS(text.lower())]


def tokenize_rouge_score_unicode(text: str) -> list[str]:
  return [
    _rouge_score_stem(w) if w.isascii() else w for w in _unicode_words(text)
  ]


@dataclass(frozen=True)
class Metric:
  """How ROUGE is measured.

  Attributes:
    tokenize: words of a line.
    decimals: to which scores of a document are rounded, recall and precision
      before F1 is made of them, as the script does; None is not at all.
  """

  tokenize: Tokenize
  decimals: int | None = None


METRICS: dict[str, Metric] = {
  'rouge-1.5.5': Metric(tokenize, 5),
  'rouge-1.5.5-unstemmed': Metric(tokenize_unstemmed, 5),
  'rouge-1.5.5-unicode': Metric(tokenize_unicode, 5),
  'rouge-score': Metric(tokenize_rouge_score),
  'rouge-score-unicode': Metric(tokenize_rouge_score_unicode),
}


def find_metric(name: str) -> Metric:
  """One of `METRICS` by its name."""
  if name not in METRICS:
    raise InputError(f'metric is {name!r} but must be one of {list(METRICS)}.')
  return METRICS[name]


@cache
def _rouge_score_tokenizer():
  # Imported late: the stemmer's package takes a second to load.
  with needs('metrics', 'the metric rouge-score'):
    from rouge_score.tokenizers import DefaultTokenizer

  return DefaultTokenizer(use_stemmer=True)


@lru_cache(maxsize=2**18)
def _rouge_score_stem(word: str) -> str:
  """The one token `rouge-score` makes of a lower-case ASCII word."""
  (token,) = _rouge_score_tokenizer().tokenize(word)
  return token


def _unicode_words(text: str) -> list[str]:
  text = unicodedata.normalize('NFC', text).lower().translate(_SEPARATORS)
  return text.split()


class _Separators(dict[int, str]):
  """Fills itself: a separator becomes a space, an unspaced letter gets two."""

  def __missing__(self, code: int) -> str:
    char = chr(code)
    if unicodedata.category(char)[0] not in 'LMN':
      replacement = ' '
    elif unicodedata.name(char, '').startswith(_UNSPACED):
      replacement = f' {char} '
    else:
      replacement = char
    self[code] = replacement
    return replacement


_SEPARATORS = _Separators()
