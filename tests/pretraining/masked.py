"""A tiny bare encoder, and masked documents for it."""

import jax.numpy as jnp
import numpy as np

from stepwise.data import Masking, WordPieces, mask_record, pad_masked
from stepwise.data._records import Record
from stepwise.models import BareETCConfig, MaskedBatch
from tests.models.documents import random_record
from tests.models.tiny_models import CONFIGS

# Dense attention compiles in a fraction of the time.
CONFIG = BareETCConfig(
  CONFIGS['etcsum'].twin().with_settings(implementation='dense', dropout=0.0),
  hidden_token=14,
)
# Every fourth of the vocabulary continues a word.
WORDS = WordPieces(np.arange(97) % 4 > 0, np.arange(20, 97), mask=15)
MASKING = Masking(mask_rate=0.3, hide_rate=0.4, hidden_tokens=11)
LENGTH, UNITS = 29, 9


def documents(count, seed=0):
  rng = np.random.default_rng(seed)
  for _ in range(count):
    units = int(rng.integers(3, UNITS - 2))
    made = random_record(rng, units, max_tokens=4)
    yield Record(
      made['tokens'],
      made['unit_ids'].astype(np.int32),
      spans=((0, 0),) * (units + 2),
      special_units=('eot', 'beg'),
    )


def masked_batch(count, rows=None, seed=0) -> MaskedBatch:
  """Random documents, and empty rows after them."""
  sizes = MASKING.sizes(LENGTH, UNITS)
  rng = np.random.default_rng(seed)
  examples = [
    mask_record(document, WORDS, MASKING, sizes, rng)
    for document in documents(count, seed)
  ]
  arrays = pad_masked(
    examples, length=LENGTH, units=UNITS, sizes=sizes, batch=rows or count
  )
  return MaskedBatch(**{k: jnp.asarray(v) for k, v in arrays.items()})
