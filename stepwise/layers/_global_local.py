"""Global-local attention (Ainslie et al. 2020) as a pure function."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from stepwise._errors import InputError
from stepwise._typing import Array, Float
from stepwise.layers._blocked import blocked_attention
from stepwise.layers._blocks import default_block
from stepwise.layers._dense import dense_attention
from stepwise.layers._heads import AttentionHeads, RelativeTables
from stepwise.layers._positions import num_labels
from stepwise.layers._products import DotGeneral
from stepwise.layers._sequence import sequence_attention
from stepwise.layers._softmax import Dropout
from stepwise.layers._structure import (
  AttentionPattern,
  PairStructure,
  Structure,
  UnitStructure,
  pair_structure,
)

IMPLEMENTATIONS = ('dense', 'blocked', 'pallas', 'sequence', 'auto')
_LOGGER = logging.getLogger('stepwise')


def global_local_attention(
  heads: AttentionHeads,
  structure: Structure,
  pattern: AttentionPattern = AttentionPattern(),
  tables: RelativeTables = RelativeTables(),
  *,
  implementation: str = 'blocked',
  block: int | None = None,
  dropout: Dropout = Dropout(),
  dot_general: DotGeneral = jax.lax.dot_general,
) -> tuple[
  Float[Array, 'batch length heads dim'],
  Float[Array, 'batch globals heads dim'],
]:
  """Attends among long and global tokens.

  Long tokens read a window of neighbours and all global tokens under one
  softmax; global tokens read all global and all long tokens under another.
  There may be no global tokens: then long tokens read their windows only.
  The score of query q against key k with label m is

    (q . k  +  q . E[m]  +  b[m]) / sqrt(dim)

  Scores and softmax are float32 or wider. A row with no allowed key gives
  zeros and finite gradients.

  Args:
    heads: queries, keys and values of the four parts.
    structure: who may read whom under which label, from unit and example ids
      (`UnitStructure`, O(n)) or pair by pair (`PairStructure`). Values are
      checked when they are concrete, and cannot be inside jit.
    pattern: window radius, clipping distance and hard masks. With a
      `PairStructure` only the radius counts.
    tables: relative vectors and biases; without them the terms vanish.
    implementation: `'dense'` builds the full score matrix and is the
      reference; `'blocked'` loops over blocks of long tokens, recomputes them
      in the backward pass and needs O(length) memory; `'pallas'` is a kernel
      for one TPU chip (v4 and later) that stores nothing between the passes,
      takes a `UnitStructure` and runs interpreted, slowly, elsewhere;
      `'sequence'` is `'blocked'` with the long axis spread over the axis
      `sequence` of the mesh that is set. All give the same numbers; dropout
      draws differ. `'auto'` is `'sequence'` where such an axis is set,
      `'pallas'` on a machine with one TPU chip that compiles it, else
      `'blocked'`, and logs which (`logging.getLogger('stepwise')`).
    block: long tokens per iteration of `'blocked'`; None = chosen to fill the
      lanes of an accelerator.
    dropout: dropout of probabilities.
    dot_general: the product, wherever arrays are multiplied.

  Returns:
    Outputs of the long and of the global queries.

  >>> x, y = jnp.ones((1, 6, 2, 4)), jnp.ones((1, 2, 2, 4))
  >>> heads = AttentionHeads.shared((x, x, x), (y, y, y))
  >>> ones = jnp.ones((1, 6), int)
  >>> units = UnitStructure(jnp.array([[0, 0, 0, 1, 1, 1]]), ones, ones[:, :2])
  >>> pattern = AttentionPattern(radius=2)
  >>> long, glob = global_local_attention(heads, units, pattern)
  >>> long.shape, glob.shape
  ((1, 6, 2, 4), (1, 2, 2, 4))

  Over the devices of a mesh, here one:

  >>> from stepwise.layers import make_mesh
  >>> with jax.set_mesh(make_mesh(1, sequence=1)):
  ...   spread, _ = global_local_attention(
  ...     heads, units, pattern, implementation='sequence'
  ...   )
  >>> bool(jnp.allclose(spread, long))
  True
  """
  _check_heads(heads)
  _check_tables(structure, pattern, tables)
  if isinstance(structure, UnitStructure):
    _check_units(heads, structure)
  else:
    structure = _complete(heads, structure, pattern.radius, tables)
  if implementation == 'auto':
    implementation = choose_implementation(structure)
    _LOGGER.info('global-local attention is %r', implementation)
  if implementation == 'dense':
    if isinstance(structure, UnitStructure):
      structure = pair_structure(structure, pattern)
    return dense_attention(
      heads, structure, pattern.radius, tables, dropout, dot_general
    )
  if implementation == 'blocked':
    length = heads.long_query.shape[1]
    block = default_block(pattern.radius, length) if block is None else block
    if block < 1:
      raise InputError(f'block is {block}, must be at least 1.')
    return blocked_attention(
      heads, structure, pattern, tables, block, dropout, dot_general
    )
  if implementation in ('pallas', 'sequence'):
    if isinstance(structure, PairStructure):
      raise InputError(
        f'implementation {implementation!r} takes a UnitStructure; masks of'
        " every pair, a PairStructure, are read by 'blocked' and 'dense'."
      )
    if implementation == 'pallas':
      # Kernels are imported by those who use them: a tenth of the start of a
      # program on a machine without a TPU.
      from stepwise.layers._pallas import pallas_attention

      return pallas_attention(heads, structure, pattern, tables, dropout)
    return sequence_attention(
      heads, structure, pattern, tables, block, dropout, dot_general
    )
  raise InputError(
    f'implementation is {implementation!r}, must be one of {IMPLEMENTATIONS}.'
  )


def choose_implementation(structure: Structure) -> str:
  """What `'auto'` stands for here and now."""
  if isinstance(structure, PairStructure):
    return 'blocked'
  if jax.sharding.get_abstract_mesh().shape.get('sequence', 1) > 1:
    return 'sequence'
  chips = jax.devices()
  kernels = len(chips) == 1 and chips[0].platform == 'tpu'
  old = any(name in chips[0].device_kind for name in ('v2', 'v3'))
  return 'pallas' if kernels and not old else 'blocked'


def _check_heads(heads: AttentionHeads) -> None:
  batch, _, num_heads, dim = _rank4('long_query', heads.long_query)
  length, num_globals = heads.long_query.shape[1], heads.global_query.shape[1]
  for name, array in heads._asdict().items():
    is_long = name in (
      'long_query',
      'l2l_key',
      'l2l_value',
      'g2l_key',
      'g2l_value',
    )
    needed = (batch, length if is_long else num_globals, num_heads, dim)
    if _rank4(name, array) != needed:
      raise InputError(f'{name} has shape {array.shape}, must be {needed}.')


def _rank4(name: str, array: Array) -> tuple[int, ...]:
  if array.ndim != 4:
    raise InputError(
      f'{name} has rank {array.ndim} and shape {array.shape}, must have rank 4'
      ' [batch, tokens, heads, dim].'
    )
  return array.shape


def _check_tables(
  structure: Structure, pattern: AttentionPattern, tables: RelativeTables
) -> None:
  if isinstance(structure, PairStructure):
    return
  needed = num_labels(pattern.max_distance)
  for name, table in tables._asdict().items():
    if table is not None and len(table.bias) < needed:
      raise InputError(
        f'{name} table has {len(table.bias)} labels, max_distance'
        f' {pattern.max_distance} needs at least {needed}.'
      )


def _check_units(heads: AttentionHeads, units: UnitStructure) -> None:
  batch, length = heads.long_query.shape[:2]
  num_globals = heads.global_query.shape[1]
  shapes = {
    'unit_ids': (batch, length),
    'long_examples': (batch, length),
    'global_examples': (batch, num_globals),
    'parent_ids': (batch, length),
    'window_ids': (batch, length),
  }
  _check_shapes(units, shapes)
  for name in ('unit_ids', 'parent_ids'):
    largest = _concrete_extreme(getattr(units, name), np.max)
    if largest is not None and largest >= num_globals:
      raise InputError(
        f'{name} names unit {largest}, but there are {num_globals} global'
        ' tokens: give more global tokens, or -1 to units without one.'
      )


def _complete(
  heads: AttentionHeads,
  pairs: PairStructure,
  radius: int,
  tables: RelativeTables,
) -> PairStructure:
  """Checks a pair structure and fills in its missing masks."""
  batch, length = heads.long_query.shape[:2]
  num_globals = heads.global_query.shape[1]
  shapes = {
    'l2l': (batch, length, 2 * radius + 1),
    'l2g': (batch, length, num_globals),
    'g2g': (batch, num_globals, num_globals),
    'g2l': (batch, num_globals, length),
  }
  masks = {f'{part}_mask': shape for part, shape in shapes.items()}
  labels = {f'{part}_labels': shape for part, shape in shapes.items()}
  _check_shapes(pairs, masks | labels)
  for first, second, table in (
    ('l2l_labels', 'l2g_labels', tables.long_rows),
    ('g2g_labels', 'g2l_labels', tables.global_rows),
  ):
    given = [
      name for name in (first, second) if getattr(pairs, name) is not None
    ]
    if len(given) == 1:
      raise InputError(
        f'only {given[0]} is given, must be both or neither of {first} and'
        f' {second}: they share one softmax.'
      )
    if table is not None:
      _check_labels(pairs, given, len(table.bias))
  missing = {
    name: jnp.ones(shape, bool)
    for name, shape in masks.items()
    if getattr(pairs, name) is None
  }
  return pairs._replace(**missing)


def _check_labels(
  pairs: PairStructure, names: Sequence[str], num_rows: int
) -> None:
  for name in names:
    for extreme in (np.min, np.max):
      label = _concrete_extreme(getattr(pairs, name), extreme)
      if label is not None and not 0 <= label < num_rows:
        raise InputError(
          f'{name} holds label {label}, must lie in 0..{num_rows - 1}.'
        )


def _check_shapes(
  structure: Structure, shapes: dict[str, tuple[int, ...]]
) -> None:
  for name, needed in shapes.items():
    array = getattr(structure, name)
    if array is not None and array.shape != needed:
      raise InputError(f'{name} has shape {array.shape}, must be {needed}.')


def _concrete_extreme(
  array: Array | None, extreme: Callable[[np.ndarray], Any]
) -> int | None:
  """The smallest or largest value, or None if it cannot be known yet."""
  if array is None or array.size == 0 or isinstance(array, Tracer):
    return None
  return int(extreme(np.asarray(array)))
