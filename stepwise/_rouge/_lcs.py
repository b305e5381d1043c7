"""Longest common subsequences of one reference with many candidates at once.

All candidate lines lie side by side in one long integer, a bit per token with a
zero guard bit before every line, so one addition moves the dynamic program of
every line on by one reference token (Hyyrö, 2004: bit-parallel LCS).
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class CandidateBits:
  """Candidate lines as bits of one integer, the first line lowest.

  Attributes:
    matches: for every token, the bits where it stands.
    tokens: all bits that are tokens; the others are guards.
    ends: the last token of every line that has one.
    owner: the line of every bit.
  """

  matches: dict[str, int]
  tokens: int
  ends: int
  owner: list[int]


def place_bits(
  lines: Sequence[Sequence[str]], words: set[str]
) -> CandidateBits:
  """Lays the lines side by side; `words` are the only tokens worth a match."""
  matches = dict.fromkeys(words, 0)
  tokens = ends = 0
  owner: list[int] = []
  for index, line in enumerate(lines):
    start = len(owner) + 1
    for bit, token in enumerate(line, start):
      if token in words:
        matches[token] |= 1 << bit
    owner += [index] * (len(line) + 1)
    tokens |= (1 << len(owner)) - (1 << start)
    ends |= 1 << len(owner) - 1 if line else 0
  return CandidateBits(matches, tokens, ends, owner)


def lcs_positions(
  reference: Sequence[str], candidates: CandidateBits
) -> list[tuple[int, int]]:
  """Pairs `(line, position)`: the reference positions in each line's LCS.

  Of several longest subsequences it is the one that `rouge-score` finds.
  Walking up its table from the end, at a pair of unequal tokens it goes left
  where that is longer, that is where this row gained one over the row above,
  and up otherwise; at equal tokens it takes the pair. So a row is taken where
  its token matches or where the row gained one, and the walk goes on to the
  left of the last match at or before the column it had reached.
  """
  rows = _forward(reference, candidates)
  taken = []
  columns = candidates.ends
  for position in reversed(range(len(reference))):
    matches, takes = rows[position]
    hits = columns & takes
    while hits:
      column = hits & -hits
      hits ^= column
      match = (matches & (2 * column - 1)).bit_length() - 1
      # A walk that leaves its line rests on a guard bit, which never hits.
      columns ^= column | 1 << (match - 1)
      taken.append((candidates.owner[match], position))
  return taken


def _forward(
  reference: Sequence[str], candidates: CandidateBits
) -> list[tuple[int, int]]:
  """For every reference token: its matches, and where the walk would take it.

  In `flat` a token bit is 0 where the table's row rises. Adding the matches
  carries from the first match after one rise up to the next rise: the columns
  that carry are those where this row is one higher than the row above.
  """
  rows = []
  flat = candidates.tokens
  for word in reference:
    matches = candidates.matches[word]
    addend = flat & matches
    total = flat + addend
    gains = (total ^ flat ^ addend) >> 1
    rows.append((matches, matches | gains))
    flat = (total | (flat ^ addend)) & candidates.tokens
  return rows
