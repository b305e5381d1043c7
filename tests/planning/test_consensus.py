import numpy as np
import pytest

from stepwise.planning import inclusion, revise

# Units 0 to 2 are EOS, EOT, BEG.
ENTITIES = ['', '', '', 'a', 'a', 'b', 'b', 'c']


def plan(*units):
  return np.array([*units, -1, -1])


def test_shares_count_a_plan_once():
  drawn = [plan(3, 0, 3, 5), plan(3), plan(0)]
  shares = inclusion(drawn, 8)
  np.testing.assert_allclose(shares[[3, 5, 7]], [2 / 3, 1 / 3, 0])


@pytest.mark.parametrize(
  ('shares', 'expected'),
  [
    # All stay, nothing joins.
    ({3: 0.9, 5: 0.9}, [3, 0, 5, 0]),
    # A sentence that loses its entries goes.
    ({3: 0.9, 5: 0.2}, [3, 0]),
    # 4 joins the sentence about a, 6 that about b, 7 has none.
    ({3: 0.9, 4: 0.5, 5: 0.9, 6: 0.8, 7: 0.6}, [3, 4, 0, 5, 6, 0, 7, 0]),
    ({}, []),
  ],
)
def test_plans_are_revised(shares, expected):
  values = np.array([shares.get(unit, 0.0) for unit in range(8)])
  assert revise(plan(3, 0, 5, 0), values, ENTITIES, 0.5) == expected


def test_entries_join_by_their_share():
  values = np.array([1, 1, 1, 0.9, 0, 0.6, 0.7, 0.0])
  assert revise(plan(3), values, ENTITIES, 0.5) == [3, 0, 6, 5, 0]
