"""Words, counted in any script."""

import re

# Scripts that put no spaces between words. As in the Unicode rules of word
# boundaries every ideograph counts, and so does every letter of scripts whose
# words only a dictionary tells: Han, Hiragana, Thai, Lao, Khmer, Burmese. Runs
# of Katakana are words.
_SINGLE = (
  '\u2e80-\u2fdf\u3005-\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff'
  '\uf900-\ufaff\U00020000-\U0003ffff'
  '\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff'
)
_WORD = re.compile(
  rf'[{_SINGLE}]|[^\s{_SINGLE}]*[^\W_{_SINGLE}][^\s{_SINGLE}]*'
)
_UNSPACED = re.compile(rf'[{_SINGLE}]')


def count_words(text: str) -> int:
  """Words of a text: between spaces or, in scripts without, characters.

  What has neither a letter nor a digit is no word.

  >>> count_words("It's a well-known story - of 1999."), count_words('今日は雨')
  (6, 4)
  """
  if not _UNSPACED.search(text):
    return sum(_has_letter(chunk) for chunk in text.split())
  return sum(1 for _ in _WORD.finditer(text))


def _has_letter(chunk: str) -> bool:
  return chunk[0].isalnum() or any(map(str.isalnum, chunk))
