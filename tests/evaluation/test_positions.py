"""Where sentences come from."""

import pytest

from stepwise.evaluation import locate_sentences, position_statistics


def test_sentences_are_found_in_their_document():
  units = ['One.', 'Two  words.', 'One.', 'Four.']
  sentences = ['Four.', 'Two\nwords.', 'One.', 'None.']
  assert locate_sentences(sentences, units) == [3, 1, 0, -1]


def test_statistics_of_all_sentences():
  # Of four sentences three are found: 0 of 5, 4 of 5, and 10 of 20 units.
  positions = position_statistics([[0, 4], [-1, 10]], [5, 20])
  assert positions is not None
  assert positions.found == 0.75
  assert positions.mean == pytest.approx((0 + 1 + 10 / 19) / 3)
  assert positions.first_three == pytest.approx(1 / 3)
  expected = [1 / 3, 0, 0, 0, 0, 1 / 3, 0, 0, 1 / 3, 0]
  assert positions.tenths == pytest.approx(expected)


def test_one_unit_is_the_first():
  positions = position_statistics([[0]], [1])
  assert positions is not None
  assert positions.mean == 0


@pytest.mark.parametrize('chosen', [[], [[]], [[-1]]])
def test_nothing_found(chosen):
  assert position_statistics(chosen, [3] * len(chosen)) is None
