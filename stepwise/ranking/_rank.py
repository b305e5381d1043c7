"""Graphs of units that share words, and how central each unit is in them.

Words are those of all scripts, so any language will do; English ones are
stemmed. There are no lists of stop words.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from stepwise._errors import InputError
from stepwise._rouge import find_metric

# Of Erkan & Radev (2004): units this similar are linked.
THRESHOLD = 0.1
# Of Brin & Page (1998), in both methods: the walk follows a link so often.
DAMPING = 0.85
# Graphs grow with the square of their units.
GRAPH_UNITS = 2000
# Words of more units than these are multiplied as a matrix, others by pairs.
_COMMON = 64
# Words in units whose pairs are made at a time.
_BLOCK = 2**14

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
  table = _count_words(lines)
  idf = np.log(len(lines) / table.units_with)
  vectors = table.values * idf[table.words]
  squares = np.bincount(table.units, vectors**2, len(lines))
  # A unit whose words are in all units has no direction.
  norms = np.sqrt(np.where(squares > 0, squares, np.inf))
  links = _products(table._replace(values=vectors / norms[table.units]))
  links = (links > THRESHOLD).astype(np.float32)
  # A link to itself would make a unit that is like no other one central.
  np.fill_diagonal(links, 0)
  return _walk(links)


def _textrank(lines: Lines) -> Float[np.ndarray, ' units']:
  table = _count_words(lines)
  links = _products(table._replace(values=np.ones(len(table.values))))
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


class _Words(NamedTuple):
  """Words of units, each once for a unit; the same words are neighbours.

  Attributes:
    words, units: which word, and of which unit.
    values: of the word in the unit, at first how often it is there.
    units_with: how many units have each word.
    length: of the document, in units.
  """

  words: Int[np.ndarray, ' entries']
  units: Int[np.ndarray, ' entries']
  values: Float[np.ndarray, ' entries']
  units_with: Int[np.ndarray, ' words']
  length: int

  def keep(self, kept: Bool[np.ndarray, ' entries']) -> '_Words':
    entries = (self.words[kept], self.units[kept], self.values[kept])
    return _Words(*entries, self.units_with, self.length)


def _count_words(lines: Lines) -> _Words:
  known: dict[str, int] = {}
  entries = [
    (known.setdefault(word, len(known)), unit, times)
    for unit, line in enumerate(lines)
    for word, times in Counter(line).items()
  ]
  words, units, times = np.array(sorted(entries), int).reshape(-1, 3).T
  units_with = np.bincount(words, minlength=len(known))
  return _Words(words, units, times.astype(float), units_with, len(lines))


def _products(table: _Words) -> Float[np.ndarray, 'units units']:
  """Inner products of all pairs; the diagonal is not that of whole vectors."""
  shared = table.units_with[table.words]
  common = table.keep(shared > _COMMON)
  columns = np.cumsum(table.units_with > _COMMON) - 1
  width = int((table.units_with > _COMMON).sum())
  matrix = np.zeros((table.length, width), np.float32)
  matrix[common.units, columns[common.words]] = common.values
  products = matrix @ matrix.T
  # A word of one unit alone adds to no product of two.
  _add_pairs(products, table.keep((shared > 1) & (shared <= _COMMON)))
  return products


def _add_pairs(
  products: Float[np.ndarray, 'units units'], table: _Words
) -> None:
  """Adds what words give that few units have, in place."""
  sizes = table.units_with[table.words]
  first = np.searchsorted(table.words, table.words)
  for start in range(0, len(sizes), _BLOCK):
    entries = np.arange(start, min(start + _BLOCK, len(sizes)))
    # Every entry with all entries of its word.
    left = np.repeat(entries, sizes[entries])
    right = np.repeat(first[entries], sizes[entries])
    right += _count_up(sizes[entries])
    cells = table.units[left] * table.length + table.units[right]
    values = table.values[left] * table.values[right]
    sums = np.bincount(cells, values, products.size)
    products += sums.reshape(products.shape).astype(np.float32)


def _count_up(sizes: Int[np.ndarray, ' entries']) -> Int[np.ndarray, ' pairs']:
  """0 to `size - 1` for every size, one after another."""
  ends = np.cumsum(sizes)
  return np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)


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
