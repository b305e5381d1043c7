"""Places of units in a table of positions that may have fewer rows than units.

A place is a real number; between two rows it is read as their weighted mean.
The first half of the rows is kept for the first units, whatever follows them,
as the beginning of a text is what positions tell most about. If there are more
units than rows, all others share the other half evenly:

  rows 0 1 2 3 4 5, eleven units at  0  1  2  3  3.29  3.57 ... 4.71  5
                                     kept     spread
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from stepwise._typing import Array, Bool, Float
from stepwise.layers._modules import Embedding


class Excerpts(NamedTuple):
  """What documents are pretended to be parts of: each of a longer one.

  Attributes:
    counts: units of the longer document.
    skipped: how many of its units are left out where the kept rows end.
  """

  counts: Float[Array, ' batch']
  skipped: Float[Array, ' batch']


def count_units(mask: Bool[Array, 'batch slots']) -> Float[Array, ' batch']:
  """Units up to the last real one: padding behind it is none."""
  ends = jnp.arange(1, mask.shape[1] + 1)[None]
  return jnp.where(mask, ends, 0).max(axis=1, initial=0).astype(jnp.float32)


def spread_places(
  counts: Float[Array, ' batch'],
  slots: int,
  rows: int,
  skipped: Float[Array, ' batch'] | None = None,
) -> Float[Array, 'batch slots']:
  """The place of every slot of documents of so many units.

    place(i) = i                                                     if i < kept
    place(i) = kept + (i + skipped - kept) (rows - 1 - kept) / (max(count, rows)
               - 1 - kept)                                             otherwise

  with kept = rows // 2. A document with no more units than rows has the places
  0, 1, 2, ... if it skips none. Those of padding are at the last row at most.

  Args:
    counts: real units of every document; how many slots there are has no
      influence, so that a document has the same places in every batch.
    slots: units and padding.
    rows: of the table.
    skipped: see `Excerpts`; None = nothing is.
  """
  index = jnp.arange(slots, dtype=jnp.float32)[None]
  kept = rows // 2
  # Exactly 1 where units fit, however a device divides.
  squeezed = (rows - 1 - kept) / jnp.maximum(counts - 1 - kept, 1)
  spread = jnp.where(counts > rows, squeezed, 1.0)
  past = index - kept
  if skipped is not None:
    past = past + skipped[:, None]
  places = jnp.where(index < kept, index, kept + past * spread[:, None])
  return jnp.minimum(places, rows - 1)


def draw_excerpts(
  rng: Array, counts: Float[Array, ' batch'], rows: int, reach: int
) -> Excerpts:
  """Pretends that every other document is a part of a longer one.

  How long that is, is drawn evenly by its logarithm, up to `reach`; where in it
  the units that are not kept stand, evenly. So a table learns to be read
  between its rows, and as far as its last one, from documents that fit it.
  """
  coin, length, place = jax.random.uniform(rng, (3, *counts.shape))
  least = jnp.maximum(counts, rows)
  longer = least * (jnp.maximum(reach, least) / least) ** length
  pretended = jnp.where(coin < 0.5, longer, counts)
  # A document without any unit beyond the kept ones has nothing to move.
  room = jnp.maximum(pretended, rows) - jnp.maximum(counts, rows // 2)
  skipped = jnp.where(coin < 0.5, place * room, 0.0)
  return Excerpts(pretended, skipped)


def read_between(
  table: Embedding, places: Float[Array, 'batch slots']
) -> Float[Array, 'batch slots embed']:
  """Rows of a table at real places, linear between two neighbours."""
  low = jnp.floor(places)
  row = low.astype(jnp.int32)
  before, after = table(row), table(jnp.minimum(row + 1, table.rows - 1))
  share = (places - low).astype(before.dtype)[..., None]
  return before * (1 - share) + after * share
