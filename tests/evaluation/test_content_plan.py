"""RG, CS, CO and BLEU of invented games, with answers worked out by hand."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.evaluation import (
  bleu,
  content_ordering,
  content_selection,
  relation_generation,
)

ABEL = ('Abel', '20', 'PTS')
ABEL_REB = ('Abel', '9', 'REB')
BOON = ('Boon', '31', 'PTS')
WRONG = ('Boon', '30', 'PTS')


def test_relation_generation():
  # Game 1 states two (one of them twice), both true; game 2 one true, one not.
  predictions = [[ABEL, BOON, ABEL], [ABEL_REB, WRONG]]
  tables = [{ABEL, BOON}, {ABEL_REB, BOON}]
  rg = relation_generation(predictions, tables)
  assert rg.count == 3 / 2
  assert rg.precision == 100 * 3 / 4


def test_content_selection_counts_over_all_games():
  # Game 1: 1 of 1 stated, of 3 wanted. Game 2: 0 of 3 stated, of 1 wanted.
  predictions = [[ABEL, ABEL], [ABEL, ABEL_REB, WRONG]]
  references = [[BOON, ABEL, ABEL_REB], [BOON, BOON]]
  cs = content_selection(predictions, references)
  assert cs.precision == 100 * 1 / 4
  assert cs.recall == 100 * 1 / 4
  assert cs.f1 == 100 * 1 / 4


@pytest.mark.parametrize(
  ('prediction', 'reference', 'score'),
  [
    ('abcd', 'abcd', 100),
    # One exchange of neighbours is one edit.
    ('bacd', 'abcd', 75),
    # Optimal string alignment edits no exchanged pair again: 3 edits, where
    # the unrestricted Damerau-Levenshtein distance has 2.
    ('ca', 'abc', 0),
    ('', 'ab', 0),
    ('', '', 100),
    # A repeated relation counts at its first place.
    ('abab', 'ab', 100),
    ('xyz', 'abcd', 0),
  ],
)
def test_content_ordering(prediction, reference, score):
  assert content_ordering([prediction], [reference]) == pytest.approx(score)


def test_content_ordering_is_a_mean_over_games():
  assert content_ordering(['abcd', 'bacd'], ['abcd', 'abcd']) == 87.5


def alignment_distance(a, b):
  """The recursion of optimal string alignment, as in the textbook."""
  rows = {(i, 0): i for i in range(len(a) + 1)}
  rows |= {(0, j): j for j in range(len(b) + 1)}
  for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
    rows[i, j] = min(
      rows[i - 1, j] + 1,
      rows[i, j - 1] + 1,
      rows[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
    )
    if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
      rows[i, j] = min(rows[i, j], rows[i - 2, j - 2] + 1)
  return rows[len(a), len(b)]


@given(*[st.lists(st.sampled_from('abcdef'), unique=True, min_size=1)] * 2)
def test_content_ordering_equals_its_definition(first, second):
  longer = max(len(first), len(second))
  expected = 100 * (1 - alignment_distance(first, second) / longer)
  assert content_ordering([first], [second]) == pytest.approx(expected)


RELATIONS = st.lists(
  st.tuples(st.sampled_from('AB'), st.integers(0, 3), st.sampled_from('pq')),
  min_size=1,
)


@given(st.lists(RELATIONS, min_size=1, max_size=4))
def test_gold_against_gold(games):
  cs = content_selection(games, games)
  assert (cs.precision, cs.recall, cs.f1) == (100, 100, 100)
  assert content_ordering(games, games) == 100
  assert relation_generation(games, games).precision == 100


def test_nothing_stated_scores_zero():
  cs = content_selection([[]], [[ABEL]])
  assert (cs.precision, cs.recall, cs.f1) == (0, 0, 0)
  assert relation_generation([[]], [{ABEL}]).precision == 0


def test_bleu():
  text = 'Abel had 20 points on Friday .'
  same = bleu([text], [text])
  assert same.score == pytest.approx(100)
  assert 'tok:none' in same.signature and 'case:mixed' in same.signature
  # 6 of 7 words, 4 of 6 pairs, 2 of 5 triples, 1 of 4: the geometric mean.
  other = bleu(['Abel had 21 points on Friday .'], [text])
  expected = 100 * (6 / 7 * 4 / 6 * 2 / 5 * 1 / 4) ** 0.25
  assert other.score == pytest.approx(expected)


@pytest.mark.parametrize(
  'metric', [relation_generation, content_selection, content_ordering, bleu]
)
def test_every_prediction_needs_a_partner(metric):
  with pytest.raises(InputError, match='1 predictions and 2'):
    metric(['a'], ['a', 'b'])
  with pytest.raises(InputError, match='0 predictions and 0'):
    metric([], [])
