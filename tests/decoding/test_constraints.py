"""Masks of single hypotheses, on cases small enough to read."""

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise.decoding import Constraints, WordBudget
from stepwise.decoding._constraints import allowed_units, may_stop

UNITS = 5


def units(*chosen):
  return jnp.isin(jnp.arange(UNITS), jnp.array(chosen, int))


def plan(*chosen):
  return jnp.array([*chosen, *[-1] * (4 - len(chosen))])


def allowed(chosen, constraints, selectable=None):
  selectable = units(*range(UNITS)) if selectable is None else selectable
  mask = allowed_units(plan(*chosen), selectable, constraints, max_units=4)
  return np.flatnonzero(mask).tolist()


SHARING_1_AND_3 = jnp.zeros((UNITS, UNITS), bool).at[1, 3].set(True)
SHARING_1_AND_3 |= SHARING_1_AND_3.T
WORDS = jnp.array([0, 10, 20, 30, 40])


def words(limit):
  return WordBudget(WORDS, jnp.array(limit))


@pytest.mark.parametrize(
  ('chosen', 'constraints', 'expected'),
  [
    ([2], Constraints(), [0, 1, 2, 3, 4]),
    ([2, 4], Constraints(repeatable=units(4)), [0, 1, 3, 4]),
    ([], Constraints(overlap=SHARING_1_AND_3), [0, 1, 2, 3, 4]),
    ([0, 3], Constraints(overlap=SHARING_1_AND_3), [0, 2, 3, 4]),
    ([2], Constraints(budget=words(49)), [0, 1, 2]),
    ([2], Constraints(budget=words(50)), [0, 1, 2, 3]),
    ([], Constraints(must_exclude=units(0, 4)), [1, 2, 3]),
    ([2, 2], Constraints(must_include=units(3)), [0, 1, 2, 3, 4]),
    ([2, 2, 2], Constraints(must_include=units(3)), [3]),
    ([2, 2, 3], Constraints(must_include=units(3)), [0, 1, 2, 3, 4]),
  ],
)
def test_single_constraints(chosen, constraints, expected):
  assert allowed(chosen, constraints) == expected


def test_required_units_reserve_their_words():
  constraints = Constraints(budget=words(60), must_include=units(4))
  assert allowed([], constraints) == [0, 1, 2, 4]


def test_required_units_are_not_blocked_and_block_others():
  constraints = Constraints(overlap=SHARING_1_AND_3, must_include=units(3))
  assert allowed([], constraints) == [0, 2, 3, 4]
  assert allowed([1], constraints) == [0, 2, 3, 4]


def test_required_units_that_cannot_be_chosen_reserve_nothing():
  constraints = Constraints(budget=words(40), must_include=units(4))
  assert allowed([], constraints, selectable=units(1, 2)) == [1, 2]
  excluded = constraints._replace(must_exclude=units(4))
  assert allowed([], excluded) == [0, 1, 2, 3]


@pytest.mark.parametrize(
  ('chosen', 'min_units', 'required', 'expected'),
  [
    ([], 0, [], True),
    ([], 1, [], False),
    ([2], 1, [], True),
    ([2], 1, [2], True),
    ([2], 1, [2, 3], False),
  ],
)
def test_stop_waits_for_units(chosen, min_units, required, expected):
  constraints = Constraints(must_include=units(*required))
  stop = may_stop(plan(*chosen), units(*range(UNITS)), constraints, min_units)
  assert bool(stop) is expected
