"""Random documents in the schema of `stepwise.models.Batch`."""

import jax.numpy as jnp
import numpy as np

from stepwise.data import pad_batch
from stepwise.models import Batch

SPECIAL = ((10,), (11,))  # EOT and BEG, one reserved token each.


def random_record(rng, num_units, max_tokens=6, vocab=97, special=SPECIAL):
  """Units of 1..max_tokens random tokens, special units first."""
  units = list(special) + [
    rng.integers(20, vocab, rng.integers(1, max_tokens + 1))
    for _ in range(num_units)
  ]
  return {
    'tokens': np.concatenate(units).astype(np.int32),
    'unit_ids': np.repeat(np.arange(len(units)), [len(u) for u in units]),
  }


def make_batch(records, *, length=None, units=None, steps=4, batch=None):
  """Pads to the smallest sizes that fit, unless sizes are given."""
  longest = max(len(record['tokens']) for record in records)
  most = max(record['unit_ids'].max() + 1 for record in records)
  return Batch.of(
    pad_batch(
      records,
      length=length or longest,
      units=units or int(most),
      steps=steps,
      batch=batch or len(records),
    )
  )


def plans(*rows, steps=4):
  """Plans as rows of units, filled up with -1."""
  return jnp.array([list(row) + [-1] * (steps - len(row)) for row in rows])
