"""Words as ROUGE sees them: lower-cased, without punctuation, stemmed."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

_ASCII_WORD = re.compile('[a-z0-9]+')
# Scripts written without spaces: every character is a word of its own.
_UNSPACED = ('CJK UNIFIED', 'CJK COMPAT', 'HIRAGANA', 'KATAKANA', 'THAI', 'LAO')


def tokenize_ascii(text: str) -> list[str]:
  """Tokens of `rouge-score` with its stemmer: what is not ASCII is dropped."""
  return [_stem(word) for word in _ASCII_WORD.findall(text.lower())]


def tokenize_unicode(text: str) -> list[str]:
  """Letters, marks and digits of every script; equal on ASCII to the other.

  Only ASCII words are stemmed, the stemmer being English. Characters of scripts
  without spaces are single tokens.
  """
  text = unicodedata.normalize('NFC', text).lower().translate(_SEPARATORS)
  return [_stem(word) if word.isascii() else word for word in text.split()]


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
  'ascii': tokenize_ascii,
  'unicode': tokenize_unicode,
}


@cache
def _rouge_score_tokenizer():
  # Imported late: the stemmer's package takes a second to load.
  from rouge_score.tokenizers import DefaultTokenizer

  return DefaultTokenizer(use_stemmer=True)


@lru_cache(maxsize=2**18)
def _stem(word: str) -> str:
  """The one token `rouge-score` makes of a lower-case ASCII word."""
  (token,) = _rouge_score_tokenizer().tokenize(word)
  return token


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
