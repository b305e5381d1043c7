"""Trigram overlap against string sets, on repetitive prose."""

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise.decoding import trigram_overlap

PARAGRAPHS = [
  """The harbour bridge closed on Monday after inspectors found cracks in two
  of its cables. The city said the harbour bridge would stay closed for at least
  three weeks. Inspectors found cracks in the same cables nine years ago, the
  mayor said. Ferries will run every ten minutes while the bridge is shut.
  "We found cracks," said the mayor. The Harbour Bridge carries forty thousand
  cars a day. No one was hurt. Drivers complained.""",
  """Shares in the lender fell nine percent on Friday. Shares in the lender fell
  again on Monday, after a third director resigned. The regulator said on Monday
  that it had opened an inquiry. It had opened an inquiry into a rival in March.
  The bank's chairman said: the bank's accounts are sound. He resigned.
  Accounts are sound, he said, and the bank will publish them in full.""",
  """Rain. More rain. Rain and more rain fell on the valley for a sixth day, and
  the river rose above the old mark. The river rose above the old mark twice
  last century. Volunteers filled sandbags through the night; volunteers filled
  sandbags again at dawn. "It never stops," one said. It never stops.""",
]


def sentences(paragraph):
  return ' '.join(paragraph.split()).replace('. ', '.\n').split('\n')


def trigrams(sentence):
  """Space out punctuation, lower the case, join every three words."""
  for mark in string.punctuation:
    sentence = sentence.replace(mark, f' {mark} ')
  words = sentence.lower().split()
  return {' '.join(words[i : i + 3]) for i in range(len(words) - 2)}


def assert_equals_sets(units):
  sets = [trigrams(unit) for unit in units]
  expected = [[bool(a & b) for b in sets] for a in sets]
  np.testing.assert_array_equal(trigram_overlap(units), expected)


@pytest.mark.parametrize('paragraph', PARAGRAPHS)
def test_prose_equals_string_sets(paragraph):
  units = sentences(paragraph)
  assert_equals_sets(units)
  off_diagonal = trigram_overlap(units) & ~np.eye(len(units), dtype=bool)
  assert off_diagonal.any()
  assert not off_diagonal.all()


@settings(deadline=None)
@given(
  st.lists(
    st.lists(st.sampled_from(['a', 'B', 'b', "it's", 'x.', ',']), max_size=7),
    max_size=6,
  )
)
def test_random_words_equal_string_sets(units):
  strings = [' '.join(words) for words in units]
  if strings:
    assert_equals_sets(strings)
  assert trigram_overlap(strings).shape == (len(units), len(units))


def test_sequences_are_compared_as_they_are():
  overlap = trigram_overlap([[1, 2, 3, 4], [2, 3, 4], [1, 2, 4], [5, 6]])
  expected = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
  np.testing.assert_array_equal(overlap, np.array(expected, bool))
