"""One-way ANOVA between systems, then Tukey's test of every pair."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from stepwise._errors import InputError
from stepwise._extras import needs


@dataclass(frozen=True)
class Significance:
  """How likely differences this large are if all systems were equal.

  Attributes:
    anova_p: of any difference at all.
    tukey_p: of each pair of systems, corrected for their number.
  """

  anova_p: float
  tukey_p: Float[np.ndarray, 'systems systems']


def compare_means(
  scores: Sequence[Float[np.ndarray, ' documents']],
) -> Significance:
  """Tests the scores of two or more systems on two or more documents each."""
  if len(scores) < 2 or min(map(len, scores)) < 2:
    raise InputError(
      f'{len(scores)} systems on {min(map(len, scores), default=0)} documents '
      'cannot be compared: 2 systems and 2 documents are the least.'
    )
  if all(np.ptp(score) == 0 for score in scores):
    return _compare_constants(scores)
  # Imported late: scipy.stats takes most of a second to load.
  with needs('metrics', 'a test of significance'):
    from scipy.stats import f_oneway, tukey_hsd

  return Significance(
    float(f_oneway(*scores).pvalue), tukey_hsd(*scores).pvalue
  )


def _compare_constants(
  scores: Sequence[Float[np.ndarray, ' documents']],
) -> Significance:
  """Without variance, which the tests divide by, differences are certain."""
  levels = np.array([score[0] for score in scores])
  equal = (levels[:, None] == levels[None]).astype(float)
  return Significance(float(equal.all()), equal)
