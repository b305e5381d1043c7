"""Relative-position labels: clipped distances, and membership in a unit.

A label is a small integer that names the relation of a query to a key. With
clipping distance `k` there are `2k + 1` distance labels (0 = self, 1..k = keys
to the right, k+1..2k = keys to the left) and three more between long and
global tokens, so a table needs at least `num_labels(k)` rows.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from stepwise._typing import Array


def num_labels(max_distance: int) -> int:
  """Rows a relative table needs: distances, member, not member, reserved."""
  return 2 * max_distance + 1 + 3


def outside_label(max_distance: int) -> int:
  """Label of a long-global pair where the token is not of that unit."""
  return 2 * max_distance + 1


def member_label(max_distance: int) -> int:
  """Label of a long-global pair where the token is of that unit."""
  return 2 * max_distance + 2


def distance_labels(
  delta: Int[np.ndarray, '*shape'], max_distance: int, directed: bool = True
) -> Int[np.ndarray, '*shape']:
  """Labels of clipped distances `delta = key index - query index`.

  >>> distance_labels(np.arange(-5, 6), 3).tolist()
  [6, 6, 6, 5, 4, 0, 1, 2, 3, 3, 3]
  """
  clipped = np.minimum(np.abs(delta), max_distance)
  if not directed:
    return clipped
  return np.where(delta < 0, max_distance + clipped, clipped)


def window_labels(
  radius: int, max_distance: int, directed: bool = True
) -> Int[np.ndarray, ' window']:
  """Labels of the `2 * radius + 1` slots of a window: the same for all rows."""
  delta = np.arange(-radius, radius + 1)
  return distance_labels(delta, max_distance, directed)


def full_labels(
  length: int, max_distance: int, directed: bool = True
) -> Int[np.ndarray, 'length length']:
  """Labels of all pairs of a sequence of `length` tokens."""
  index = np.arange(length)
  delta = index[None, :] - index[:, None]
  return distance_labels(delta, max_distance, directed)


def example_ids_from_breakpoints(
  breakpoints: Int[Array, 'batch length'],
) -> Int[Array, 'batch length']:
  """Example ids of packed documents from a 1 at the last token of each.

  The id is the reversed cumulative sum, so trailing padding has id 0.
  """
  return breakpoints[:, ::-1].cumsum(axis=1)[:, ::-1]


def separate_segments(
  labels: Int[Array, 'batch tokens tokens'],
  segment_ids: Int[Array, 'batch tokens'],
  label: int,
) -> Int[Array, 'batch tokens tokens']:
  """Overwrites labels between different segments, so that these are unordered.

  ETC's reserved label for this is `member_label(max_distance) + 1`.
  """
  same = segment_ids[:, :, None] == segment_ids[:, None, :]
  return jnp.where(same, labels, label)
