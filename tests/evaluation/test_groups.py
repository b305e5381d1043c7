"""Groups of documents: nobody is lost, values stay together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from stepwise.evaluation._groups import scores_by_share, scores_by_value

COUNT = 13
scores = arrays.arrays(np.float64, COUNT, elements=st.floats(0, 100))


@given(scores, arrays.arrays(np.int64, COUNT, elements=st.integers(1, 9)))
def test_groups_by_value(scores, values):
  groups = scores_by_value(scores, values, groups=4)
  assert 1 <= len(groups) <= 4
  assert sum(group.documents for group in groups) == COUNT
  for group in groups:
    members = (values >= group.low) & (values <= group.high)
    assert members.sum() == group.documents
    assert group.score == pytest.approx(scores[members].mean())


@given(scores, arrays.arrays(np.float64, COUNT, elements=st.floats(0, 1)))
def test_groups_by_share(scores, shares):
  groups = scores_by_share(scores, shares, groups=4)
  total = sum(group.documents * group.score for group in groups)
  assert sum(group.documents for group in groups) == COUNT
  assert total == pytest.approx(scores.sum())
  for group in groups:
    assert group.high - group.low == pytest.approx(0.25)
    inside = (shares >= group.low) & (shares <= group.high)
    assert inside.sum() >= group.documents
