"""Tables whose lookups are short add their gradients up in float32."""

import jax
import jax.numpy as jnp
import numpy as np

from stepwise.layers._modules import Embedding


def gradient(dtype, repeats):
  """Of one row of a table that is looked up `repeats` times."""
  table = Embedding(3, 5, dtype=dtype)
  ids = jnp.zeros(repeats, jnp.int32)
  params = {'embedding': jnp.ones((3, 5))}

  def total(params):
    rows = table.apply({'params': params}, ids)
    return rows.astype(jnp.float32).sum()

  return jax.grad(total)(params)['embedding']


def test_gradients_of_a_table_add_up_in_float32():
  # In bfloat16 a sum of ones ends at 256: adding one more changes nothing.
  found = gradient(jnp.bfloat16, 1001)
  assert found.dtype == jnp.float32
  np.testing.assert_array_equal(found, gradient(None, 1001))
  np.testing.assert_array_equal(found[0], 1001)
