"""The weighted LCS of ROUGE-W: neighbouring matches are worth more."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

# A run of k matches is worth k ** WEIGHT: `-w 1.2` of the script.
WEIGHT = 1.2


def weighted_hits(
  text: Sequence[list[str]], reference: Sequence[list[str]]
) -> float:
  """Weights of the runs of matched reference tokens, over all its lines.

  A line's matches are the union of its weighted LCS with every line of the
  text. A token of the text is not matched twice; like the script, a run that
  ends in such a token is not closed there but goes on with the next match.
  """
  left = Counter(chain.from_iterable(text))
  hits = 0.0
  for line in reference:
    matched = [False] * len(line)
    for candidate in text:
      for position in _weighted_positions(line, candidate):
        matched[position] = True
    run = 0
    for position, (word, hit) in enumerate(zip(line, matched, strict=True)):
      if not hit or not left[word]:
        continue
      left[word] -= 1
      run += 1
      if position + 1 == len(line) or not matched[position + 1]:
        hits += run**WEIGHT
        run = 0
  return hits


def _weighted_positions(reference: list[str], candidate: list[str]):
  """Reference positions of the heaviest common subsequence, the last first."""
  rows = _weights(reference, candidate)
  row, column = len(reference), len(candidate)
  while row and column:
    if reference[row - 1] == candidate[column - 1]:
      row, column = row - 1, column - 1
      yield row
    elif rows[row - 1][column] >= rows[row][column - 1]:
      row -= 1
    else:
      column -= 1


def _weights(reference: list[str], candidate: list[str]) -> list[list[float]]:
  """The table of the dynamic program: rows for the reference."""
  above = [0.0] * (len(candidate) + 1)
  runs_above = [0] * (len(candidate) + 1)
  rows = [above]
  for word in reference:
    row, runs = [0.0], [0]
    for column, other in enumerate(candidate):
      if word == other:
        run = runs_above[column]
        row.append(above[column] + (run + 1) ** WEIGHT - run**WEIGHT)
        runs.append(run + 1)
      else:
        row.append(max(above[column + 1], row[column]))
        runs.append(0)
    rows.append(row)
    above, runs_above = row, runs
  return rows
