"""How much sentences are about what a person asks."""

import numpy as np
from jaxtyping import Float

from stepwise._rouge import find_metric
from stepwise.summarization._encoder import UnitEncoder
from stepwise.summarization._requests import Request

# What a sentence keeps that has nothing to do with the question.
_LEAST = 0.02
# A question counts for more than place and words do.
_SHARPNESS = 3
# Words of fewer letters are mostly grammar, in scripts that have such words.
_FULL_WORD = 6


def focus_on(
  about: str, request: Request, encoder: UnitEncoder | None
) -> Float[np.ndarray, ' units']:
  """A factor for every unit, 1 for the candidate closest to `about`.

  Closeness is the share of the question's words, rare and long ones counting
  for more, and where there is an encoder of the language the likeness of
  meanings.
  """
  document = request.document
  likeness = _shared_words(about, document.units)
  if encoder is not None and encoder.knows(document.language):
    likeness = 0.7 * likeness + 0.3 * encoder.likeness(about, document)
  top = float(likeness[request.may].max(initial=0))
  scaled = likeness / top if top > 0 else np.ones(len(likeness))
  return np.clip(scaled, _LEAST, 1) ** _SHARPNESS


def _shared_words(about: str, units: tuple[str, ...]) -> np.ndarray:
  tokenize = find_metric('rouge-1.5.5-unicode').tokenize
  lines = [set(tokenize(unit)) for unit in units]
  asked = set(tokenize(about))
  rare = {}
  for word in asked:
    found = sum(word in line for line in lines)
    full = min(len(word) / _FULL_WORD, 1) if word.isascii() else 1
    rare[word] = full**2 * np.log((1 + len(units)) / (1 + found))
  whole = sum(rare.values()) or 1.0
  return np.array(
    [sum(rare[word] for word in asked & line) / whole for line in lines]
  )
