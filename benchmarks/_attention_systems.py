"""One attention layer over a long document, computed in several ways."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.tpu import splash_attention as splash
from jax.sharding import PartitionSpec

from stepwise.layers import (
  AttentionHeads,
  AttentionPattern,
  RelativeTable,
  RelativeTables,
  UnitStructure,
  global_local_attention,
  member_label,
  outside_label,
)

_UNIT_TOKENS = 16
_FROM_LONG = ('long_query', 'l2l_key', 'l2l_value', 'g2l_key', 'g2l_value')


@dataclass(frozen=True)
class Sizes:
  """Of the layer; the defaults are the paper's base model."""

  globals: int = 512
  heads: int = 12
  dim: int = 64
  radius: int = 84
  labels: int = 32
  max_distance: int = 12

  @property
  def pattern(self) -> AttentionPattern:
    return AttentionPattern(self.radius, self.max_distance, hard_g2l=True)


class Problem(NamedTuple):
  """The inputs of the layer; gradients are taken of heads and tables."""

  heads: AttentionHeads
  tables: RelativeTables
  units: UnitStructure


Outputs = tuple[Any, ...]
System = Callable[[Problem, Sizes], Outputs]


def problem_shapes(length: int, sizes: Sizes, dtype: Any) -> Problem:
  """Shapes and dtypes of a batch of one document."""

  def head(slot: str) -> jax.Array:
    tokens = length if slot in _FROM_LONG else sizes.globals
    return jnp.zeros((1, tokens, sizes.heads, sizes.dim), dtype)

  def ids(tokens: int) -> jax.Array:
    return jnp.zeros((1, tokens), jnp.int32)

  def problem() -> Problem:
    table = RelativeTable(
      jnp.zeros((sizes.labels, sizes.heads, sizes.dim)),
      jnp.zeros((sizes.labels, sizes.heads)),
    )
    return Problem(
      AttentionHeads(**{slot: head(slot) for slot in AttentionHeads._fields}),
      RelativeTables(table, table),
      UnitStructure(ids(length), ids(length), ids(sizes.globals)),
    )

  return jax.eval_shape(problem)


def draw_problem(length: int, sizes: Sizes, seed: int = 0) -> Problem:
  """Random float32 heads and tables; units of 16 tokens, longer if they must
  be for all to have a global token. Global tokens left over are padding."""
  random = np.random.default_rng(seed)
  shapes = problem_shapes(length, sizes, jnp.float32)
  heads, tables = jax.tree.map(
    lambda leaf: jnp.asarray(random.normal(size=leaf.shape), leaf.dtype),
    (shapes.heads, shapes.tables),
  )
  unit_tokens = max(_UNIT_TOKENS, -(-length // sizes.globals))
  unit_ids = np.arange(length, dtype=np.int32)[None] // unit_tokens
  used = np.arange(sizes.globals)[None] <= unit_ids.max()
  return Problem(
    heads,
    tables,
    UnitStructure(
      jnp.asarray(unit_ids),
      jnp.ones((1, length), jnp.int32),
      jnp.asarray(used, jnp.int32),
    ),
  )


def blocked(problem: Problem, sizes: Sizes) -> Outputs:
  return _ours(problem, sizes, 'blocked')


def pallas(problem: Problem, sizes: Sizes) -> Outputs:
  return _ours(problem, sizes, 'pallas')


def dense(problem: Problem, sizes: Sizes) -> Outputs:
  return _ours(problem, sizes, 'dense')


def _ours(problem: Problem, sizes: Sizes, implementation: str) -> Outputs:
  heads, tables, units = problem
  return global_local_attention(
    heads, units, sizes.pattern, tables, implementation=implementation
  )


def jax_dense(problem: Problem, sizes: Sizes) -> Outputs:
  """`jax.nn.dot_product_attention` over long and global tokens, concatenated.

  The structure is a dense mask and the labels a dense additive bias. This
  computes less than the others, in its favour: one projection per token, no
  query-dependent relative term and no gradient of the bias.
  """
  heads, tables, units = problem
  long_rows, global_rows = tables
  assert long_rows is not None and global_rows is not None
  length = heads.long_query.shape[1]
  mask, labels = _all_pairs(units, sizes)
  bias = jnp.concatenate(
    [
      _look_up(long_rows.bias, labels[:, :length]),
      _look_up(global_rows.bias, labels[:, length:]),
    ],
    axis=2,
  )
  bias = jax.lax.stop_gradient(bias) * sizes.dim**-0.5
  both = jax.nn.dot_product_attention(
    jnp.concatenate([heads.long_query, heads.global_query], axis=1),
    jnp.concatenate([heads.l2l_key, heads.g2g_key], axis=1),
    jnp.concatenate([heads.l2l_value, heads.g2g_value], axis=1),
    bias=bias.astype(heads.long_query.dtype),
    mask=mask[:, None],
  )
  return both[:, :length], both[:, length:]


def _look_up(table: jax.Array, labels: jax.Array) -> jax.Array:
  """`[batch, q, kv]` labels to `[batch, heads, q, kv]` biases.

  By comparing: a TPU pads the indices of a gather of this size to 128 lanes,
  which alone would need 37 GiB for 8192 tokens.
  """
  biases = jnp.zeros((1, 1, 1, 1))
  for label, row in enumerate(table):
    biases = jnp.where(
      labels[:, None] == label, row[None, :, None, None], biases
    )
  return biases


def _all_pairs(units: UnitStructure, sizes: Sizes) -> tuple[Any, Any]:
  """Mask and labels of every pair of long and global tokens."""
  long_ids, global_ids = units.long_examples, units.global_examples
  length, num_globals = long_ids.shape[1], global_ids.shape[1]
  distance = jnp.arange(length)[None, :] - jnp.arange(length)[:, None]
  index = jnp.arange(num_globals)[None, None, :]
  member = units.unit_ids[:, :, None] == index
  between = jnp.where(
    member,
    member_label(sizes.max_distance),
    outside_label(sizes.max_distance),
  )
  allowed = jnp.block(
    [
      [(jnp.abs(distance) <= sizes.radius)[None], jnp.ones_like(member)],
      [
        member.swapaxes(1, 2),
        jnp.ones((1, num_globals, num_globals), bool),
      ],
    ]
  )
  labels = jnp.block(
    [
      [_distance_labels(length, sizes), between],
      [between.swapaxes(1, 2), _distance_labels(num_globals, sizes)],
    ]
  )
  examples = jnp.concatenate([long_ids, global_ids], axis=1)
  return allowed & (examples[:, :, None] == examples[:, None, :]), labels


def _distance_labels(tokens: int, sizes: Sizes) -> jax.Array:
  """`distance_labels` of all pairs, made on the device."""
  position = jnp.arange(tokens)
  distance = position[None, :] - position[:, None]
  near = jnp.minimum(jnp.abs(distance), sizes.max_distance)
  return jnp.where(distance < 0, sizes.max_distance + near, near)[None]


def splash_local(problem: Problem, sizes: Sizes) -> Outputs:
  """JAX's TPU kernel with the window alone: no globals, no relative term."""
  heads = problem.heads
  length = heads.long_query.shape[1]
  window = splash.LocalMask((length, length), (sizes.radius, sizes.radius), 0)
  kernel = splash.make_splash_mha_single_device(
    splash.MultiHeadMask([window] * sizes.heads)
  )
  query, key, value = (
    jnp.moveaxis(array[0], 1, 0)
    for array in (heads.long_query, heads.l2l_key, heads.l2l_value)
  )
  return (kernel(query * sizes.dim**-0.5, key, value),)


def tokamax_local(problem: Problem, sizes: Sizes) -> Outputs:
  """The TPU kernel of tokamax, with the window alone, as `splash_local`."""
  import tokamax  # pyright: ignore[reportMissingImports]

  heads = problem.heads
  out = tokamax.dot_product_attention(
    heads.long_query,
    heads.l2l_key,
    heads.l2l_value,
    local_window_size=(sizes.radius, sizes.radius),
    implementation='mosaic',
  )
  return (out,)


def ring_full(problem: Problem, sizes: Sizes) -> Outputs:
  """ringattention, where every token reads every other: it has no window."""
  import ringattention  # pyright: ignore[reportMissingImports]

  del sizes
  heads = problem.heads
  out = jax.shard_map(
    lambda query, key, value: ringattention.ringattention(
      *(query, key, value, None, None),
      axis_name='sequence',
      float32_logits=True,
      cache_idx=None,
      blockwise_kwargs={'query_chunk_size': 512, 'key_chunk_size': 512},
    ),
    in_specs=PartitionSpec(None, 'sequence'),
    out_specs=PartitionSpec(None, 'sequence'),
  )(heads.long_query, heads.l2l_key, heads.l2l_value)
  return (out,)


SYSTEMS: dict[str, System] = {
  'blocked': blocked,
  'dense': dense,
  'jax.nn': jax_dense,
}
# What a system leaves out of the layer; the others compute all of it.
LACKS = {
  'jax.nn': 'query-dependent labels and the gradient of biases',
  'splash': 'global tokens and labels',
  'tokamax': 'global tokens and labels',
  'ringattention': 'the window, global tokens and labels',
}
# Kernels of TPUs do not compile for v3.
TPU_SYSTEMS: dict[str, dict[str, System]] = {
  'v5e:2x4': {
    **SYSTEMS,
    'pallas': pallas,
    'splash': splash_local,
    'tokamax': tokamax_local,
    'ringattention': ring_full,
  },
  'v3:2x2': SYSTEMS,
}


def forward(system: System, sizes: Sizes) -> Callable[[Problem], Outputs]:
  return lambda problem: system(problem, sizes)


def gradient(system: System, sizes: Sizes) -> Callable[[Problem], Any]:
  """Gradients of heads and tables, of the sum of all outputs."""

  def loss(heads: AttentionHeads, tables: RelativeTables, units: UnitStructure):
    outputs = system(Problem(heads, tables, units), sizes)
    return sum(output.astype(jnp.float32).sum() for output in outputs)

  return lambda problem: jax.grad(loss, argnums=(0, 1))(*problem)


PASSES = {'forward': forward, 'gradient': gradient}
