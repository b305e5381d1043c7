"""What global queries read from long tokens, as one TPU kernel.

Long tokens pass by block by block; the softmax sums of all global rows stay in
fast memory. The result is a `SoftmaxPart`: what the rows read among each other
is merged to it outside. No gradient flows through the peak, which cancels.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from stepwise._typing import Array, Float
from stepwise.layers._pallas_math import (
  EXAMPLE,
  ID_ROWS,
  LANES,
  PARENT,
  UNIT,
  KernelIds,
  dot,
  dot_t,
  dropout_stream,
  heads_per_program,
  iota,
  keep,
  lanes_of,
  run_kernel,
  t_dot,
)
from stepwise.layers._softmax import NEG_INF

# Global rows whose scores are in fast memory at a time.
_ROWS = 512


class GlobalShape(NamedTuple):
  """Everything static of the kernel; see `LongShape`."""

  length: int
  dim: int
  scale: float
  hard: bool
  block: int
  rate: float


class GlobalArrays(NamedTuple):
  """The arrays a kernel reads, padded to whole blocks.

  `labels` has, for the heads of a program, the scores of tokens of a global
  token's unit in the first lanes and of all others in the next ones.
  """

  query: Float[Array, 'batch globals lanes']
  key: Float[Array, 'batch length lanes']
  value: Float[Array, 'batch length lanes']
  labels: Float[Array, 'batch programs globals 128']


class GlobalPart(NamedTuple):
  """A `SoftmaxPart` as the kernel has it.

  `sums` has the peaks of a program's heads in its first lanes, and their
  masses in the next ones.
  """

  sums: Float[Array, 'batch programs globals 128']
  total: Float[Array, 'batch globals lanes']


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def read_long(
  shape: GlobalShape, arrays: GlobalArrays, ids: KernelIds
) -> GlobalPart:
  """The softmax sums of every global row over all long tokens."""
  grid, specs = _grid(shape, arrays)
  return GlobalPart(
    *run_kernel(
      functools.partial(_forward_kernel, shape),
      [ids.seed, ids.long, ids.glob, *arrays],
      grid=grid,
      in_specs=specs.inputs,
      out_specs=[specs.labels, specs.globals],
      out_shape=[
        jax.ShapeDtypeStruct(arrays.labels.shape, jnp.float32),
        jax.ShapeDtypeStruct(arrays.query.shape, jnp.float32),
      ],
    )
  )


def _read_forward(
  shape: GlobalShape, arrays: GlobalArrays, ids: KernelIds
) -> tuple[GlobalPart, tuple[GlobalArrays, KernelIds, Array]]:
  part: Any = read_long(shape, arrays, ids)
  return part, (arrays, ids, part.sums)


def _read_backward(
  shape: GlobalShape,
  saved: tuple[GlobalArrays, KernelIds, Array],
  gradient: GlobalPart,
) -> tuple[GlobalArrays, None]:
  arrays, ids, sums = saved
  grid, specs = _grid(shape, arrays)
  wide = jnp.float32
  query, key, value, labels = run_kernel(
    functools.partial(_backward_kernel, shape),
    [ids.seed, ids.long, ids.glob, *arrays, sums, *gradient],
    grid=grid,
    in_specs=[*specs.inputs, specs.labels, specs.labels, specs.globals],
    out_specs=[specs.globals, specs.rows, specs.rows, specs.labels],
    out_shape=[
      jax.ShapeDtypeStruct(arrays.query.shape, wide),
      jax.ShapeDtypeStruct(arrays.key.shape, arrays.key.dtype),
      jax.ShapeDtypeStruct(arrays.value.shape, arrays.value.dtype),
      jax.ShapeDtypeStruct(arrays.labels.shape, wide),
    ],
  )
  query = query.astype(arrays.query.dtype)
  return GlobalArrays(query, key, value, labels), None


read_long.defvjp(_read_forward, _read_backward)


class _Specs(NamedTuple):
  inputs: list[Any]
  rows: Any
  globals: Any
  labels: Any


def _grid(
  shape: GlobalShape, arrays: GlobalArrays
) -> tuple[tuple[int, ...], _Specs]:
  """Programs by batch, heads and blocks of long tokens."""
  batch, length, lanes = arrays.key.shape
  num_globals, width = arrays.query.shape[1], max(LANES, shape.dim)
  rows = pl.BlockSpec((1, shape.block, width), lambda b, h, t: (b, t, h))
  whole = pl.BlockSpec((1, num_globals, width), lambda b, h, t: (b, 0, h))
  labels = pl.BlockSpec(
    (1, 1, num_globals, LANES), lambda b, h, t: (b, h, 0, 0)
  )
  inputs = [
    pl.BlockSpec(memory_space=pltpu.SMEM),
    pl.BlockSpec((1, ID_ROWS, shape.block), lambda b, h, t: (b, 0, t)),
    pl.BlockSpec((1, ID_ROWS, num_globals), lambda b, h, t: (b, 0, 0)),
    whole,
    rows,
    rows,
    labels,
  ]
  grid = (batch, lanes // width, length // shape.block)
  return grid, _Specs(inputs, rows, whole, labels)


class _Inputs(NamedTuple):
  """References of a program."""

  seed: Any
  ids: Any
  global_ids: Any
  query: Any
  key: Any
  value: Any
  labels: Any


def _forward_kernel(shape: GlobalShape, *refs: Any) -> None:
  *inputs, sums, total = refs
  inputs, heads = _Inputs(*inputs), heads_per_program(shape.dim)
  scores = _Scores(shape, inputs)

  @pl.when(pl.program_id(2) == 0)
  def _begin() -> None:
    is_peak = iota(sums.shape, 3) < heads
    sums[...] = jnp.where(is_peak, NEG_INF, 0.0)
    total[...] = jnp.zeros_like(total)

  value = inputs.value[0]
  for rows in _row_slices(sums.shape[2]):
    for head in range(heads):
      lanes = lanes_of(head, shape.dim)
      logits = scores(rows, head)
      before = sums[0, 0, rows, head : head + 1]
      peak = jnp.maximum(before, logits.max(axis=1, keepdims=True))
      guard = jnp.where(peak > NEG_INF, peak, 0)
      fade, weights = jnp.exp(before - guard), jnp.exp(logits - guard)
      column = slice(heads + head, heads + head + 1)
      mass = sums[0, 0, rows, column] * fade
      sums[0, 0, rows, column] = mass + weights.sum(axis=1, keepdims=True)
      sums[0, 0, rows, head : head + 1] = peak
      dropped = scores.drop(rows, head, weights).astype(value.dtype)
      added = total[0, rows] * fade + dot(dropped, value)
      total[0, rows] = jnp.where(lanes, added, total[0, rows])


def _backward_kernel(shape: GlobalShape, *refs: Any) -> None:
  inputs = _Inputs(*refs[: len(_Inputs._fields)])
  sums, d_sums, d_total, d_query, d_key, d_value, d_labels = refs[
    len(_Inputs._fields) :
  ]
  scores, heads = _Scores(shape, inputs), heads_per_program(shape.dim)

  @pl.when(pl.program_id(2) == 0)
  def _begin() -> None:
    for ref in (d_query, d_labels):
      ref[...] = jnp.zeros_like(ref)

  key, value = inputs.key[0], inputs.value[0]
  key_sum, value_sum = (jnp.zeros(key.shape, jnp.float32) for _ in range(2))
  for rows in _row_slices(sums.shape[2]):
    for head in range(heads):
      lanes = lanes_of(head, shape.dim)
      peak = sums[0, 0, rows, head : head + 1]
      guard = jnp.where(peak > NEG_INF, peak, 0)
      weights = jnp.exp(scores(rows, head) - guard)
      out = jnp.where(lanes, d_total[0, rows], 0).astype(value.dtype)
      column = slice(heads + head, heads + head + 1)
      d_weights = scores.drop(rows, head, dot_t(out, value))
      logits = weights * (d_weights + d_sums[0, 0, rows, column])
      scaled = (logits * shape.scale).astype(key.dtype)
      key_sum += t_dot(scaled, scores.query(rows, head))
      dropped = scores.drop(rows, head, weights).astype(value.dtype)
      value_sum += t_dot(dropped, out)
      d_query[0, rows] += jnp.where(lanes, dot(scaled, key), 0)
      member = scores.member(rows)
      for place, share in (
        (head, jnp.where(member, logits, 0)),
        (heads + head, jnp.where(member, 0, logits)),
      ):
        summed = share.sum(axis=1, keepdims=True)
        d_labels[0, 0, rows, place : place + 1] += summed
  d_key[0] = key_sum.astype(d_key.dtype)
  d_value[0] = value_sum.astype(d_value.dtype)


class _Scores:
  """Scores of some global rows against the block of long tokens."""

  def __init__(self, shape: GlobalShape, inputs: _Inputs) -> None:
    self._shape, self._inputs = shape, inputs
    self._batch, self._program, step = (pl.program_id(i) for i in range(3))
    self._first = step * shape.block
    # As a column: every row has the id of its own global token.
    self._examples = inputs.global_ids[0].T[:, EXAMPLE : EXAMPLE + 1]

  def __call__(self, rows: slice, head: int) -> Float[Array, 'rows block']:
    """Of one head; -inf where a row may not read."""
    inputs, heads = self._inputs, heads_per_program(self._shape.dim)
    products = dot_t(self.query(rows, head), inputs.key[0])
    inside, outside = (
      inputs.labels[0, 0, rows, place : place + 1]
      for place in (head, heads + head)
    )
    member = self.member(rows)
    logits = products * self._shape.scale + jnp.where(member, inside, outside)
    return jnp.where(self._mask(rows, member), logits, NEG_INF)

  def query(self, rows: slice, head: int) -> Array:
    lanes = lanes_of(head, self._shape.dim)
    return jnp.where(lanes, self._inputs.query[0, rows], 0)

  def member(self, rows: slice) -> Array:
    """Whether a long token is of a row's unit, or of its parent."""
    ids = self._inputs.ids[0]
    index = iota((rows.stop - rows.start, self._shape.block), 0) + rows.start
    return (ids[UNIT : UNIT + 1] == index) | (ids[PARENT : PARENT + 1] == index)

  def drop(self, rows: slice, head: int, weights: Array) -> Array:
    shape = self._shape
    if not shape.rate:
      return weights
    index = head + self._program * heads_per_program(shape.dim)
    stream = dropout_stream(self._inputs.seed[0], self._batch, index)
    row = iota(weights.shape, 0) + rows.start
    column = iota(weights.shape, 1) + self._first
    return weights * keep(stream, row, column, shape.rate)

  def _mask(self, rows: slice, member: Array) -> Array:
    mask = self._examples[rows] == self._inputs.ids[0, EXAMPLE : EXAMPLE + 1]
    mask &= iota(mask.shape, 1) + self._first < self._shape.length
    return mask & member if self._shape.hard else mask


def _row_slices(num_globals: int) -> list[slice]:
  return [
    slice(first, min(first + _ROWS, num_globals))
    for first in range(0, num_globals, _ROWS)
  ]
