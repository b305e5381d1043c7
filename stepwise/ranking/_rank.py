"""Graphs of units that share words, and how central each unit is in them.

Words are those of all scripts, so any language will do; English ones are
stemmed. There are no lists of stop words.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from stepwise._errors import InputError
from stepwise._rouge import find_metric

# Of Erkan & Radev (2004): units this similar are linked.
THRESHOLD = 0.1
# Of Brin & Page (1998), in both methods: the walk follows a link so often.
DAMPING = 0.85
# Graphs grow with the square of their units.
GRAPH_UNITS = 2000
# Products are made for so many units at a time.
_BLOCK = 512

Lines = Sequence[list[str]]


def rank(
  units: Sequence[str], method: str = 'lexrank'
) -> Float[np.ndarray, ' units']:
  """A score for every unit, higher is better; scores add up to 1.

  `lexrank` (Erkan & Radev, 2004) walks between units whose tf-idf vectors have
  a cosine above 0.1, idf being that of this document; `textrank` (Mihalcea &
  Tarau, 2004) between units by the words they share; `lead` prefers the first.
  A graph has 2,000 units at most: longer documents are cut into parts, and
  units compared within theirs: time and memory grow no faster than the text.

  >>> units = ['It rained.', 'Rain fell on the town.', 'The town slept.']
  >>> int(rank(units).argmax())
  1
  """
  if method not in METHODS:
    raise InputError(f'method is {method!r} but must be one of {[*METHODS]}.')
  if not units:
    return np.zeros(0)
  tokenize = find_metric('rouge-1.5.5-unicode').tokenize
  lines = [tokenize(unit) for unit in units]
  size = len(units) if method == 'lead' else GRAPH_UNITS
  parts = (lines[start : start + size] for start in range(0, len(units), size))
  return np.concatenate(
    [METHODS[method](part) * (len(part) / len(units)) for part in parts]
  )


def _lead(lines: Lines) -> Float[np.ndarray, ' units']:
  scores = np.arange(len(lines), 0, -1, dtype=float)
  return scores / scores.sum()


def _lexrank(lines: Lines) -> Float[np.ndarray, ' units']:
  counts = [Counter(line) for line in lines]
  found = Counter(word for count in counts for word in count)
  idf = {word: np.log(len(lines) / units) for word, units in found.items()}
  vectors = [
    {word: times * idf[word] for word, times in count.items()}
    for count in counts
  ]
  norms = [np.sqrt(sum(x * x for x in vector.values())) for vector in vectors]
  links = _products(
    [
      {word: x / norm for word, x in vector.items()} if norm else {}
      for vector, norm in zip(vectors, norms, strict=True)
    ]
  )
  links = (links > THRESHOLD).astype(np.float32)
  # A link to itself would make a unit that is like no other one central.
  np.fill_diagonal(links, 0)
  return _walk(links)


def _textrank(lines: Lines) -> Float[np.ndarray, ' units']:
  links = _products([dict.fromkeys(line, 1.0) for line in lines])
  sizes = np.log(np.array([max(len(line), 1) for line in lines], np.float32))
  for unit, size in enumerate(sizes):
    # Two units of one word each have no room for a logarithm.
    links[unit] /= np.maximum(size + sizes, 1e-6)
  np.fill_diagonal(links, 0)
  links[sizes == 0] = 0
  links[:, sizes == 0] = 0
  return _walk(links)


METHODS: dict[str, Callable[[Lines], Float[np.ndarray, ' units']]] = {
  'lead': _lead,
  'lexrank': _lexrank,
  'textrank': _textrank,
}


def _products(
  vectors: Sequence[dict[str, float]],
) -> Float[np.ndarray, 'units units']:
  """Inner products of all pairs; the diagonal is not that of whole vectors."""
  found = Counter(word for vector in vectors for word in vector)
  # A word of one unit alone adds to no product of two.
  shared = {word: i for i, word in enumerate(w for w in found if found[w] > 1)}
  matrix = np.zeros((len(vectors), len(shared)), np.float32)
  for row, vector in zip(matrix, vectors, strict=True):
    for word, value in vector.items():
      if word in shared:
        row[shared[word]] = value
  products = np.empty((len(vectors), len(vectors)), np.float32)
  for start in range(0, len(vectors), _BLOCK):
    rows = slice(start, start + _BLOCK)
    np.matmul(matrix[rows], matrix.T, out=products[rows])
  return products


def _walk(links: Float[np.ndarray, 'units units']) -> np.ndarray:
  """Where a random walk over weighted links spends its time.

  With `1 - DAMPING` it goes anywhere, as it does from a unit without links.
  """
  units = len(links)
  degrees = links.sum(1, dtype=float)
  linked = degrees > 0
  shares = np.where(linked, 1 / np.where(linked, degrees, 1), 0)
  scores = np.full(units, 1 / units)
  for _ in range(200):
    before = scores
    flow = (before * shares).astype(np.float32) @ links
    scores = DAMPING * (flow + before[~linked].sum() / units)
    scores += (1 - scores.sum()) / units
    if np.abs(scores - before).sum() < 1e-7:
      break
  return scores
