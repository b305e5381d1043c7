"""The TPU kernels, interpreted: the numbers of `dense`."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise.layers import (
  AttentionPattern,
  Dropout,
  PairStructure,
  RelativeTables,
  global_local_attention,
)
from tests.layers.attention_problems import draw_problem, gradients_of


def check_equals_dense(sizes, pattern, seed, **structure):
  heads, units, tables = draw_problem(sizes, pattern, seed, **structure)
  dense, kernel = (
    gradients_of(name, heads, units, pattern, tables)
    for name in ('dense', 'pallas')
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=0, atol=2e-5),
    kernel,
    dense,
  )


# Lanes are shared by two heads, by four, by none; lengths fill no block.
CASES = {
  'everything': ((2, 150, 7, 3, 5), AttentionPattern(11, 4, True), {}),
  'two heads a program': (
    (1, 131, 5, 2, 64),
    AttentionPattern(84, 3),
    {'parents': False},
  ),
  'no labels': (
    (1, 37, 3, 2, 5),
    AttentionPattern(4, 2, hard_l2g=True),
    {'labelled': False, 'windows': False},
  ),
  'no global tokens': ((1, 20, 0, 1, 5), AttentionPattern(4, 2), {}),
}


@pytest.mark.parametrize('case', CASES)
def test_equals_dense(case):
  sizes, pattern, structure = CASES[case]
  check_equals_dense(sizes, pattern, seed=0, **structure)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_equals_dense_on_drawn_problems(data):
  integers = lambda *bounds: data.draw(st.integers(*bounds))  # noqa: E731
  sizes = (
    integers(1, 2),
    integers(1, 700),
    integers(1, 140),
    integers(1, 3),
    data.draw(st.sampled_from([3, 17, 32, 64, 128, 130])),
  )
  pattern = AttentionPattern(
    radius=integers(1, 150),
    max_distance=integers(0, 12),
    hard_g2l=data.draw(st.booleans()),
    hard_l2g=data.draw(st.booleans()),
  )
  check_equals_dense(
    sizes,
    pattern,
    integers(0, 2**31),
    parents=data.draw(st.booleans()),
    windows=data.draw(st.booleans()),
    labelled=data.draw(st.booleans()),
  )


def test_dropout_is_unbiased_and_its_gradient_is_that_of_the_same_draw():
  pattern, rate = AttentionPattern(9, 2), 0.4
  heads, units, tables = draw_problem((1, 140, 3, 1, 5), pattern, 1)

  @functools.partial(jax.jit, static_argnums=1)
  def attend(value, seed):
    out = global_local_attention(
      heads._replace(l2l_value=value, l2g_value=heads.l2g_value * 0 + 1),
      units,
      pattern,
      tables,
      implementation='pallas',
      dropout=Dropout(rate, jax.random.key(seed)),
    )
    return out[0].sum()

  ones = jnp.ones_like(heads.l2l_value)
  first, again, other = attend(ones, 0), attend(ones, 0), attend(ones, 1)
  assert first == again != other
  # Weights sum to one, so every row would give one without dropout.
  np.testing.assert_allclose(first / ones.size, 1, atol=0.1)
  # Values enter linearly: the gradient is exact for any change.
  change = jnp.asarray(np.random.default_rng(2).normal(size=ones.shape))
  slope = (jax.grad(attend)(ones, 0) * change).sum()
  found = attend(ones + change.astype(jnp.float32), 0) - first
  np.testing.assert_allclose(slope, found, rtol=2e-3, atol=2e-3)


def test_rows_that_may_read_nothing_are_zero_with_finite_gradients():
  pattern = AttentionPattern(3, 2)
  heads, units, tables = draw_problem(
    (1, 20, 2, 1, 5), pattern, 3, parents=False
  )
  lost = units.long_examples.at[:, 5].set(9)
  alone = units._replace(
    long_examples=lost, window_ids=jnp.arange(20)[None], parent_ids=None
  )
  alone = alone._replace(global_examples=jnp.full((1, 2), 7))
  gradients, (long, glob) = gradients_of(
    'pallas', heads, alone, pattern, tables
  )
  # A token reads itself; nobody reads or is read by a global token.
  np.testing.assert_allclose(long, heads.l2l_value, atol=1e-6)
  assert np.isfinite(glob).all()
  assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))


def test_masks_of_every_pair_are_refused():
  heads, *_ = draw_problem((1, 9, 2, 1, 5), AttentionPattern(3, 2), 4)
  with pytest.raises(ValueError, match='takes a UnitStructure'):
    global_local_attention(
      heads,
      PairStructure(),
      AttentionPattern(3, 2),
      RelativeTables(),
      implementation='pallas',
    )
