"""The precision of products: one hook, `dot_general`, on every one of them.

Every matrix product of a model, forward and backward, goes through a function
with the signature of `jax.lax.dot_general`. A configuration names one of
`PRODUCTS`; a module or a pure function takes the function itself. Everything
else (elementwise work, norms, softmax, parameters) is not touched by it.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from stepwise._errors import InputError
from stepwise._typing import Array, DTypeLike

DotGeneral = Callable[..., Array]
# Instructions that multiply bfloat16 and sum in float32.
_BFLOAT16_FEATURES = {'avx512_bf16', 'amx_bf16'}
# Contracted axes of both sides, then batch axes of both sides.
_Axes = tuple[int, ...]
_Numbers = tuple[tuple[_Axes, _Axes], tuple[_Axes, _Axes]]


def bfloat16_products(
  lhs: Array,
  rhs: Array,
  dimension_numbers: Any,
  precision: Any = None,
  preferred_element_type: DTypeLike | None = None,
  **options: Any,
) -> Array:
  """`jax.lax.dot_general` of inputs rounded to bfloat16, summed in float32.

  So are the two products of its derivative. The result has the dtype that
  `jax.lax.dot_general` would give it. Processors that multiply bfloat16 do so
  at twice the rate of float32 or more.
  """
  del precision, options
  result = preferred_element_type or jnp.result_type(lhs, rhs)
  numbers = jax.tree.map(int, dimension_numbers)
  product: Array = _rounded_product(numbers, lhs, rhs)  # pyright: ignore
  return product.astype(result)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _rounded_product(numbers: _Numbers, lhs: Array, rhs: Array) -> Array:
  return _product(_round(lhs), _round(rhs), numbers)


def _forward(
  numbers: _Numbers, lhs: Array, rhs: Array
) -> tuple[Array, tuple[Any, ...]]:
  rounded = _round(lhs), _round(rhs)
  # Empty arrays carry the dtypes that the gradients need.
  dtypes = jnp.zeros(0, lhs.dtype), jnp.zeros(0, rhs.dtype)
  return _product(*rounded, numbers), (*rounded, *dtypes)


def _backward(
  numbers: _Numbers, kept: tuple[Any, ...], gradient: Array
) -> tuple[Array, Array]:
  lhs, rhs, left_dtype, right_dtype = kept
  gradient = _round(gradient)
  left = _left_gradient(gradient, lhs, rhs, numbers)
  right = _right_gradient(gradient, lhs, rhs, numbers)
  return left.astype(left_dtype.dtype), right.astype(right_dtype.dtype)


_rounded_product.defvjp(_forward, _backward)


def _left_gradient(
  gradient: Array, lhs: Array, rhs: Array, numbers: _Numbers
) -> Array:
  """Sums over what only the right side has: last in a product, as needed."""
  (contracted, right_contracted), (batch, right_batch) = numbers
  right_kept = _others(rhs.ndim, right_contracted, right_batch)
  rank = gradient.ndim
  summed = tuple(range(rank - len(right_kept), rank))
  first = tuple(range(len(batch)))
  product = _product(
    gradient, rhs, ((summed, right_kept), (first, right_batch))
  )
  # What is left of the right side, in its order, are the contracted axes.
  pairs = [contracted[i] for i in np.argsort(right_contracted)]
  kept = _others(lhs.ndim, contracted, batch)
  return product.transpose(np.argsort((*batch, *kept, *pairs)).tolist())


def _right_gradient(
  gradient: Array, lhs: Array, rhs: Array, numbers: _Numbers
) -> Array:
  """Sums over what only the left side has, the rows of both factors.

  XLA's fast products on CPUs sum over the last axis of their left factor, so
  the smaller one is turned over.
  """
  (left_contracted, contracted), (left_batch, batch) = numbers
  left_kept = _others(lhs.ndim, left_contracted, left_batch)
  kept = _others(rhs.ndim, contracted, batch)
  first = tuple(range(len(batch)))
  summed = tuple(range(len(first), len(first) + len(left_kept)))
  if lhs.size <= gradient.size:
    turned = turn(lhs, (*left_batch, *left_contracted, *left_kept))
    other, other_axes = gradient, (summed, first)
    axes = (*batch, *contracted, *kept)
  else:
    columns = tuple(range(gradient.ndim - len(kept), gradient.ndim))
    turned = turn(gradient, (*first, *columns, *summed))
    other, other_axes = lhs, (left_kept, left_batch)
    pairs = [contracted[i] for i in np.argsort(left_contracted)]
    axes = (*batch, *kept, *pairs)
  last = tuple(range(turned.ndim - len(summed), turned.ndim))
  numbers = ((last, other_axes[0]), (first, other_axes[1]))
  return turn(_product(turned, other, numbers), np.argsort(axes).tolist())


def turn(array: Array, axes: Sequence[int]) -> Array:
  """A transposition that is really done in memory.

  The compiler would fold a plain one into the product, and then not have a
  fast one. It does not see through a concatenation of two halves. Devices that
  share an array would have to exchange these; there it is a plain one.
  """
  axes = list(axes)
  split = next((i for i, size in enumerate(array.shape) if size > 1), None)
  if split is None or axes == sorted(axes) or not _one_processor():
    return array.transpose(axes)
  halves = jnp.split(array, [array.shape[split] // 2], axis=split)
  return jnp.concatenate(
    [half.transpose(axes) for half in halves], axis=axes.index(split)
  )


def _one_processor() -> bool:
  mesh = jax.sharding.get_abstract_mesh()
  return jax.default_backend() == 'cpu' and (mesh.empty or mesh.size == 1)


def _others(rank: int, *used: _Axes) -> _Axes:
  taken = {axis for axes in used for axis in axes}
  return tuple(axis for axis in range(rank) if axis not in taken)


def _product(lhs: Array, rhs: Array, numbers: _Numbers) -> Array:
  return jax.lax.dot_general(
    lhs, rhs, numbers, preferred_element_type=jnp.float32
  )


def _round(array: Array) -> Array:
  return array.astype(jnp.bfloat16)


# By the dtype that numbers have when they are multiplied: `float32` products
# take their inputs as they are, whatever the activations are.
PRODUCTS: dict[str, DotGeneral] = {
  'float32': jax.lax.dot_general,
  'bfloat16': bfloat16_products,
}


def find_products(name: str) -> DotGeneral:
  """The hook of that name."""
  if name not in PRODUCTS:
    raise InputError(f'products is {name!r}, must be one of {tuple(PRODUCTS)}.')
  return PRODUCTS[name]


def choose_products(name: str = 'auto') -> str:
  """A name of `PRODUCTS`; 'auto' = the faster one on this machine.

  That is bfloat16 on CPUs with instructions for it. Accelerators choose by the
  dtype of activations, and XLA without optimizations has no such products.
  """
  if name != 'auto':
    find_products(name)
    return name
  plain = jax.config.read('jax_disable_most_optimizations')
  if plain or jax.default_backend() != 'cpu':
    return 'float32'
  return 'bfloat16' if _cpu_features() & _BFLOAT16_FEATURES else 'float32'


@functools.cache
def _cpu_features() -> frozenset[str]:
  """As Linux names them; none where it cannot be asked."""
  try:
    lines = Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines()
  except OSError:
    return frozenset()
  flags = next((line for line in lines if line.startswith('flags')), '')
  return frozenset(flags.split())


def with_products(config: Any, name: str) -> Any:
  """A configuration whose every field `products`, however deep, is `name`."""
  changes: dict[str, Any] = {}
  for field in dataclasses.fields(config):
    value = getattr(config, field.name)
    if field.name == 'products':
      changes['products'] = name
    elif dataclasses.is_dataclass(value):
      changes[field.name] = with_products(value, name)
  return dataclasses.replace(config, **changes)


def einsum(
  subscripts: str, lhs: Array, rhs: Array, dot_general: DotGeneral
) -> Array:
  """An einsum of two arrays whose sums are float32 or wider."""
  wide = jnp.result_type(jnp.float32, lhs.dtype, rhs.dtype)
  return jnp.einsum(
    subscripts,
    lhs,
    rhs,
    preferred_element_type=wide,
    _dot_general=dot_general,
  )
