"""Global-local attention of documents that are longer than a chip.

The long axis is spread over the `sequence` axis of a mesh. A window reaches
`radius` tokens into the neighbouring shards, which are exchanged once; global
tokens are on every shard, and what they read of each shard is summed up:

    shard 0        shard 1        shard 2
    [ tokens ]<-r->[ tokens ]<-r->[ tokens ]     neighbours exchange r tokens
         \\______________|______________/          softmax sums of global rows
                     globals                     are added over all shards

Memory of a chip depends on the tokens of its shard, not of the document.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float
from stepwise.layers._blocked import attend_blocks
from stepwise.layers._blocks import BlockGrid, default_block
from stepwise.layers._heads import AttentionHeads, RelativeTables
from stepwise.layers._products import DotGeneral
from stepwise.layers._softmax import Dropout, SoftmaxPart
from stepwise.layers._structure import AttentionPattern, UnitStructure

SEQUENCE = 'sequence'
_LONG = ('long_query', 'l2l_key', 'l2l_value', 'g2l_key', 'g2l_value')


@dataclass(frozen=True)
class ShardGrid(BlockGrid):
  """The blocks of one shard, whose windows overhang into its neighbours.

  Attributes:
    shards: how many of this length there are, in the order of the document.
    tokens: of the document; what the last shard has beyond them is padding.
  """

  shards: int = 1
  tokens: int = 0

  @property
  def _first(self) -> Array:
    """The position of the shard's first token in the document."""
    return jax.lax.axis_index(SEQUENCE) * self.length

  def pad(self, array: Array) -> Array:
    """Adds the neighbours' tokens that windows overhang into."""
    forth = [(shard, shard + 1) for shard in range(self.shards - 1)]
    back = [(after, before) for before, after in forth]
    # Where there is no neighbour zeros arrive; `window_exists` masks them.
    before = jax.lax.ppermute(array[:, -self.radius :], SEQUENCE, forth)
    after = jax.lax.ppermute(array[:, : self.radius], SEQUENCE, back)
    missing = self.num_blocks * self.block - self.length
    joined = jnp.concatenate([before, array, after], axis=1)
    return jnp.pad(
      joined, ((0, 0), (0, missing)) + ((0, 0),) * (array.ndim - 2)
    )

  def window_exists(self, index: Array) -> Bool[Array, ' window']:
    """Which keys of a block's window are of the document."""
    first = self._first + index * self.block - self.radius
    position = first + jnp.arange(self.window)
    return (position >= 0) & (position < self.tokens)

  def exists(self, index: Array) -> Bool[Array, ' block']:
    """Which rows of a block are of the document."""
    position = self._first + index * self.block + jnp.arange(self.block)
    return super().exists(index) & (position < self.tokens)


def sequence_attention(
  heads: AttentionHeads,
  units: UnitStructure,
  pattern: AttentionPattern,
  tables: RelativeTables,
  block: int | None,
  dropout: Dropout,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> tuple[
  Float[Array, 'batch length heads dim'],
  Float[Array, 'batch globals heads dim'],
]:
  """`blocked`, with the long axis spread over the mesh that is set.

  Batch and heads are spread over its other axes.
  """
  mesh: Any = jax.sharding.get_abstract_mesh()
  _check(mesh, heads, pattern.radius)
  shards, tokens = mesh.shape[SEQUENCE], heads.long_query.shape[1]
  length = -(-tokens // shards)
  size = default_block(pattern.radius, length) if block is None else block
  grid = ShardGrid(length, size, pattern.radius, shards, tokens)
  heads, units = _padded(heads, units, length * shards - tokens)
  specs = _specs(mesh, heads, units, tables)

  def attend(
    heads: AttentionHeads, units: UnitStructure, tables: RelativeTables
  ) -> tuple[Array, Array]:
    own = dropout.fold(_device_number(mesh))
    return attend_blocks(
      heads, units, pattern, tables, grid, own, dot_general, _sum_shards
    )

  long, glob = jax.shard_map(
    attend,
    in_specs=specs,
    out_specs=(specs[0].long_query, specs[0].global_query),
    # Sums over shards are the same everywhere, which is not checked.
    check_vma=False,
  )(heads, units, tables)
  return long[:, :tokens], glob


def _padded(
  heads: AttentionHeads, units: UnitStructure, missing: int
) -> tuple[AttentionHeads, UnitStructure]:
  """Tokens that nobody owns, so that all shards have the same length."""
  if not missing:
    return heads, units
  ids = {
    name: jnp.pad(ids, ((0, 0), (0, missing)), constant_values=-1)
    for name, ids in units._asdict().items()
    if ids is not None and name != 'global_examples'
  }
  rows = {
    name: jnp.pad(getattr(heads, name), ((0, 0), (0, missing), (0, 0), (0, 0)))
    for name in _LONG
  }
  return heads._replace(**rows), units._replace(**ids)


def _check(mesh: Any, heads: AttentionHeads, radius: int) -> None:
  if SEQUENCE not in mesh.axis_names:
    raise InputError(
      f"implementation 'sequence' needs a mesh with the axis {SEQUENCE!r}"
      f' (jax.set_mesh), its axes are {tuple(mesh.axis_names)}.'
    )
  length = -(-heads.long_query.shape[1] // mesh.shape[SEQUENCE])
  if radius > length:
    raise InputError(
      f'radius is {radius}, must be at most the {length} long tokens'
      ' of a shard: a window reaches no farther than the next one.'
    )


def _specs(
  mesh: Any, heads: AttentionHeads, units: UnitStructure, tables: RelativeTables
) -> tuple[Any, Any, Any]:
  """Where the parts of every array are."""
  batch, _, num_heads, _ = heads.long_query.shape
  data = _that_divide(('data', 'fsdp'), batch, mesh)
  model = _that_divide(('model',), num_heads, mesh)
  long_ids = PartitionSpec(data, SEQUENCE)
  heads_specs: dict[str, Any] = {
    name: PartitionSpec(data, SEQUENCE if name in _LONG else None, model)
    for name in AttentionHeads._fields
  }
  ids_specs: dict[str, Any] = {
    name: None if ids is None else long_ids
    for name, ids in units._asdict().items()
  }
  ids_specs['global_examples'] = PartitionSpec(data)
  return (
    AttentionHeads(**heads_specs),
    UnitStructure(**ids_specs),
    jax.tree.map(lambda leaf: PartitionSpec(None, model), tables),
  )


def _that_divide(
  axes: tuple[str, ...], size: int, mesh: Any
) -> tuple[str, ...]:
  """The axes of the mesh to spread something over; none if it is not even."""
  there = tuple(axis for axis in axes if axis in mesh.axis_names)
  parts = math.prod(mesh.shape[axis] for axis in there)
  return there if size % parts == 0 else ()


def _device_number(mesh: Any) -> Array:
  """A number of its own for every device, for its draws."""
  return functools.reduce(
    lambda number, axis: number * mesh.shape[axis] + jax.lax.axis_index(axis),
    mesh.axis_names,
    jnp.int32(0),
  )


def _sum_shards(part: SoftmaxPart) -> SoftmaxPart:
  """Joins what global rows read on every shard."""
  peak = jax.lax.pmax(jax.lax.stop_gradient(part.peak), SEQUENCE)
  fade = jnp.exp(part.peak - jnp.where(jnp.isfinite(peak), peak, 0))
  return SoftmaxPart(
    peak,
    jax.lax.psum(fade * part.mass, SEQUENCE),
    jax.lax.psum(fade[..., None] * part.total, SEQUENCE),
  )
