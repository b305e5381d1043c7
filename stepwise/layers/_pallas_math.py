"""What the TPU kernels of global-local attention share."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from stepwise._typing import Array, Bool, Float, Int

LANES = 128
# Rows of packed ids; the other rows fill a register.
UNIT, PARENT, EXAMPLE, WINDOW, ID_ROWS = 0, 1, 2, 3, 8


class KernelIds(NamedTuple):
  """Ids of long and of global tokens, and the seed of dropout."""

  long: Int[Array, 'batch rows length']
  glob: Int[Array, 'batch rows globals']
  seed: Int[Array, ' one']


def heads_per_program(dim: int) -> int:
  """Heads that share the lanes of a program."""
  return max(LANES // dim, 1)


def lanes_of(head: int, dim: int) -> Bool[Array, '1 lanes']:
  """The lanes of one of the heads of a program."""
  lane = iota((1, max(LANES, dim)), 1)
  return (lane >= head * dim) & (lane < (head + 1) * dim)


def iota(shape: tuple[int, ...], axis: int) -> Int[Array, '...']:
  return jax.lax.broadcasted_iota(jnp.int32, shape, axis)


def run_kernel(kernel: Any, operands: Sequence[Array], **call: Any) -> Any:
  """Compiled where there is a TPU, interpreted as plain JAX elsewhere.

  Where that is, is known when a program is lowered: a program for a TPU can
  be compiled on a machine that has none.
  """
  params = pltpu.CompilerParams(
    dimension_semantics=('parallel', 'parallel', 'arbitrary'),
    vmem_limit_bytes=64 * 2**20,
  )
  return jax.lax.platform_dependent(
    *operands,
    tpu=pl.pallas_call(kernel, compiler_params=params, **call),
    default=pl.pallas_call(kernel, interpret=True, **call),
  )


def dot(a: Array, b: Array, exact: bool = False) -> Float[Array, 'm n']:
  """a b, summed in float32."""
  return _contract((1, 0), a, b, exact)


def dot_t(a: Array, b: Array, exact: bool = False) -> Float[Array, 'm n']:
  """a b^T."""
  return _contract((1, 1), a, b, exact)


def t_dot(a: Array, b: Array) -> Float[Array, 'm n']:
  """a^T b."""
  return _contract((0, 0), a, b, False)


def _contract(axes: tuple[int, int], a: Array, b: Array, exact: bool) -> Array:
  # A matrix unit would round float32 to bfloat16.
  exact |= a.dtype == jnp.float32
  return jax.lax.dot_general(
    a,
    b,
    (((axes[0],), (axes[1],)), ((), ())),
    precision=jax.lax.Precision.HIGHEST if exact else None,
    preferred_element_type=jnp.float32,
  )


def mix(bits: Any) -> Int[Array, '...']:
  """A bijection of 32 bits that leaves no pattern (murmur3's last step)."""
  bits = jnp.asarray(bits, jnp.int32)
  for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, None)):
    bits ^= jax.lax.shift_right_logical(bits, jnp.int32(shift))
    if factor is not None:
      bits *= jnp.int32(np.uint32(factor).astype(np.int32))
  return bits


def keep(
  stream: Any, row: Array, column: Array, rate: float
) -> Float[Array, '...']:
  """Dropout: one over the share that is kept, or 0.

  A function of the stream and the pair alone, so that the backward pass draws
  what the forward pass drew.
  """
  bits = mix(mix(stream ^ row) + column)
  # The upper 24 bits are a number of [0, 1).
  draw = jax.lax.shift_right_logical(bits, jnp.int32(8)).astype(jnp.float32)
  return jnp.where(draw >= rate * 2**24, 1 / (1 - rate), 0.0)


def dropout_stream(seed: Any, batch: Any, head: Any) -> Int[Array, '']:
  """What the draws of one head of one document begin with."""
  return mix(seed + mix(batch * 4099 + head))
