"""Numerals that a sentence may have: those of the values it is written from.

A numeral is a word with a digit (`31`, `76ers`), or a number word (`seven`).
The numerals that values allow are paths of tokens in a trie. Text outside is
free, except that it may not begin a numeral; a numeral once begun is followed
to its end. So `104` allows neither `10` nor `1043`, whatever the pieces.

Number words go up to nineteen, where they are single tokens; `twenty` and the
like are never written, as `twenty - two` would have to be told from `twenty`
and `two`. `one of` and `three - pointers` are no amounts, and always allowed.
Ranks, the date, and the sentence before allow nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from stepwise._typing import Array, Bool, Int
from stepwise.data import Tokenizer
from stepwise.extraction import parse_number

ROOT = 0
_LARGEST_WORD = 19
# Where a number is no amount, by its value.
_PHRASES = {
  1: ('one of',),
  3: (
    '3Pt',
    *(
      f'{three} - {noun}'
      for three in ('three', '3')
      for noun in ('point', 'pointer', 'pointers')
    ),
  ),
}
_SPECIAL = re.compile(r'\[.+\]|</?[a-z]+>|')
# How byte-level BPE spells a space.
_SPACE = 'Ġ'


class NumeralTrie(NamedTuple):
  """Tries of numerals as lists of edges; node 0, the root, is free text.

  Attributes:
    sources: the node that an edge leaves, -1 = no edge.
    tokens: what it reads.
    targets: the node it leads to.
    complete: nodes at which a numeral may end.
  """

  sources: Int[Array | np.ndarray, '*batch edges']
  tokens: Int[Array | np.ndarray, '*batch edges']
  targets: Int[Array | np.ndarray, '*batch edges']
  complete: Bool[Array | np.ndarray, '*batch nodes']


class TokenClasses(NamedTuple):
  """What is true of tokens, whatever the input.

  Attributes:
    writable: text, not padding or a delimiter.
    numeral: begins or continues a numeral.
    continues: belongs to the word before it.
  """

  writable: Bool[Array | np.ndarray, ' vocab']
  numeral: Bool[Array | np.ndarray, ' vocab']
  continues: Bool[Array | np.ndarray, ' vocab']


def allowed_tokens(
  trie: NumeralTrie, classes: TokenClasses, node: Int[Array, '']
) -> Bool[Array, ' vocab']:
  """Tokens that one sentence may go on with from a node of its trie."""
  none = jnp.zeros(classes.writable.shape, bool)
  tokens = jnp.asarray(trie.tokens)
  begins = none.at[tokens].max(trie.sources == ROOT)
  child = none.at[tokens].max(trie.sources == node)
  free = classes.writable & (~classes.numeral | begins)
  # After a numeral the next word begins.
  free &= (node == ROOT) | ~classes.continues
  leaves = (node == ROOT) | jnp.asarray(trie.complete)[node]
  return child | (leaves & free)


def next_node(
  trie: NumeralTrie, node: Int[Array, ''], token: Int[Array, '']
) -> Int[Array, '']:
  """The node after an allowed token."""

  def follow(source: Array | int) -> Array:
    edge = (trie.sources == source) & (trie.tokens == token)
    return jnp.max(jnp.where(edge, trie.targets, ROOT))

  inside = follow(node)
  return jnp.where(inside == ROOT, follow(ROOT), inside)


@dataclass(frozen=True)
class Numerals:
  """Makes tries for a tokeniser.

  Attributes:
    tokenizer: spells numerals.
    slots: values are written by reference. Slots are numerals of one token, and
      a sentence may have those of its input.
  """

  tokenizer: Tokenizer
  slots: bool = False

  @cached_property
  def classes(self) -> TokenClasses:
    pieces = self.tokenizer.pieces()
    special = [_SPECIAL.fullmatch(piece) is not None for piece in pieces]
    is_slot = np.zeros(len(pieces), bool)
    is_slot[list(self.tokenizer.slots)] = self.slots
    numeral = np.array([_is_numeral(piece) for piece in pieces])
    return TokenClasses(
      writable=~np.array(special) | is_slot,
      numeral=numeral | is_slot,
      continues=np.array([self._continues(piece) for piece in pieces]),
    )

  def _continues(self, piece: str) -> bool:
    if self.tokenizer.lowercase:
      return piece.startswith('##')
    return piece[:1].isalnum() and not piece.startswith(_SPACE)

  @cached_property
  def _number_words(self) -> dict[int, list[int]]:
    """Tokens that spell a small number in letters, by value."""
    found: dict[int, list[int]] = {}
    for index, piece in enumerate(self.tokenizer.pieces()):
      word = _word(piece)
      spells = word.isalpha() and _is_numeral(piece)
      value = parse_number(word) if spells else None
      if value is not None and value <= _LARGEST_WORD:
        found.setdefault(value, []).append(index)
    return found

  def paths(self, values: Iterable[str]) -> set[tuple[int, ...]]:
    """Tokens of every numeral and phrase that values allow."""
    words = {word for text in values for word in re.findall(r'\w+', text)}
    numbers = map(parse_number, words)
    known = {number for number in numbers if number is not None}
    texts = [
      *sorted(words),
      *(t for v, ts in _PHRASES.items() if v not in known for t in ts),
    ]
    # With a space before them they may be other tokens.
    spaced = [f' {text}' for text in texts]
    # Whatever begins as a numeral does, such as a name.
    paths = {
      tuple(ids)
      for ids in self.tokenizer.encode_units(texts + spaced)
      if self.classes.numeral[ids[0]]
    }
    for value in known & self._number_words.keys():
      paths |= {(token,) for token in self._number_words[value]}
    return paths

  def tries(self, values: Sequence[Iterable[str]]) -> NumeralTrie:
    """One trie for the values behind every sentence of a batch."""
    return _stacked([self.paths(texts) for texts in values])

  def slot_tries(self, counts: Sequence[int]) -> NumeralTrie:
    """One trie for every sentence of a batch, of so many slots and no value."""
    phrases, slots = self.paths(()), self.tokenizer.slots
    return _stacked(
      [phrases | {(slot,) for slot in slots[:count]} for count in counts]
    )


def _stacked(texts: Sequence[set[tuple[int, ...]]]) -> NumeralTrie:
  """Tries of the paths of some texts, filled up to one size."""
  made = [_trie(sorted(paths)) for paths in texts]
  edges = _size(max(len(edges) for edges, _ in made))
  nodes = _size(max(len(complete) for _, complete in made))
  arrays = np.full((3, len(made), edges), -1, np.int32)
  ends = np.zeros((len(made), nodes), bool)
  arrays[1] = 0
  for row, (found, complete) in enumerate(made):
    if found:
      arrays[:, row, : len(found)] = np.array(found).T
    ends[row, : len(complete)] = complete
  sources, tokens, targets = arrays
  return NumeralTrie(sources, tokens, targets, ends)


def _trie(
  paths: Sequence[tuple[int, ...]],
) -> tuple[list[tuple[int, int, int]], list[bool]]:
  """Edges (source, token, target), and which nodes are complete."""
  edges: dict[tuple[int, int], int] = {}
  complete = [True]
  for path in paths:
    node = ROOT
    for token in path:
      if (node, token) not in edges:
        edges[node, token] = len(complete)
        complete.append(False)
      node = edges[node, token]
    complete[node] = True
  return [(*key, target) for key, target in edges.items()], complete


def _word(piece: str) -> str:
  return piece.removeprefix('##').removeprefix(_SPACE)


def _is_numeral(piece: str) -> bool:
  """Digits anywhere, or a whole number word: the `##one` of a name is none."""
  word = '' if piece.startswith('##') else _word(piece)
  return any(map(str.isnumeric, piece)) or parse_number(word) is not None


def _size(least: int) -> int:
  """A power of two, nearly always the same: each is a compilation."""
  return max(64, 1 << (least - 1).bit_length())
