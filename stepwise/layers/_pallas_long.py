"""The long rows of global-local attention as one TPU kernel.

A program attends `block` long queries of the heads that share 128 lanes. The
keys of a row, its window and all global tokens, are in fast memory together,
so its softmax is computed at once: the backward pass recomputes it from the
inputs and nothing is stored between the two. Masks and relative labels come
from ids, one integer per token.

Several heads share 128 lanes. Their products are separated by zeroing the
lanes of the others in the query: a matrix unit multiplies 128 lanes at a time
in any case. Rows are worked off 128 at a time against `128 + 2 * halo` keys:

    halo | block               | halo       keys in fast memory
     [----rows 0..127 read----]             the first 128 queries
           [----rows 128..255 read----]     the next
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
  WINDOW,
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
from stepwise.layers._positions import member_label, outside_label
from stepwise.layers._softmax import NEG_INF

_ROWS = 128


class LongShape(NamedTuple):
  """Everything static of the kernel.

  Attributes:
    length, globals: real tokens; arrays are padded beyond them.
    dim: lanes of a head.
    radius, max_distance, hard_l2g: of the attention pattern.
    block: queries of a program.
    rate: of dropout.
    labelled: whether there is a relative table.
  """

  length: int
  globals: int
  dim: int
  scale: float
  radius: int
  max_distance: int
  hard_l2g: bool
  block: int
  rate: float
  labelled: bool

  @property
  def halo(self) -> int:
    return -(-self.radius // _ROWS) * _ROWS

  @property
  def window(self) -> int:
    return _ROWS + 2 * self.halo

  @property
  def heads_per_program(self) -> int:
    return heads_per_program(self.dim)

  @property
  def width(self) -> int:
    """Lanes of a program."""
    return max(LANES, self.dim)


class LongArrays(NamedTuple):
  """The arrays a kernel reads, padded to whole blocks.

  Lanes are `heads * dim`; a table has the vectors of a program's heads side by
  side, and a bias row for each of them.
  """

  query: Float[Array, 'batch length lanes']
  key: Float[Array, 'batch length lanes']
  value: Float[Array, 'batch length lanes']
  global_key: Float[Array, 'batch globals lanes']
  global_value: Float[Array, 'batch globals lanes']
  table: Float[Array, 'programs labels width']
  bias: Float[Array, 'programs rows labels']


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def attend_long(
  shape: LongShape, arrays: LongArrays, ids: KernelIds
) -> Float[Array, 'batch length lanes']:
  """Attends; rows beyond the real length mean nothing."""
  grid, specs = _grid(shape, arrays, extra=0)
  return run_kernel(
    functools.partial(_forward_kernel, shape),
    _operands(arrays, ids),
    grid=grid,
    in_specs=specs.inputs,
    out_specs=specs.rows,
    out_shape=jax.ShapeDtypeStruct(arrays.query.shape, arrays.query.dtype),
  )


def _attend_forward(
  shape: LongShape, arrays: LongArrays, ids: KernelIds
) -> tuple[Array, tuple[LongArrays, KernelIds]]:
  return attend_long(shape, arrays, ids), (arrays, ids)


def _attend_backward(
  shape: LongShape,
  saved: tuple[LongArrays, KernelIds],
  gradient: Float[Array, 'batch length lanes'],
) -> tuple[LongArrays, None]:
  arrays, ids = saved
  batch = len(arrays.query)
  grid, specs = _grid(shape, arrays, extra=1)
  rows = (arrays.query, arrays.key, arrays.value)
  wide = jnp.float32
  shapes = [
    *(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in rows),
    *(jax.ShapeDtypeStruct(arrays.global_key.shape, wide) for _ in range(2)),
    jax.ShapeDtypeStruct((batch, *arrays.table.shape), wide),
    jax.ShapeDtypeStruct((batch, *arrays.bias.shape), wide),
  ]
  per_head = [
    pl.BlockSpec((1, 1, *array.shape[1:]), lambda b, h, t: (b, h, 0, 0))
    for array in (arrays.table, arrays.bias)
  ]
  size = (2 * shape.block + shape.halo, shape.width)
  found = run_kernel(
    functools.partial(_backward_kernel, shape),
    [*_operands(arrays, ids), gradient.astype(arrays.query.dtype)],
    grid=grid,
    in_specs=[*specs.inputs, specs.rows],
    out_specs=[
      specs.rows,
      specs.lagging,
      specs.lagging,
      *(specs.globals,) * 2,
      *per_head,
    ],
    out_shape=shapes,
    scratch_shapes=[pltpu.VMEM(size, wide), pltpu.VMEM(size, wide)],
  )
  query, key, value, global_key, global_value, table, bias = found
  dtype = arrays.query.dtype
  return (
    LongArrays(
      query,
      key,
      value,
      global_key.astype(dtype),
      global_value.astype(dtype),
      table.sum(axis=0).astype(arrays.table.dtype),
      bias.sum(axis=0),
    ),
    None,
  )


attend_long.defvjp(_attend_forward, _attend_backward)


class _Specs(NamedTuple):
  inputs: list[Any]
  rows: Any
  lagging: Any
  globals: Any


def _operands(arrays: LongArrays, ids: KernelIds) -> list[Array]:
  """In the order of `_Inputs`; three views of what has a halo."""
  return [
    ids.seed,
    arrays.query,
    *(arrays.key,) * 3,
    *(arrays.value,) * 3,
    *(ids.long,) * 3,
    arrays.global_key,
    arrays.global_value,
    ids.glob,
    arrays.table,
    arrays.bias,
  ]


def _grid(
  shape: LongShape, arrays: LongArrays, extra: int
) -> tuple[tuple[int, ...], _Specs]:
  """Programs by batch, heads and blocks, and which part each one sees.

  With one `extra` step the gradients of keys lag one block behind: by then
  the next block's queries have added their share.
  """
  block, halo, width = shape.block, shape.halo, shape.width
  batch, length, lanes = arrays.query.shape
  blocks = length // block
  per_block, last = block // halo, length // halo - 1

  def at(t: Any) -> Any:
    return jnp.minimum(t, blocks - 1)

  def before(t: Any) -> Any:
    return jnp.maximum(at(t) * per_block - 1, 0)

  def after(t: Any) -> Any:
    return jnp.minimum((at(t) + 1) * per_block, last)

  def rows(size: int, index: Any) -> Any:
    return pl.BlockSpec((1, size, width), lambda b, h, t: (b, index(t), h))

  def ids(size: int, index: Any) -> Any:
    return pl.BlockSpec((1, ID_ROWS, size), lambda b, h, t: (b, 0, index(t)))

  num_globals = arrays.global_key.shape[1]
  whole = pl.BlockSpec((1, num_globals, width), lambda b, h, t: (b, 0, h))
  keys = [rows(halo, before), rows(block, at), rows(halo, after)]
  inputs = [
    pl.BlockSpec(memory_space=pltpu.SMEM),
    rows(block, at),
    *keys,
    *keys,
    *[ids(halo, before), ids(block, at), ids(halo, after)],
    whole,
    whole,
    pl.BlockSpec((1, ID_ROWS, num_globals), lambda b, h, t: (b, 0, 0)),
    *[
      pl.BlockSpec((1, *array.shape[1:]), lambda b, h, t: (h, 0, 0))
      for array in (arrays.table, arrays.bias)
    ],
  ]
  specs = _Specs(
    inputs,
    rows(block, at),
    rows(block, lambda t: jnp.maximum(t - 1, 0)),
    whole,
  )
  return (batch, lanes // width, blocks + extra), specs


class _Inputs(NamedTuple):
  """References of a program, in the order of `_operands`."""

  seed: Any
  query: Any
  key_before: Any
  key: Any
  key_after: Any
  value_before: Any
  value: Any
  value_after: Any
  ids_before: Any
  ids: Any
  ids_after: Any
  global_key: Any
  global_value: Any
  global_ids: Any
  table: Any
  bias: Any


class _Read(NamedTuple):
  """What a program reads, as values; keys with their halo."""

  key: Array
  value: Array
  ids: Array
  global_key: Array
  global_value: Array
  global_ids: Array
  table: Array
  bias: Array


def _read(refs: _Inputs) -> _Read:
  def joined(before: Any, here: Any, after: Any, axis: int) -> Array:
    return jnp.concatenate([before[0], here[0], after[0]], axis=axis)

  return _Read(
    joined(refs.key_before, refs.key, refs.key_after, 0),
    joined(refs.value_before, refs.value, refs.value_after, 0),
    joined(refs.ids_before, refs.ids, refs.ids_after, 1),
    refs.global_key[0],
    refs.global_value[0],
    refs.global_ids[0],
    refs.table[0],
    refs.bias[0],
  )


class _Program(NamedTuple):
  """Which program this is; asked for once, outside of any branch."""

  batch: Any
  heads: Any
  step: Any

  @classmethod
  def this(cls) -> '_Program':
    return cls(*(pl.program_id(axis) for axis in range(3)))


def _forward_kernel(shape: LongShape, *refs: Any) -> None:
  inputs, output = _Inputs(*refs[:-1]), refs[-1]
  read, program = _read(inputs), _Program.this()
  for part in range(shape.block // _ROWS):
    rows = slice(part * _ROWS, (part + 1) * _ROWS)
    query = inputs.query[0, rows]
    place = _Place(shape, read, inputs.seed, program, part)
    total = jnp.zeros((_ROWS, shape.width), jnp.float32)
    for head in range(shape.heads_per_program):
      lanes = lanes_of(head, shape.dim)
      weights = place.weights(jnp.where(lanes, query, 0), head)
      near, far = place.drop(head, weights.near, weights.far)
      summed = dot(near.astype(query.dtype), place.value)
      summed += dot(far.astype(query.dtype), read.global_value)
      total = jnp.where(lanes, summed * weights.share, total)
    output[0, rows] = total.astype(output.dtype)


def _backward_kernel(shape: LongShape, *refs: Any) -> None:
  inputs = _Inputs(*refs[: len(_Inputs._fields)])
  gradient, *outputs, key_sum, value_sum = refs[len(_Inputs._fields) :]
  d_query, d_key, d_value, *running = outputs
  program, steps = _Program.this(), pl.num_programs(2)

  @pl.when(program.step == 0)
  def _begin() -> None:
    for ref in (*running, key_sum, value_sum):
      ref[...] = jnp.zeros_like(ref)

  kept = shape.block + shape.halo
  for ref in (key_sum, value_sum):
    # The block before comes first; what lies ahead begins with nothing.
    ref[:kept] = ref[shape.block :]
    ref[kept:] = jnp.zeros((shape.block, shape.width), jnp.float32)

  @pl.when(program.step < steps - 1)
  def _add() -> None:
    read = _read(inputs)
    for part in range(shape.block // _ROWS):
      _add_part(
        shape,
        inputs,
        read,
        program,
        part,
        gradient,
        d_query,
        running,
        (key_sum, value_sum),
      )

  d_key[0] = key_sum[: shape.block].astype(d_key.dtype)
  d_value[0] = value_sum[: shape.block].astype(d_value.dtype)


def _add_part(
  shape: LongShape,
  inputs: _Inputs,
  read: _Read,
  program: _Program,
  part: int,
  gradient: Any,
  d_query: Any,
  running: list[Any],
  lagging: tuple[Any, Any],
) -> None:
  """The gradients of 128 rows, added to those of what they read."""
  key_sum, value_sum = lagging
  d_global_key, d_global_value, d_table, d_bias = running
  rows = slice(part * _ROWS, (part + 1) * _ROWS)
  # Sums begin one block before, keys one halo before.
  first = shape.block - shape.halo + part * _ROWS
  reach = slice(first, first + shape.window)
  place = _Place(shape, read, inputs.seed, program, part)
  query, out = inputs.query[0, rows], gradient[0, rows]
  dtype = query.dtype
  total = jnp.zeros((_ROWS, shape.width), jnp.float32)
  for head in range(shape.heads_per_program):
    lanes = lanes_of(head, shape.dim)
    q, o = jnp.where(lanes, query, 0), jnp.where(lanes, out, 0)
    weights = place.weights(q, head)
    near, far = weights.near * weights.share, weights.far * weights.share
    dropped = place.drop(head, near, far)
    d_near, d_far = place.drop(
      head, dot_t(o, place.value), dot_t(o, read.global_value)
    )
    mean = (near * d_near).sum(1, keepdims=True)
    mean += (far * d_far).sum(1, keepdims=True)
    s_near = near * (d_near - mean) * shape.scale
    s_far = far * (d_far - mean) * shape.scale
    cast_near, cast_far = s_near.astype(dtype), s_far.astype(dtype)
    summed = dot(cast_near, place.key) + dot(cast_far, read.global_key)
    key_sum[reach] += t_dot(cast_near, q)
    value_sum[reach] += t_dot(dropped[0].astype(dtype), o)
    d_global_key[0] += t_dot(cast_far, q)
    d_global_value[0] += t_dot(dropped[1].astype(dtype), o)
    if shape.labelled:
      labels = place.label_gradient(s_near, s_far)
      summed += dot(labels.astype(dtype), read.table.astype(dtype))
      d_table[0, 0] += t_dot(labels.astype(dtype), q)
      d_bias[0, 0, head : head + 1] += labels.sum(axis=0, keepdims=True)
    total = jnp.where(lanes, summed, total)
  d_query[0, rows] = total.astype(d_query.dtype)


class _Weights(NamedTuple):
  """exp(score - peak) of all keys of 128 rows, and one over their sums."""

  near: Float[Array, 'rows window']
  far: Float[Array, 'rows globals']
  share: Float[Array, 'rows 1']


class _Place:
  """128 rows of a block: which keys they read, under which labels."""

  def __init__(
    self,
    shape: LongShape,
    read: _Read,
    seed: Any,
    program: _Program,
    part: int,
  ) -> None:
    self._shape, self._read, self._seed = shape, read, seed
    self._program = program
    reach = slice(part * _ROWS, part * _ROWS + shape.window)
    self.key, self.value = read.key[reach], read.value[reach]
    first = shape.halo + part * _ROWS
    # As a column: every row has the ids of its own token.
    rows = read.ids[:, first : first + _ROWS].T
    self._unit, self._parent = (
      rows[:, UNIT : UNIT + 1],
      rows[:, PARENT : PARENT + 1],
    )
    start = program.step * shape.block + part * _ROWS
    row, column = (iota((_ROWS, shape.window), axis) for axis in (0, 1))
    self._row_position = start + row
    self._key_position = start - shape.halo + column
    self.near_mask = self._near_mask(rows, read.ids[:, reach])
    self.member = self._membership()
    self.far_mask = self._far_mask(rows)

  def weights(self, query: Array, head: int) -> _Weights:
    """Unnormalised weights of all keys; the query has one head's lanes."""
    near = dot_t(query, self.key)
    far = dot_t(query, self._read.global_key)
    if self._shape.labelled:
      labels = self._label_scores(query, head)
      near += self._shift_right(self._by_distance(labels))
      far += self._by_membership(labels)
    near = jnp.where(self.near_mask, near * self._shape.scale, NEG_INF)
    far = jnp.where(self.far_mask, far * self._shape.scale, NEG_INF)
    peak = jnp.maximum(
      near.max(axis=1, keepdims=True), far.max(axis=1, keepdims=True)
    )
    guard = jnp.where(peak > NEG_INF, peak, 0)
    near, far = jnp.exp(near - guard), jnp.exp(far - guard)
    mass = near.sum(axis=1, keepdims=True) + far.sum(axis=1, keepdims=True)
    return _Weights(near, far, jnp.where(mass > 0, 1 / mass, 0))

  def drop(self, head: int, near: Array, far: Array) -> tuple[Array, Array]:
    """Dropout: the same draws whenever the same pair is asked for."""
    shape = self._shape
    if not shape.rate:
      return near, far
    index = head + self._program.heads * shape.heads_per_program
    stream = dropout_stream(self._seed[0], self._program.batch, index)
    beyond = shape.length + 2 * shape.halo + iota(far.shape, 1)
    far_rows = self._row_position[:, :1]
    return (
      near * keep(stream, self._row_position, self._key_position, shape.rate),
      far * keep(stream, far_rows, beyond, shape.rate),
    )

  def label_gradient(self, near: Array, far: Array) -> Array:
    """What the scores of labels had to do with those of keys."""
    columns = _distance_columns(self._shape, self._read.table.shape[0])
    labels = dot_t(self._shift_left(near), columns, exact=True)
    inside = jnp.where(self.member, far, 0).sum(axis=1, keepdims=True)
    outside = jnp.where(self.member, 0, far).sum(axis=1, keepdims=True)
    label = iota(labels.shape, 1)
    k = self._shape.max_distance
    labels += jnp.where(label == member_label(k), inside, 0)
    return labels + jnp.where(label == outside_label(k), outside, 0)

  def _label_scores(self, query: Array, head: int) -> Array:
    scores = dot_t(query, self._read.table.astype(query.dtype))
    return scores + self._read.bias[head : head + 1]

  def _by_distance(self, labels: Array) -> Array:
    """Scores by the slot of the window of the first row."""
    columns = _distance_columns(self._shape, labels.shape[1])
    return dot(labels, columns, exact=True)

  def _by_membership(self, labels: Array) -> Array:
    k = self._shape.max_distance
    inside, outside = member_label(k), outside_label(k)
    return jnp.where(
      self.member,
      labels[:, inside : inside + 1],
      labels[:, outside : outside + 1],
    )

  def _near_mask(self, rows: Array, keys: Array) -> Array:
    shape, position = self._shape, self._key_position
    mask = jnp.abs(position - self._row_position) <= shape.radius
    mask &= (position >= 0) & (position < shape.length)
    for row in (EXAMPLE, WINDOW):
      mask &= rows[:, row : row + 1] == keys[row : row + 1]
    return mask

  def _membership(self) -> Array:
    index = iota((_ROWS, self._read.global_key.shape[0]), 1)
    return (self._unit == index) | (self._parent == index)

  def _far_mask(self, rows: Array) -> Array:
    index = iota(self.member.shape, 1)
    examples = self._read.global_ids[EXAMPLE : EXAMPLE + 1]
    mask = rows[:, EXAMPLE : EXAMPLE + 1] == examples
    mask &= index < self._shape.globals
    return mask & self.member if self._shape.hard_l2g else mask

  def _shift_right(self, rows: Array) -> Array:
    """Row `i` moved right by `i` columns, around the end."""
    return _shift_rows(rows, lambda step, size: step)

  def _shift_left(self, rows: Array) -> Array:
    return _shift_rows(rows, lambda step, size: size - step)


def _shift_rows(rows: Array, amount: Any) -> Array:
  """Moves by powers of two, those that add up to the number of a row."""
  row = iota(rows.shape, 0)
  step = 1
  while step < rows.shape[0]:
    moved = pltpu.roll(rows, amount(step, rows.shape[1]), 1)
    rows = jnp.where((row & step) != 0, moved, rows)
    step *= 2
  return rows


def _distance_columns(shape: LongShape, labels: int) -> Array:
  """One-hot label of every slot of the window of the first row."""
  delta = iota((labels, shape.window), 1) - shape.halo
  near = jnp.minimum(jnp.abs(delta), shape.max_distance)
  wanted = jnp.where(delta < 0, shape.max_distance + near, near)
  return (iota((labels, shape.window), 0) == wanted).astype(jnp.float32)
