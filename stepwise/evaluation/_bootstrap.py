"""Bootstrap intervals of means over documents (Efron & Tibshirani, 1993).

They are those of the script ROUGE-1.5.5 with `-c 95`, draw by draw, for scores
in the order in which it sorts its evaluations, by their ids as strings.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from stepwise._errors import InputError

SAMPLES = 1000
LEVEL = 0.95
# Documents drawn at a time: bounds the memory, whatever the data's size.
_DRAWS_AT_ONCE = 2_000_000
# Perl's generator, drand48: states are 48 bits wide.
_MULTIPLIER, _INCREMENT, _BITS = 0x5DEECE66D, 0xB, 48


@dataclass(frozen=True)
class Interval:
  """A mean and the percentile interval of its bootstrap distribution.

  `resampled` is the mean of that distribution, which the script prints as its
  average; it differs from the mean by chance alone.
  """

  mean: float
  low: float
  high: float
  resampled: float

  @property
  def excludes_zero(self) -> bool:
    return self.low > 0 or self.high < 0


def bootstrap_interval(
  values: Float[np.ndarray, ' documents'], *, seed: int = 0
) -> Interval:
  """The mean of a score over documents with its 95 % interval.

  Of the difference of two systems' scores it is their paired interval.
  """
  return bootstrap_intervals(values[:, None], seed=seed)[0]


def bootstrap_intervals(
  values: Float[np.ndarray, 'documents columns'], *, seed: int = 0
) -> list[Interval]:
  """One interval per column; all columns see the same resampled documents.

  Seed 0 draws what the script draws.
  """
  if not len(values):
    raise InputError('There are 0 documents but a mean needs at least 1.')
  means = np.sort(resampled_means(values, samples=SAMPLES, seed=seed), axis=0)
  tail = round(SAMPLES * (1 - LEVEL) / 2)
  columns = (values.mean(0), means[tail], means[-1 - tail], means.mean(0))
  return [Interval(*map(float, row)) for row in zip(*columns, strict=True)]


def resampled_means(
  values: Float[np.ndarray, 'documents columns'], *, samples: int, seed: int
) -> Float[np.ndarray, 'samples columns']:
  """Means of `samples` draws of as many documents, with replacement.

  A draw is how often each document was taken: means are one matrix product.
  """
  documents = len(values)
  block = max(1, _DRAWS_AT_ONCE // documents)
  first = seed * samples
  means = []
  for start in range(first, first + samples, block):
    seeds = np.arange(start, min(start + block, first + samples))
    drawn = _draw(seeds, documents)
    cells = (drawn + documents * np.arange(len(seeds))[:, None]).ravel()
    counts = np.bincount(cells, minlength=len(seeds) * documents)
    means.append(counts.reshape(len(seeds), documents) @ values / documents)
  return np.concatenate(means)


def _draw(
  seeds: Int[np.ndarray, ' samples'], documents: int
) -> Int[np.ndarray, 'samples documents']:
  """Perl's `int(rand(documents))`, as many times, after each `srand(seed)`.

  After n steps a state x is a_n x + c_n, so all draws are made at once. Sums
  and products of unsigned integers wrap at a multiple of 2**48.
  """
  factor, constant, powers = 1, 0, []
  for _ in range(documents):
    factor = factor * _MULTIPLIER % 2**_BITS
    constant = (constant * _MULTIPLIER + _INCREMENT) % 2**_BITS
    powers.append((factor, constant))
  factors, constants = np.array(powers, np.uint64).T
  states = (seeds.astype(np.uint64)[:, None] << 16) + 0x330E
  states = (states * factors[None] + constants[None]) % 2**_BITS
  return (states / 2**_BITS * documents).astype(np.int64)
