"""Every error of the host-side checks, by its message."""

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.decoding import (
  Constraints,
  DecodeConfig,
  WordBudget,
  check_inputs,
)

CONFIG = DecodeConfig(max_units=3, stop_unit=0, never=(1,))
UNITS = 7


def check(plan=(), valid=UNITS, config=CONFIG, **constraints):
  row = [*plan, *[-1] * (max(config.max_units, len(plan)) - len(plan))]
  real = jnp.arange(UNITS) < valid
  check_inputs(real[None], config, jnp.array([row]), Constraints(**constraints))


def units(*chosen):
  return jnp.isin(jnp.arange(UNITS), jnp.array(chosen))[None]


def test_sensible_inputs_pass():
  budget = WordBudget(jnp.full((1, UNITS), 5), jnp.array([15]))
  check([1, 2], must_include=units(2, 3), budget=budget)
  check([2, 3, 4], must_exclude=units(6))


@pytest.mark.parametrize(
  ('settings', 'message'),
  [
    ({'max_units': 0}, 'max_units is 0 but must be at least 1'),
    ({'max_units': 3, 'min_units': 4}, 'min_units is 4 but must be between'),
    ({'max_units': 3, 'beam_size': 0}, 'beam_size is 0 but must be at least'),
    ({'max_units': 3, 'length_alpha': -1.0}, r'length_alpha is -1.0 but must'),
    (
      {'max_units': 3, 'stages': 3},
      'stages is 3 but must be between 1 and the 2 steps after the first',
    ),
    (
      {'max_units': 3, 'stop_unit': 1, 'never': (0, 1)},
      r'stop_unit is 1 but must be none of never=\(0, 1\)',
    ),
  ],
)
def test_config_errors(settings, message):
  with pytest.raises(InputError, match=message):
    DecodeConfig(**settings)


@pytest.mark.parametrize(
  ('plan', 'message'),
  [
    ([7], 'plan has unit 7 but units are 0 to 6, and -1 where empty'),
    ([-2], 'plan has unit -2 but units'),
    ([-1, 2], 'plan has an empty slot before a unit'),
    ([2, 2, 2, 2], 'plan has 4 units but max_units is 3'),
    ([5], 'plan has unit 5, which is padding or the stop'),
    ([0], 'plan has unit 0, which is padding or the stop'),
  ],
)
def test_plan_errors(plan, message):
  with pytest.raises(InputError, match=message):
    check(plan, valid=5)


@pytest.mark.parametrize('wrong', [0, 1, 5])
def test_required_unit_that_cannot_be_chosen(wrong):
  with pytest.raises(InputError, match=f'must_include has unit {wrong}, which'):
    check(valid=5, must_include=units(2, wrong))


def test_required_and_excluded():
  with pytest.raises(InputError, match='must_include has unit 4, which is ex'):
    check(must_include=units(2, 4), must_exclude=units(4))


def test_too_many_required_units():
  with pytest.raises(InputError, match='have 4 units but max_units is 3'):
    check([5, 2], must_include=units(2, 3, 4))


def test_required_units_of_too_many_words():
  budget = WordBudget(jnp.full((1, UNITS), 5), jnp.array([14]))
  with pytest.raises(InputError, match='have 15 words but the budget is 14'):
    check([5], must_include=units(2, 3), budget=budget)


@pytest.mark.parametrize(
  ('constraints', 'message'),
  [
    ({'max_units': jnp.ones(2, int)}, r'max_units has shape \(2,\) but must'),
    ({'overlap': units(2)}, r'overlap has shape .* must be \(1, 7, 7\)'),
    (
      {'budget': WordBudget(jnp.ones((1, UNITS), int), jnp.ones(3, int))},
      r'budget.limit has shape \(3,\) but must be \(1,\)',
    ),
  ],
)
def test_constraint_shapes(constraints, message):
  with pytest.raises(InputError, match=message):
    check(**constraints)


def test_plan_of_too_few_slots():
  with pytest.raises(InputError, match=r'plan has shape \(1, 2\) but must be'):
    check_inputs(units(2), CONFIG, jnp.full((1, 2), -1))


def test_special_units_beyond_the_units():
  with pytest.raises(InputError, match='name unit 8 but valid has 7 units'):
    check(config=DecodeConfig(max_units=3, never=(8,)))


def test_no_units():
  with pytest.raises(InputError, match='valid has no units'):
    check_inputs(
      jnp.asarray(np.ones((2, 0), bool)),
      DecodeConfig(max_units=1),
      jnp.full((2, 1), -1),
    )
