"""Drawn problems of global-local attention."""

import jax
import jax.numpy as jnp
import numpy as np

from stepwise.layers import (
  AttentionHeads,
  RelativeTable,
  RelativeTables,
  UnitStructure,
  global_local_attention,
  num_labels,
)

LONG = ('long_query', 'l2l_key', 'l2l_value', 'g2l_key', 'g2l_value')


def draw_problem(
  sizes, pattern, seed=0, *, parents=True, windows=True, labelled=True
):
  """Heads, structure and tables; ids in no order but that of examples."""
  rng = np.random.default_rng(seed)
  batch, length, num_globals, heads, dim = sizes

  def normal(*shape):
    return jnp.asarray(rng.normal(size=shape), jnp.float32)

  def table():
    labels = num_labels(pattern.max_distance) + 1
    return RelativeTable(normal(labels, heads, dim), normal(labels, heads))

  def groups(count, tokens):
    return jnp.asarray(np.sort(rng.integers(0, count, (batch, tokens))))

  def owners():
    return jnp.asarray(rng.integers(-1, num_globals, (batch, length)))

  arrays = [
    normal(batch, length if slot in LONG else num_globals, heads, dim)
    for slot in AttentionHeads._fields
  ]
  units = UnitStructure(
    owners(),
    groups(2, length),
    groups(2, num_globals),
    owners() if parents else None,
    groups(3, length) if windows else None,
  )
  tables = RelativeTables(table(), table()) if labelled else RelativeTables()
  return AttentionHeads(*arrays), units, tables


def gradients_of(implementation, heads, units, pattern, tables):
  """Gradients of a fixed random projection of the outputs, and these."""

  def loss(heads, tables):
    out = global_local_attention(
      heads, units, pattern, tables, implementation=implementation
    )
    rng = np.random.default_rng(7)
    return sum((x * rng.normal(size=x.shape)).sum() for x in out), out

  return jax.jit(jax.grad(loss, (0, 1), has_aux=True))(heads, tables)
