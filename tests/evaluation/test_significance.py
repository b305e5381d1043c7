"""ANOVA and Tukey find real differences and no others."""

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.evaluation import compare_means


def test_only_the_shifted_system_differs():
  scores = np.random.default_rng(0).normal(size=(3, 307))
  result = compare_means([scores[0], scores[1], scores[2] + 1])
  assert result.anova_p < 1e-6
  assert result.tukey_p.shape == (3, 3)
  assert result.tukey_p[0, 1] > 0.05
  assert max(result.tukey_p[0, 2], result.tukey_p[1, 2]) < 1e-6


def test_worked_example():
  # Group means 2, 3, 7; grand mean 4. Between: 3 * (4 + 1 + 9) = 42 on 2
  # degrees, within: 2 * 3 = 6 on 6, so F = 21 and p = (1 + 21 / 3) ** -3.
  scores = [np.array([1.0, 2, 3]), np.array([2.0, 3, 4]), np.array([6.0, 7, 8])]
  assert compare_means(scores).anova_p == pytest.approx(8**-3)


def test_scores_without_variance_need_no_test():
  result = compare_means([np.zeros(3), np.ones(3), np.zeros(3)])
  assert result.anova_p == 0
  assert result.tukey_p.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
  assert compare_means([np.ones(2), np.ones(2)]).anova_p == 1


@pytest.mark.parametrize('scores', [[np.ones(3)], [np.ones(1), np.ones(1)], []])
def test_too_little_to_compare_is_refused(scores):
  with pytest.raises(InputError, match='2 systems and 2 documents are the'):
    compare_means(scores)
