import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from stepwise.layers import Dropout
from stepwise.layers._attend import attend, causal_mask, key_mask

BATCH, QUERIES, KEYS, HEADS, DIM = 2, 5, 7, 3, 11


def draw_inputs(key, dtype=jnp.float32):
  keys = jax.random.split(key, 4)
  query = jax.random.normal(keys[0], (BATCH, QUERIES, HEADS, DIM), dtype)
  kv = (BATCH, KEYS, HEADS, DIM)
  mask = jax.random.bernoulli(keys[3], 0.6, (BATCH, QUERIES, KEYS))
  return (
    query,
    jax.random.normal(keys[1], kv, dtype),
    jax.random.normal(keys[2], kv, dtype),
    mask.at[..., 0].set(True),
  )


def test_equals_jax_attention(key):
  query, keys, value, mask = draw_inputs(key)
  expected = jax.nn.dot_product_attention(
    query, keys, value, mask=mask[:, None]
  )
  np.testing.assert_allclose(
    attend(query, keys, value, mask), expected, rtol=1e-5, atol=1e-6
  )


def test_one_row_mask_is_the_same_mask_for_every_query(key):
  query, keys, value, mask = draw_inputs(key)
  real = mask[:, 0]
  np.testing.assert_array_equal(
    attend(query, keys, value, key_mask(real)),
    attend(query, keys, value, jnp.repeat(real[:, None], QUERIES, 1)),
  )


def test_empty_rows_are_zero_with_finite_gradients(key):
  query, keys, value, mask = draw_inputs(key)
  mask = mask.at[1, 3].set(False)

  def run(*inputs):
    return attend(*map(jnp.asarray, inputs), mask)

  attended = run(query, keys, value)
  assert not np.any(attended[1, 3])
  assert np.all(np.any(np.delete(attended[1], 3, 0), axis=(-1, -2)))
  check_grads(run, (query, keys, value), order=1, modes=['rev'], rtol=0.02)
  gradients = jax.grad(lambda *xs: run(*xs).sum(), (0, 1, 2))(
    query, keys, value
  )
  assert not np.any(gradients[0][1, 3])


def test_everything_masked_has_zero_gradients(key):
  query, keys, value, mask = draw_inputs(key)
  gradients = jax.grad(
    lambda *xs: attend(*xs, jnp.zeros_like(mask)).sum(), (0, 1, 2)
  )(query, keys, value)
  for gradient in gradients:
    np.testing.assert_array_equal(gradient, 0)


def test_masked_keys_have_zero_gradient(key):
  query, keys, value, mask = draw_inputs(key)
  mask = mask.at[..., 4].set(False)
  gradients = jax.grad(
    lambda k, v: jnp.square(attend(query, k, v, mask)).sum(), (0, 1)
  )(keys, value)
  for gradient in gradients:
    assert not np.any(gradient[:, 4])
    assert np.any(gradient[:, 0])


def test_softmax_is_float32_in_bfloat16():
  """300 equal keys: a bfloat16 sum of weights would stall at 256."""
  query = jnp.zeros((1, 1, 1, DIM), jnp.bfloat16)
  keys = jnp.zeros((1, 300, 1, DIM), jnp.bfloat16)
  mask = jnp.ones((1, 1, 300), bool)
  attended = attend(query, keys, jnp.ones_like(keys), mask)
  assert attended.dtype == jnp.bfloat16
  np.testing.assert_array_equal(attended.astype(jnp.float32), 1)


def test_no_keys_at_all_give_zeros(key):
  query, keys, value, mask = draw_inputs(key)
  none = attend(query, keys[:, :0], value[:, :0], mask[..., :0])
  np.testing.assert_array_equal(none, jnp.zeros_like(query))


def test_dropout_is_applied_to_probabilities(key):
  query, keys, value, mask = draw_inputs(key)
  # With the identity as values, outputs are probabilities.
  identity = jnp.eye(KEYS)[None, :, None]
  value = jnp.broadcast_to(identity, (BATCH, KEYS, HEADS, KEYS))
  query, keys = query[..., :KEYS], keys[..., :KEYS]
  whole = attend(query, keys, value, mask)
  dropped = attend(query, keys, value, mask, dropout=Dropout(0.4, key))
  kept = dropped != 0
  np.testing.assert_allclose(dropped[kept], whole[kept] / 0.6, rtol=1e-5)
  assert 0.4 < kept.sum() / (whole != 0).sum() < 0.8


@pytest.mark.parametrize('length', [1, 3])
def test_causal_mask(length):
  mask = causal_mask(length)
  for q in range(length):
    for k in range(length):
      assert mask[0, q, k] == (k <= q)
