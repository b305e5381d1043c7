"""Which units share a trigram; on the host, once per document."""

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Bool

# Words, and punctuation marks as words of their own, as in tokenised news.
_WORD = re.compile(r'\w+|[^\w\s]')


def trigram_overlap(
  units: Sequence[str] | Sequence[Sequence[Hashable]],
) -> Bool[np.ndarray, 'units units']:
  """True where two units share three words in a row.

  A string is split into lower-cased words and punctuation marks; anything else
  is a sequence of words (or token ids) already and is compared as it is. The
  matrix is symmetric; a unit of three words or more shares one with itself, a
  shorter one, such as a special unit given as '', with none.
  """
  owners = defaultdict(set)
  for index, unit in enumerate(units):
    words = _WORD.findall(unit.lower()) if isinstance(unit, str) else unit
    for trigram in zip(words, words[1:], words[2:], strict=False):
      owners[trigram].add(index)
  overlap = np.zeros((len(units), len(units)), bool)
  for sharing in owners.values():
    if len(sharing) == 1:  # Nearly always, and far cheaper so.
      (index,) = sharing
      overlap[index, index] = True
    else:
      overlap[np.ix_(list(sharing), list(sharing))] = True
  return overlap
