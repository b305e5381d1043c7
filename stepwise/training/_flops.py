"""FLOPs of a program, from its matrix products, and those of devices."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax

# bfloat16 FLOP/s of a device as JAX counts them: a core of v2 and v3, else a
# chip. From the makers' data sheets.
_PEAKS = {
  'TPU v2': 22.5e12,
  'TPU v3': 61.5e12,
  'TPU v4': 275e12,
  'TPU v5 lite': 197e12,
  'TPU v5': 459e12,
  'TPU v5p': 459e12,
  'TPU v6 lite': 918e12,
  'NVIDIA A100-SXM4-40GB': 312e12,
  'NVIDIA A100-SXM4-80GB': 312e12,
  'NVIDIA H100 80GB HBM3': 989e12,
}


def peak_flops(devices: Iterable[Any]) -> float | None:
  """FLOP/s of all devices together; None if one of them is not known."""
  peaks = [_PEAKS.get(device.device_kind) for device in devices]
  known = [peak for peak in peaks if peak is not None]
  return sum(known) if len(known) == len(peaks) else None


def product_flops(function: Callable[..., Any], *arguments: Any) -> float:
  """FLOPs of the matrix products of a function.

  A scan counts as often as it runs, where the compiler's own count takes every
  loop once. Shapes of arguments are enough.

  >>> import jax.numpy as jnp
  >>> many = lambda x: jax.lax.scan(lambda y, _: (y @ x, None), x, None, 7)[0]
  >>> product_flops(many, jnp.ones((5, 5)))
  1750.0
  """
  return traced_flops(jax.make_jaxpr(function)(*arguments))


def traced_flops(program: Any) -> float:
  """The same of a program that was traced, a closed jaxpr."""
  return _count(program.jaxpr)


def _count(jaxpr: Any) -> float:
  return sum((_count_one(equation) for equation in jaxpr.eqns), 0.0)


def _count_one(equation: Any) -> float:
  name, params = equation.primitive.name, equation.params
  if name == 'dot_general':
    (contracted, _), _ = params['dimension_numbers']
    left = equation.invars[0].aval.shape
    inner = math.prod(left[axis] for axis in contracted)
    return 2.0 * math.prod(equation.outvars[0].aval.shape) * inner
  inside = [_count(jaxpr) for jaxpr in _jaxprs(params.values())]
  if name == 'cond':
    return max(inside)
  return sum(inside, 0.0) * (params['length'] if name == 'scan' else 1)


def _jaxprs(values: Iterable[Any]) -> Iterator[Any]:
  for value in values:
    if isinstance(value, tuple | list):
      yield from _jaxprs(value)
    elif hasattr(value, 'eqns'):
      yield value
    elif hasattr(value, 'jaxpr'):
      yield value.jaxpr
