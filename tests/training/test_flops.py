"""Work is counted as it is done, whatever loop it is in."""

import jax
import jax.numpy as jnp
import pytest

from stepwise.layers import make_mesh
from stepwise.training._flops import peak_flops, product_flops

X, Y = jnp.ones((3, 5, 7)), jnp.ones((3, 7, 11))
ONE = 2 * 3 * 5 * 7 * 11


def product(x, y):
  return jnp.einsum('bij,bjk->bik', x, y)


def looped(x, y):
  def body(total, _):
    return total + product(x, y), None

  zeros = jnp.zeros((3, 5, 11))
  return jax.lax.scan(body, zeros, None, length=13)[0]


@pytest.mark.parametrize(
  ('function', 'times'),
  [
    (product, 1),
    (jax.jit(product), 1),
    (jax.checkpoint(product), 1),
    (looped, 13),
    (jax.jit(jax.checkpoint(looped)), 13),
    (lambda x, y: jax.lax.cond(x.sum() > 0, looped, product, x, y), 13),
    (lambda x, y: x.sum() + y.sum(), 0),
  ],
)
def test_products_are_counted(function, times):
  assert product_flops(function, X, Y) == times * ONE


def test_a_gradient_costs_two_more():
  def total(x, y):
    return product(x, y).sum()

  assert product_flops(jax.grad(total, (0, 1)), X, Y) == 3 * ONE


def test_devices_without_a_data_sheet_have_no_peak():
  assert peak_flops(make_mesh(1).devices.flat) is None
