"""Means of units lose no token, however short the numbers are."""

import jax.numpy as jnp
import numpy as np

from stepwise.layers import mean_by_unit


def test_the_mean_of_a_long_unit_is_that_of_float32():
  unit_ids = jnp.array([[0] * 1001 + [1] * 3 + [-1] * 7])
  rng = np.random.default_rng(0)
  states = jnp.asarray(rng.normal(1, 1, (1, 1011, 5)), jnp.bfloat16)
  found = mean_by_unit(states, unit_ids, 2)
  assert found.dtype == jnp.bfloat16
  wide = mean_by_unit(states.astype(jnp.float32), unit_ids, 2)
  np.testing.assert_array_equal(found, wide.astype(jnp.bfloat16))
