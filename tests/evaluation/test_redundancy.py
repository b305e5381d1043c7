"""Repeated trigrams."""

import pytest

from stepwise.evaluation import repeated_ngrams


@pytest.mark.parametrize(
  ('summary', 'share'),
  [
    ([], 0),
    (['too short'], 0),
    (['a b c d'], 0),
    # a b c, b c d, then a b c again: one of three.
    (['a b c d', 'A, b, c!'], 1 / 3),
    (['a b c', 'a b c'], 1 / 2),
    # Sentences are apart: "c a b" across them does not count.
    (['a b c', 'a b'], 0),
  ],
)
def test_share_of_repeated_trigrams(summary, share):
  assert repeated_ngrams(summary) == pytest.approx(share)


def test_other_sizes_and_scripts():
  assert repeated_ngrams(['a a a'], n=1) == pytest.approx(2 / 3)
  summary = ['раз два три', 'раз два три']
  assert repeated_ngrams(summary) == 0
  assert repeated_ngrams(summary, metric='rouge-1.5.5-unicode') == 0.5
