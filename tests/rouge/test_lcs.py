"""The bit-parallel LCS takes exactly the positions `rouge-score` takes."""

from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from stepwise._rouge._lcs import lcs_positions, place_bits

words = st.lists(st.sampled_from('abcd'), max_size=9)


def by_line(reference, lines):
  taken = [[] for _ in lines]
  for line, position in lcs_positions(
    reference, place_bits(lines, set(reference))
  ):
    taken[line].insert(0, position)
  return taken


@given(words, st.lists(words, max_size=5))
def test_positions_are_those_of_the_backtracking_table(reference, lines):
  expected = [rouge_scorer.lcs_ind(reference, line) for line in lines]
  assert by_line(reference, lines) == expected


def test_of_two_longest_subsequences_the_walk_up_decides():
  # 'a' and 'b' are both longest; the walk starts at the unequal pair (b, a),
  # where left and up are equally long, goes up to (a, a) and takes it.
  assert by_line(['a', 'b'], [['b', 'a'], []]) == [[0], []]


def test_carries_do_not_cross_lines():
  # 'a' ends one line and 'b' begins the next: neither line holds both.
  assert by_line(['a', 'b'], [['x', 'a'], ['b', 'x']]) == [[0], [1]]
