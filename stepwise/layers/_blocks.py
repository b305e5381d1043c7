"""Splits a sequence into blocks and lines windows up with blocks.

Block `t` holds the rows `t * block ... (t + 1) * block - 1`. Its queries read
`block + 2 * radius` keys, of which row `i` may use columns `i ... i + 2r`:

    block 3, radius 1:     1 1 1 0 0
                           0 1 1 1 0
                           0 0 1 1 1
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from stepwise._typing import Array, Bool, Int

# A TPU register holds 8 x 128 numbers: blocks whose windows fill whole lanes
# waste nothing.
_LANES, _SUBLANES = 128, 8


def default_block(radius: int, length: int) -> int:
  """A block at least as long as the radius, whose window fills whole lanes."""
  smallest = max(radius + 1, _SUBLANES)
  lanes = -(-(smallest + 2 * radius) // _LANES) * _LANES
  block = max((lanes - 2 * radius) // _SUBLANES * _SUBLANES, smallest)
  return min(block, length)


@dataclass(frozen=True)
class BlockGrid:
  """The static shape of a blocked sequence; the last block may be ragged."""

  length: int
  block: int
  radius: int

  @property
  def num_blocks(self) -> int:
    return -(-self.length // self.block)

  @property
  def index(self) -> Int[Array, ' blocks']:
    return jnp.arange(self.num_blocks)

  @property
  def window(self) -> int:
    return self.block + 2 * self.radius

  def split(self, array: Array) -> Array:
    """`[batch, length, ...]` to `[blocks, batch, block, ...]`."""
    batch, _, *rest = array.shape
    missing = self.num_blocks * self.block - self.length
    padded = jnp.pad(array, ((0, 0), (0, missing)) + ((0, 0),) * len(rest))
    blocks = padded.reshape(batch, self.num_blocks, self.block, *rest)
    return jnp.moveaxis(blocks, 1, 0)

  def join(self, blocks: Array) -> Array:
    """Undoes `split`."""
    _, batch, _, *rest = blocks.shape
    joined = jnp.moveaxis(blocks, 0, 1).reshape(batch, -1, *rest)
    return joined[:, : self.length]

  def pad(self, array: Array) -> Array:
    """Adds the keys that the windows of the first and last block overhang."""
    missing = self.num_blocks * self.block - self.length
    widths = ((0, 0), (self.radius, self.radius + missing))
    return jnp.pad(array, widths + ((0, 0),) * (array.ndim - 2))

  def window_of(self, padded: Array, index: Array) -> Array:
    """The `window` keys that block `index` reads, from a padded array."""
    return jax.lax.dynamic_slice_in_dim(
      padded, index * self.block, self.window, axis=1
    )

  def exists(self, index: Array) -> Bool[Array, ' block']:
    """Which rows of a block are of the sequence, not of the last padding."""
    return index * self.block + jnp.arange(self.block) < self.length

  def window_exists(self, index: Array) -> Bool[Array, ' window']:
    """Which keys of a block's window are of the sequence."""
    position = index * self.block - self.radius + jnp.arange(self.window)
    return (position >= 0) & (position < self.length)

  def band(self) -> Bool[np.ndarray, 'block window']:
    """Which keys of a window a row of the block may use."""
    offset = np.arange(self.window)[None, :] - np.arange(self.block)[:, None]
    return (offset >= 0) & (offset <= 2 * self.radius)


def skew(rows: Array) -> Array:
  """Shifts row `i` of `[..., rows, slots]` right by `i` columns.

  The result is `[..., rows, rows + slots - 1]`, zero where nothing was
  shifted to: window slots become columns of a block's window. A pad and a
  reshape, no gather:

      a b c        a b c 0 0
      d e f   ->   0 d e f 0
      g h i        0 0 g h i
  """
  *batch, num_rows, slots = rows.shape
  wide = jnp.pad(rows, ((0, 0),) * (rows.ndim - 1) + ((0, num_rows),))
  flat = wide.reshape(*batch, num_rows * (num_rows + slots))
  return flat[..., :-num_rows].reshape(*batch, num_rows, num_rows + slots - 1)


def expand_distances(scores: Array, radius: int, max_distance: int) -> Array:
  """Scores of distance labels `[..., labels]` to slots `[..., 2r + 1]`.

  Labels depend on the slot only, so this repeats columns instead of gathering:
  the farthest label fills every slot beyond `max_distance`.
  """
  near = min(radius, max_distance)
  left = scores[..., max_distance + 1 : max_distance + 1 + near][..., ::-1]
  right = scores[..., : near + 1]
  far = (*scores.shape[:-1], radius - near)
  far_left = jnp.broadcast_to(scores[..., 2 * max_distance, None], far)
  far_right = jnp.broadcast_to(scores[..., max_distance, None], far)
  return jnp.concatenate([far_left, left, right, far_right], axis=-1)
