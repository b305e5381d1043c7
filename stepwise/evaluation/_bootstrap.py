"""Bootstrap intervals of means over documents (Efron & Tibshirani, 1993)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from stepwise._errors import InputError

# What ROUGE-1.5.5 does with `-c 95`: 1000 samples, percentiles.
SAMPLES = 1000
LEVEL = 0.95
# Documents drawn at a time: bounds the memory, whatever the data's size.
_DRAWS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Interval:
  """A mean and the percentile interval of its bootstrap distribution."""

  mean: float
  low: float
  high: float

  @property
  def excludes_zero(self) -> bool:
    return self.low > 0 or self.high < 0


def bootstrap_interval(
  values: Float[np.ndarray, ' documents'], *, seed: int = 0
) -> Interval:
  """The mean of a score over documents with its 95 % interval."""
  return bootstrap_intervals(values[:, None], seed=seed)[0]


def paired_difference(
  first: Float[np.ndarray, ' documents'],
  second: Float[np.ndarray, ' documents'],
  *,
  seed: int = 0,
) -> Interval:
  """Mean of `first - second`; both systems are resampled together."""
  return bootstrap_interval(first - second, seed=seed)


def bootstrap_intervals(
  values: Float[np.ndarray, 'documents columns'], *, seed: int = 0
) -> list[Interval]:
  """One interval per column; all columns see the same resampled documents."""
  if not len(values):
    raise InputError('There are 0 documents but a mean needs at least 1.')
  tail = 50 * (1 - LEVEL)
  means = resampled_means(values, samples=SAMPLES, seed=seed)
  low, high = np.percentile(means, [tail, 100 - tail], axis=0)
  return [
    Interval(*map(float, bounds))
    for bounds in zip(values.mean(0), low, high, strict=True)
  ]


def resampled_means(
  values: Float[np.ndarray, 'documents columns'], *, samples: int, seed: int
) -> Float[np.ndarray, 'samples columns']:
  """Means of `samples` draws of as many documents, with replacement.

  A draw is how often each document was taken: means are one matrix product.
  """
  generator = np.random.default_rng(seed)
  documents = len(values)
  block = max(1, _DRAWS_AT_ONCE // documents)
  means = []
  for start in range(0, samples, block):
    rows = min(block, samples - start)
    drawn = generator.integers(documents, size=(rows, documents))
    cells = (drawn + documents * np.arange(rows)[:, None]).ravel()
    counts = np.bincount(cells, minlength=rows * documents)
    means.append(counts.reshape(rows, documents) @ values / documents)
  return np.concatenate(means)
