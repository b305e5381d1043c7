"""Products of rounded inputs: the same as rounding by hand, both ways."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.layers import (
  ETCConfig,
  HierarchicalConfig,
  TransformerConfig,
  _products,
  bfloat16_products,
  choose_products,
  find_products,
  with_products,
)
from stepwise.layers._products import einsum


def rounded(array):
  return array.astype(jnp.bfloat16).astype(array.dtype)


@pytest.mark.parametrize(
  ('subscripts', 'left', 'right'),
  [
    ('bqhd,bkhd->bhqk', (2, 3, 5, 7), (2, 11, 5, 7)),
    ('bhqk,bkhd->bhqd', (2, 3, 5, 7), (2, 7, 3, 11)),
    ('bqnd,rnd->bnqr', (2, 3, 5, 7), (11, 5, 7)),
    ('xyab,bac->xyc', (2, 3, 5, 7), (7, 5, 11)),
  ],
)
def test_equals_rounding_by_hand(subscripts, left, right, optimised):
  random = np.random.default_rng(0)
  lhs, rhs = (
    jnp.asarray(random.normal(size=size), jnp.float32) for size in (left, right)
  )
  ours, pull = jax.vjp(
    lambda a, b: einsum(subscripts, a, b, bfloat16_products), lhs, rhs
  )
  expected, expected_pull = jax.vjp(
    lambda a, b: jnp.einsum(subscripts, a, b), rounded(lhs), rounded(rhs)
  )
  np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)
  cotangent = jnp.asarray(random.normal(size=ours.shape), jnp.float32)
  gradients = pull(cotangent), expected_pull(rounded(cotangent))
  for given, wanted in zip(*gradients, strict=True):
    np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-5)


def test_result_has_the_dtype_that_was_asked_for():
  ones = jnp.ones((3, 3))
  numbers = (((1,), (0,)), ((), ()))
  assert bfloat16_products(ones, ones, numbers).dtype == jnp.float32
  half = ones.astype(jnp.bfloat16)
  assert bfloat16_products(half, half, numbers).dtype == jnp.bfloat16


def test_a_name_reaches_every_part_of_a_configuration():
  config = HierarchicalConfig(TransformerConfig(), document_layers=1)
  changed = with_products(config, 'bfloat16')
  assert changed.sentence.products == 'bfloat16'
  assert with_products(changed, 'float32') == config
  assert with_products(ETCConfig(), 'bfloat16') == dataclasses.replace(
    ETCConfig(), products='bfloat16'
  )


def test_unknown_products():
  with pytest.raises(InputError, match="products is 'int4', must be one of"):
    find_products('int4')


@pytest.mark.parametrize(
  ('features', 'chosen'),
  [({'avx2', 'avx512_bf16'}, 'bfloat16'), ({'avx2'}, 'float32')],
)
def test_auto_is_what_the_processor_has(
  features, chosen, monkeypatch, optimised
):
  monkeypatch.setattr(_products, '_cpu_features', lambda: frozenset(features))
  assert choose_products('auto') == chosen
  assert choose_products('float32') == 'float32'
  with pytest.raises(InputError, match="products is 'int4', must be one of"):
    choose_products('int4')
