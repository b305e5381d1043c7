"""Global-local attention by TPU kernels.

The kernels read `[batch, tokens, heads * dim]`, heads side by side in the
lanes, so that nothing is transposed on the way in or out. This file pads what
does not fill whole blocks and lanes, and packs ids.
"""

from typing import Any

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Float, Int
from stepwise.layers._blocked import UnitBlocks, global_to_global
from stepwise.layers._blocks import BlockGrid
from stepwise.layers._heads import (
  AttentionHeads,
  RelativeTable,
  RelativeTables,
  label_scores,
)
from stepwise.layers._pallas_global import (
  GlobalArrays,
  GlobalShape,
  read_long,
)
from stepwise.layers._pallas_long import (
  LongArrays,
  LongShape,
  attend_long,
)
from stepwise.layers._pallas_math import (
  EXAMPLE,
  ID_ROWS,
  LANES,
  PARENT,
  UNIT,
  WINDOW,
  KernelIds,
  heads_per_program,
)
from stepwise.layers._positions import member_label, outside_label
from stepwise.layers._softmax import Dropout, SoftmaxPart, finish, merge
from stepwise.layers._structure import AttentionPattern, UnitStructure

# Long tokens of a program: enough that keys shared with the neighbours are a
# small part of what is read.
_BLOCK = 512


def pallas_attention(
  heads: AttentionHeads,
  units: UnitStructure,
  pattern: AttentionPattern,
  tables: RelativeTables,
  dropout: Dropout,
) -> tuple[
  Float[Array, 'batch length heads dim'],
  Float[Array, 'batch globals heads dim'],
]:
  """Attends with kernels."""
  layout = _Layout(heads, pattern)
  ids = _long_ids(units, layout)
  long = _long_rows(
    heads, units, ids, pattern, tables.long_rows, dropout, layout
  )
  if not layout.globals:
    return long, jnp.zeros_like(heads.global_query)
  grid = BlockGrid(heads.long_query.shape[1], layout.block, pattern.radius)
  relations = UnitBlocks(units, pattern, grid)
  part = merge(
    global_to_global(heads, relations, tables.global_rows, dropout.fold(1)),
    _global_to_long(
      heads, units, ids, pattern, tables.global_rows, dropout, layout
    ),
  )
  return long, finish(part).astype(long.dtype)


class _Layout:
  """How arrays of heads become rows of lanes, and back."""

  def __init__(self, heads: AttentionHeads, pattern: AttentionPattern) -> None:
    self.batch, self.length, self.heads, self.dim = heads.long_query.shape
    self.globals = heads.global_query.shape[1]
    self.padded_dim = _padded_dim(self.dim)
    self.per_program = heads_per_program(self.padded_dim)
    self.programs = -(-self.heads // self.per_program)
    halo = _round_up(pattern.radius, LANES)
    self.block = min(
      _round_up(_BLOCK, halo), _round_up(max(self.length, 1), halo)
    )
    self.padded_length = _round_up(self.length, self.block)
    self.padded_globals = _round_up(max(self.globals, 1), LANES)

  def pack_rows(
    self, array: Float[Array, 'batch tokens heads dim'], rows: int
  ) -> Float[Array, 'batch rows lanes']:
    """Heads side by side in the lanes, padded to `rows` tokens."""
    missing = (
      (0, 0),
      (0, rows - array.shape[1]),
      (0, self.programs * self.per_program - self.heads),
      (0, self.padded_dim - self.dim),
    )
    padded = jnp.pad(array, missing)
    return padded.reshape(self.batch, rows, -1)

  def unpack(self, rows: Array, tokens: int) -> Array:
    """Undoes `pack_rows`."""
    shape = (*rows.shape[:2], -1, self.padded_dim)
    return rows.reshape(shape)[:, :tokens, : self.heads, : self.dim]

  def by_program(self, array: Array, axis: int) -> Array:
    """Splits an axis of heads into programs and the heads of each."""
    missing = self.programs * self.per_program - self.heads
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, missing)
    padded = jnp.pad(array, widths)
    split = (self.programs, self.per_program)
    return padded.reshape(*array.shape[:axis], *split, *array.shape[axis + 1 :])


def _padded_dim(dim: int) -> int:
  """A head fills a power of two of the lanes, or whole registers."""
  if dim > LANES:
    return _round_up(dim, LANES)
  # Below 32 the heads of one program would be too many.
  return 1 << (dim - 1).bit_length() if dim > 16 else LANES


def _round_up(number: int, grain: int) -> int:
  return -(-number // grain) * grain


def _long_ids(
  units: UnitStructure, layout: _Layout
) -> Int[Array, 'batch rows padded']:
  """Ids of long tokens, one row for each kind."""
  none = jnp.full_like(units.unit_ids, -1)
  rows = {
    UNIT: units.unit_ids,
    PARENT: none if units.parent_ids is None else units.parent_ids,
    EXAMPLE: units.long_examples,
    WINDOW: none if units.window_ids is None else units.window_ids,
  }
  return _pack_ids(rows, layout.padded_length)


def _global_ids(
  units: UnitStructure, layout: _Layout
) -> Int[Array, 'batch rows padded']:
  return _pack_ids({EXAMPLE: units.global_examples}, layout.padded_globals)


def _pack_ids(
  rows: dict[int, Int[Array, 'batch tokens']], size: int
) -> Int[Array, 'batch rows padded']:
  first = next(iter(rows.values()))
  packed = [rows.get(row, jnp.zeros_like(first)) for row in range(ID_ROWS)]
  stacked = jnp.stack(packed, axis=1).astype(jnp.int32)
  return jnp.pad(stacked, ((0, 0), (0, 0), (0, size - first.shape[1])))


def _seed(dropout: Dropout) -> tuple[float, Int[Array, ' one']]:
  """The rate, and one number that all draws begin with."""
  if dropout.key is None or not dropout.rate:
    return 0.0, jnp.zeros(1, jnp.int32)
  bits = jax.random.bits(dropout.key, (1,), jnp.uint32)
  return dropout.rate, jax.lax.bitcast_convert_type(bits, jnp.int32)


def _long_rows(
  heads: AttentionHeads,
  units: UnitStructure,
  ids: Int[Array, 'batch rows padded'],
  pattern: AttentionPattern,
  table: RelativeTable | None,
  dropout: Dropout,
  layout: _Layout,
) -> Float[Array, 'batch length heads dim']:
  rate, seed = _seed(dropout.fold(0))
  shape = LongShape(
    length=layout.length,
    globals=layout.globals,
    dim=layout.padded_dim,
    scale=layout.dim**-0.5,
    radius=pattern.radius,
    max_distance=pattern.max_distance,
    hard_l2g=pattern.hard_l2g,
    block=layout.block,
    rate=rate,
    labelled=table is not None,
  )
  length, num_globals = layout.padded_length, layout.padded_globals
  vectors, biases = _packed_table(table, layout)
  arrays = LongArrays(
    layout.pack_rows(heads.long_query, length),
    layout.pack_rows(heads.l2l_key, length),
    layout.pack_rows(heads.l2l_value, length),
    layout.pack_rows(heads.l2g_key, num_globals),
    layout.pack_rows(heads.l2g_value, num_globals),
    vectors,
    biases,
  )
  out: Any = attend_long(
    shape, arrays, KernelIds(ids, _global_ids(units, layout), seed)
  )
  return layout.unpack(out, layout.length)


def _packed_table(
  table: RelativeTable | None, layout: _Layout
) -> tuple[Array, Array]:
  """Vectors of a program's heads side by side, and a row of biases for each."""
  if table is None:
    width = max(LANES, layout.padded_dim)
    return (
      jnp.zeros((layout.programs, LANES, width), jnp.float32),
      jnp.zeros((layout.programs, ID_ROWS, LANES), jnp.float32),
    )
  labels = _round_up(len(table.bias), LANES)
  missing = labels - len(table.bias)
  wide = layout.padded_dim - layout.dim
  vectors = jnp.pad(table.embedding, ((0, missing), (0, 0), (0, wide)))
  vectors = layout.by_program(vectors, 1)
  vectors = jnp.moveaxis(vectors, 0, 1).reshape(layout.programs, labels, -1)
  bias = layout.by_program(jnp.pad(table.bias, ((0, missing), (0, 0))).T, 0)
  rows = _round_up(layout.per_program, ID_ROWS) - layout.per_program
  return vectors, jnp.pad(bias, ((0, 0), (0, rows), (0, 0)))


def _global_to_long(
  heads: AttentionHeads,
  units: UnitStructure,
  ids: Int[Array, 'batch rows padded'],
  pattern: AttentionPattern,
  table: RelativeTable | None,
  dropout: Dropout,
  layout: _Layout,
) -> SoftmaxPart:
  rate, seed = _seed(dropout.fold(2))
  shape = GlobalShape(
    length=layout.length,
    dim=layout.padded_dim,
    scale=layout.dim**-0.5,
    hard=pattern.hard_g2l,
    block=layout.block,
    rate=rate,
  )
  arrays = GlobalArrays(
    layout.pack_rows(heads.global_query, layout.padded_globals),
    layout.pack_rows(heads.g2l_key, layout.padded_length),
    layout.pack_rows(heads.g2l_value, layout.padded_length),
    _packed_labels(heads.global_query, table, pattern, layout),
  )
  part: Any = read_long(
    shape, arrays, KernelIds(ids, _global_ids(units, layout), seed)
  )
  peak, mass = (
    _unpacked_sums(part.sums, first * layout.per_program, layout)
    for first in (0, 1)
  )
  total = layout.unpack(part.total, layout.globals).swapaxes(1, 2)
  return SoftmaxPart(jax.lax.stop_gradient(peak), mass, total)


def _packed_labels(
  query: Float[Array, 'batch globals heads dim'],
  table: RelativeTable | None,
  pattern: AttentionPattern,
  layout: _Layout,
) -> Float[Array, 'batch programs padded 128']:
  """Scores of tokens inside and outside of a unit, in lanes."""
  scores: Any = label_scores(query, table)
  if scores is None:
    shape = (layout.batch, layout.programs, layout.padded_globals, LANES)
    return jnp.zeros(shape, jnp.float32)
  k = pattern.max_distance
  picked = jnp.stack(
    [scores[..., member_label(k)], scores[..., outside_label(k)]], axis=-1
  )
  # [batch, programs, heads, globals, 2] to lanes: inside first, then outside.
  split = jnp.moveaxis(layout.by_program(picked, 1), (2, 4), (4, 3))
  lanes = split.reshape(*split.shape[:3], -1).astype(jnp.float32)
  rows = layout.padded_globals - layout.globals
  return jnp.pad(
    lanes, ((0, 0), (0, 0), (0, rows), (0, LANES - lanes.shape[-1]))
  )


def _unpacked_sums(
  sums: Float[Array, 'batch programs padded 128'],
  first: int,
  layout: _Layout,
) -> Float[Array, 'batch heads globals']:
  picked = sums[:, :, : layout.globals, first : first + layout.per_program]
  by_head = jnp.moveaxis(picked, 3, 2)
  joined = by_head.reshape(layout.batch, -1, layout.globals)
  return joined[:, : layout.heads]
