"""What may attend to what, and under which label.

`UnitStructure` is O(n): everything follows from which unit and which example a
token belongs to. `PairStructure` spells every pair out, for arbitrary masks
and labels. `pair_structure` turns the first into the second; the blocked
attention never does.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Int
from stepwise.layers._positions import (
  full_labels,
  member_label,
  outside_label,
  window_labels,
)


@dataclass(frozen=True)
class AttentionPattern:
  """The static part of global-local attention.

  Attributes:
    radius: long tokens read `radius` neighbours on either side.
    max_distance: distances are clipped here before they are labelled.
    hard_g2l: a global token reads only long tokens of its own unit.
    hard_l2g: a long token reads only the global tokens of its own unit.
  """

  radius: int = 84
  max_distance: int = 12
  hard_g2l: bool = False
  hard_l2g: bool = False

  def __post_init__(self) -> None:
    if self.radius < 1:
      raise InputError(f'radius is {self.radius}, must be at least 1.')
    if self.max_distance < 0:
      raise InputError(
        f'max_distance is {self.max_distance}, must be at least 0.'
      )


class UnitStructure(NamedTuple):
  """Which unit and which example every token belongs to.

  A pair may attend if the example ids are equal. An unpacked batch uses 1 for
  real tokens and 0 for padding; packed documents have one id each.

  Attributes:
    unit_ids: index of the global token standing for a long token's unit; -1
      (or any index outside the globals) = none.
    long_examples: example id of every long token.
    global_examples: example id of every global token.
    parent_ids: a second owner of every long token, such as its paragraph or
      segment; None = no token has one.
    window_ids: long tokens of different ids are out of each other's local
      reach, as if far apart; None = only the distance counts.
  """

  unit_ids: Int[Array, 'batch length']
  long_examples: Int[Array, 'batch length']
  global_examples: Int[Array, 'batch globals']
  parent_ids: Int[Array, 'batch length'] | None = None
  window_ids: Int[Array, 'batch length'] | None = None

  @classmethod
  def local(cls, long_examples: Int[Array, 'batch length']) -> 'UnitStructure':
    """Long tokens without units: there are no global tokens."""
    return cls(
      jnp.full_like(long_examples, -1), long_examples, long_examples[:, :0]
    )


class PairStructure(NamedTuple):
  """Masks and labels of every pair; None masks allow everything.

  Slot `w` of row `i` of the l2l arrays speaks of key `i - radius + w`. Labels
  are given for both parts of a softmax (l2l and l2g, g2g and g2l) or neither;
  without them the relative terms vanish.
  """

  l2l_mask: Bool[Array, 'batch length window'] | None = None
  l2g_mask: Bool[Array, 'batch length globals'] | None = None
  g2g_mask: Bool[Array, 'batch globals globals'] | None = None
  g2l_mask: Bool[Array, 'batch globals length'] | None = None
  l2l_labels: Int[Array, 'batch length window'] | None = None
  l2g_labels: Int[Array, 'batch length globals'] | None = None
  g2g_labels: Int[Array, 'batch globals globals'] | None = None
  g2l_labels: Int[Array, 'batch globals length'] | None = None


Structure = UnitStructure | PairStructure


def membership(
  unit_ids: Int[Array, 'batch length'],
  parent_ids: Int[Array, 'batch length'] | None,
  num_globals: int,
) -> Bool[Array, 'batch length globals']:
  """Whether a long token is of a global token's unit (or parent)."""
  index = jnp.arange(num_globals)[None, None, :]
  member = unit_ids[:, :, None] == index
  if parent_ids is None:
    return member
  return member | (parent_ids[:, :, None] == index)


def same_example(
  queries: Int[Array, 'batch q'], keys: Int[Array, 'batch kv']
) -> Bool[Array, 'batch q kv']:
  return queries[:, :, None] == keys[:, None, :]


def pair_structure(
  units: UnitStructure, pattern: AttentionPattern
) -> PairStructure:
  """Spells out every pair of a unit structure."""
  unit_ids, long_ids, global_ids, parent_ids, window_ids = units
  batch, length = unit_ids.shape
  num_globals = global_ids.shape[1]
  member = membership(unit_ids, parent_ids, num_globals)
  labels = jnp.where(
    member,
    member_label(pattern.max_distance),
    outside_label(pattern.max_distance),
  )
  l2g_mask = same_example(long_ids, global_ids)
  g2l_mask = same_example(global_ids, long_ids)
  window = jnp.asarray(window_labels(pattern.radius, pattern.max_distance))
  distances = jnp.asarray(full_labels(num_globals, pattern.max_distance))
  member_t = member.transpose(0, 2, 1)
  l2l_mask = _window_mask(long_ids, pattern.radius)
  if window_ids is not None:
    l2l_mask &= _window_mask(window_ids, pattern.radius)
  return PairStructure(
    l2l_mask=l2l_mask,
    l2g_mask=l2g_mask & member if pattern.hard_l2g else l2g_mask,
    g2g_mask=same_example(global_ids, global_ids),
    g2l_mask=g2l_mask & member_t if pattern.hard_g2l else g2l_mask,
    l2l_labels=jnp.broadcast_to(window, (batch, length, window.size)),
    l2g_labels=labels,
    g2g_labels=jnp.broadcast_to(distances, (batch, *distances.shape)),
    g2l_labels=labels.transpose(0, 2, 1),
  )


def _window_mask(
  ids: Int[Array, 'batch length'], radius: int
) -> Bool[Array, 'batch length window']:
  """Keys of a window that exist and have the query's id."""
  length = ids.shape[1]
  keys = jnp.arange(length)[:, None] + jnp.arange(-radius, radius + 1)[None, :]
  inside = (keys >= 0) & (keys < length)
  neighbours = ids[:, jnp.clip(keys, 0, length - 1)]
  return inside[None] & (neighbours == ids[:, :, None])


def fixed_units(
  mask: Bool[Array, 'batch length'], unit_length: int
) -> UnitStructure:
  """One global token for every `unit_length` long tokens, without sentences.

  >>> fixed_units(jnp.array([[True, True, True, False]]), 2).unit_ids
  Array([[0, 0, 1, 1]], dtype=int32)
  """
  batch, length = mask.shape
  num_units = -(-length // unit_length)
  missing = num_units * unit_length - length
  grouped = jnp.pad(mask, ((0, 0), (0, missing))).reshape(
    batch, num_units, unit_length
  )
  unit_ids = jnp.broadcast_to(jnp.arange(length) // unit_length, mask.shape)
  return UnitStructure(
    unit_ids, mask.astype(jnp.int32), grouped.any(axis=-1).astype(jnp.int32)
  )
