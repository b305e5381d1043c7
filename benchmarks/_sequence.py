"""Attention with the long axis over the chips of a slice.

One layer, and the 12 layers of the base encoder, are compiled for slices of
growing size with the same number of tokens a chip; what a chip needs should
not grow. `stepwise bench attention --sequence`.
"""

import dataclasses
import functools
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import benchmarks._harness as harness  # Before jax.

# isort: split
import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from benchmarks._attention_systems import (
  Problem,
  Sizes,
  gradient,
  problem_shapes,
)
from stepwise.layers import (
  ETCConfig,
  ETCEncoder,
  UnitStructure,
  global_local_attention,
  make_mesh,
  on_mesh,
)
from stepwise.models import Batch, find_config
from stepwise.training import (
  OptimizerConfig,
  lower_update,
  make_optimizer,
  make_schedule,
)

SLICES = {4: 'v5e:2x2', 16: 'v5e:4x4', 64: 'v5e:8x8', 256: 'v5e:16x16'}
_KINDS = (
  'all-gather',
  'all-reduce',
  'all-to-all',
  'collective-permute',
  'reduce-scatter',
)
_COLLECTIVE = re.compile(rf'({"|".join(_KINDS)})(-start)?\(')
_ARRAY = re.compile(r'\b(pred|bf16|[suf]\d+)\[([\d,]*)\]')


class Program(NamedTuple):
  """What is compiled for which slice; `lower` takes its mesh and tokens."""

  name: str
  chips: int
  tokens: int
  lower: Callable[[Mesh, int], jax.stages.Lowered]

  @property
  def key(self) -> dict[str, Any]:
    """What names its row among the results."""
    return {
      'program': self.name,
      'slice': SLICES[self.chips],
      'chips': self.chips,
      'tokens': self.tokens,
    }


def programs(tokens: int = 16384, layers: int = 12) -> list[Program]:
  """Every program, the small ones first."""
  encoder = functools.partial(lower_encoder, layers=layers)
  growing = [
    Program(name, chips, tokens * chips, lower)
    for chips in SLICES
    for name, lower in (('layer', lower_layer), (f'{layers} layers', encoder))
  ]
  return [*growing, Program('update of etcsum_base', 64, 2**20, lower_million)]


def measure(program: Program) -> dict[str, Any]:
  """What a chip needs, and what chips tell each other."""
  started = time.perf_counter()
  lowered = program.lower(slice_mesh(program.chips), program.tokens)
  row = program.key | _compiled(lowered)
  return row | {'seconds_to_compile': round(time.perf_counter() - started)}


def growth(rows: Sequence[dict[str, Any]], name: str) -> float:
  """Bytes of a chip of the largest slice over those of the smallest.

  >>> rows = [
  ...   {'program': 'layer', 'chips': 4, 'device_bytes': 100},
  ...   {'program': 'layer', 'chips': 16, 'device_bytes': 103},
  ... ]
  >>> growth(rows, 'layer')
  1.03
  """
  found = [row for row in rows if row['program'] == name]
  sizes = [
    row['device_bytes'] for row in sorted(found, key=lambda row: row['chips'])
  ]
  return sizes[-1] / sizes[0]


def lower_million(mesh: Mesh, tokens: int) -> jax.stages.Lowered:
  """One update, Adam, of one step of one document."""
  config: Any = find_config('etcsum_base').with_settings(
    scan_layers=True, remat=True, dtype=jnp.bfloat16, dropout=0.0
  )
  # Document, summary and three delimiters fill the shards.
  summary = 2048
  config = dataclasses.replace(
    config,
    document_tokens=tokens - summary - 3,
    summary_tokens=summary,
  )
  optimizer = OptimizerConfig(learning_rate=2.5e-5)
  schedule = make_schedule(optimizer, embed=config.encoder.embed, steps=5000)

  def shape(columns: int, dtype: Any = jnp.int32) -> Any:
    return jax.ShapeDtypeStruct((1, columns), dtype)

  batch = Batch(
    shape(config.document_tokens),
    shape(config.document_tokens),
    shape(504, jnp.bool_),
    plan=shape(16),
    targets=shape(1),
  )
  return lower_update(config, make_optimizer(optimizer, schedule), mesh, batch)


def slice_mesh(chips: int) -> Mesh:
  """All chips of a slice, which need not exist, on the axis `sequence`."""
  topology = topologies.get_topology_desc(
    platform='tpu', topology_name=SLICES[chips]
  )
  return make_mesh(1, devices=topology.devices, sequence=chips)


def _compiled(lowered: jax.stages.Lowered) -> dict[str, Any]:
  try:
    compiled = lowered.compile()
  except jax.errors.JaxRuntimeError as error:
    return {'failed': harness.explain(error)}
  memory = harness.memory(compiled)
  text = compiled.as_text() or ''
  return memory | {
    'collectives': count_collectives(text),
    'largest_collectives': largest_collectives(text),
  }


def count_collectives(program: str) -> dict[str, int]:
  """Collective operations in the text of a compiled program.

  Those that are begun and awaited count once; a loop counts once.

  >>> count_collectives('a = f32[] all-reduce(b)\\n c = all-reduce-start(d)')
  {'all-reduce': 2}
  """
  found = Counter(match.group(1) for match in _COLLECTIVE.finditer(program))
  return dict(sorted(found.items()))


def largest_collectives(program: str) -> dict[str, int]:
  """Bytes of the largest array that each kind of collective operation makes.

  >>> largest_collectives('a = (f32[2,3], bf16[4]) all-reduce(b, c)')
  {'all-reduce': 24}
  """
  found: dict[str, int] = {}
  for line in program.splitlines():
    if match := _COLLECTIVE.search(line):
      arrays = _ARRAY.findall(line[: match.start()])
      sizes = [_array_bytes(kind, shape) for kind, shape in arrays]
      name = match.group(1)
      found[name] = max([found.get(name, 0), *sizes])
  return dict(sorted(found.items()))


def _array_bytes(kind: str, shape: str) -> int:
  bits = int(re.sub(r'\D', '', kind) or 8)
  return math.prod(int(size) for size in shape.split(',') if size) * bits // 8


def lower_layer(mesh: Mesh, length: int) -> jax.stages.Lowered:
  """The gradient of one attention layer."""
  sizes = Sizes()

  def attend(problem: Problem, sizes: Sizes) -> Any:
    heads, tables, units = problem
    return global_local_attention(
      heads, units, sizes.pattern, tables, implementation='sequence'
    )

  shapes = problem_shapes(length, sizes, jnp.bfloat16)
  placed = jax.tree.map(lambda leaf: _spread(leaf, length, mesh), shapes)
  with jax.set_mesh(mesh):
    return jax.jit(gradient(attend, sizes)).lower(placed)


def lower_encoder(mesh: Mesh, length: int, layers: int) -> jax.stages.Lowered:
  """The gradient of the base encoder, every layer recomputed."""
  config = dataclasses.replace(
    ETCConfig(),
    layers=layers,
    implementation='sequence',
    scan_layers=True,
    remat_period=1,
    dtype=jnp.bfloat16,
    dropout=0.0,
  )
  encoder, num_globals = ETCEncoder(config), Sizes().globals
  ids: Any = jax.ShapeDtypeStruct((1, length), jnp.int32)
  global_ids: Any = jax.ShapeDtypeStruct((1, num_globals), jnp.int32)
  arguments = (ids, global_ids, UnitStructure(ids, ids, global_ids))
  params = jax.eval_shape(
    lambda *a: nn.unbox(encoder.init(jax.random.key(0), *a)), *arguments
  )

  def loss(params: Any, *arguments: Any) -> Any:
    streams: Any = encoder.apply(params, *arguments)
    return sum(stream.astype(jnp.float32).sum() for stream in streams)

  placed = jax.tree.map(
    lambda leaf: _spread(leaf, length, mesh), (params, *arguments)
  )
  return on_mesh(mesh, jax.jit(jax.grad(loss)).lower)(*placed)


def _spread(leaf: Any, length: int, mesh: Mesh) -> Any:
  """What has the length of the document lies on the axis `sequence`."""
  long = leaf.ndim > 1 and leaf.shape[1] == length
  spec = PartitionSpec(None, 'sequence') if long else PartitionSpec()
  return jax.ShapeDtypeStruct(
    leaf.shape, leaf.dtype, sharding=NamedSharding(mesh, spec)
  )
