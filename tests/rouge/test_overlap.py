"""Scores from shared counts equal `rouge-score`, for every set of units."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from stepwise._rouge import KINDS, find_metric, measure_overlap

# Few words, so that pairs repeat; a line break, a non-ASCII and an empty one.
sentence = st.lists(
  st.sampled_from(['a', 'bb', 'running', 'runs', 'c d', 'e\nf', 'é', '']),
  max_size=7,
).map(' '.join)
sentences = st.lists(sentence, max_size=5)
tokenize = find_metric('rouge-score').tokenize
scorer = rouge_scorer.RougeScorer(list(KINDS), use_stemmer=True)


def expected_scores(units, reference):
  scores = scorer.score('\n'.join(reference), '\n'.join(units))
  return [list(scores[kind]) for kind in KINDS]


@given(sentences, sentences)
def test_every_set_scores_as_in_rouge_score(units, reference):
  overlap = measure_overlap(units, reference, tokenize)
  usable = np.flatnonzero(overlap.sizes)
  for size in range(1, len(usable) + 1):
    sets = np.array(list(combinations(usable, size)))
    for chosen, scores in zip(sets, overlap.score_sets(sets), strict=True):
      expected = expected_scores([units[i] for i in chosen], reference)
      # Equal bit by bit: an oracle breaks ties by comparing these numbers.
      assert scores.tolist() == expected


def test_pairs_straddle_neighbouring_units():
  overlap = measure_overlap(['x a', 'b y', 'c'], ['a b'], tokenize)
  # 'x a b y' has three pairs, one of them 'a b'; 'x a c' has none of it.
  scores = overlap.score_sets(np.array([[0, 1], [0, 2]]))
  np.testing.assert_allclose(scores[:, 1, 0], [1 / 3, 0])


def test_mean_f1_is_the_mean_of_the_three():
  overlap = measure_overlap(['a b', 'c'], ['a b c d'], tokenize)
  sets = np.array([[0], [1]])
  expected = overlap.score_sets(sets)[:, :, 2].mean(1)
  assert overlap.mean_f1(sets) == pytest.approx(expected)
