"""Weights in eight bits: large matrices as int8 with float32 scales.

A matrix is cut into rows, or into columns, and every one of them is stored as
the integers -127 to 127 times a scale of its own, so no value is off by more
than half a scale, 1/254 of the largest value beside it. The scales of `name`
are stored as `name#scale`, with axes of length one where they are shared.
"""

import math
from collections.abc import Mapping

import numpy as np

from stepwise._errors import InputError
from stepwise.checkpoints._matching import Weights

SCALE = '#scale'
_LARGEST = 127
# Smaller arrays (norms, biases, heads of one output) matter more than they
# weigh; and scales must be few beside what they scale.
_LEAST_SIZE = 4096
_VALUES_PER_SCALE = 64


def quantise(weights: Mapping[str, np.ndarray]) -> Weights:
  """Large matrices as int8 and their scales, the rest as it is."""
  stored: Weights = {}
  for name, array in weights.items():
    axes = _shared_axes(array.shape)
    if array.size < _LEAST_SIZE or not axes:
      stored[name] = array
      continue
    stored[name], stored[f'{name}{SCALE}'] = _best(name, array, axes)
  return stored


def dequantise(where: str, stored: Mapping[str, np.ndarray]) -> Weights:
  """What `quantise` was given, as float32 where it was rounded."""
  weights: Weights = {}
  for name, array in stored.items():
    if name.endswith(SCALE):
      continue
    scale = stored.get(f'{name}{SCALE}')
    if (array.dtype == np.int8) != (scale is not None):
      raise InputError(f'{where}: {name} and {name}{SCALE} do not belong.')
    if scale is None:
      weights[name] = array
    else:
      weights[name] = array.astype(np.float32) * _fitting(
        f'{where}: {name}', array, scale
      )
  return weights


def _shared_axes(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
  """Ways to share scales: the axes along which values have the same one.

  A row is what one token, or one input, contributes; a column is what makes
  one output. Heads split the columns of projections into them, and the rows
  of those out of them, into two axes: a kernel `[embed, heads, dim]` has its
  columns beyond its first axis, one `[heads, dim, embed]` in its last.
  """
  if len(shape) < 2:
    return []
  axes = range(len(shape))
  ways = {tuple(axes[1:]), tuple(axes[:-1]), (0,)}
  return [
    way
    for way in sorted(ways)
    if math.prod(shape[axis] for axis in way) >= _VALUES_PER_SCALE
  ]


def _best(
  name: str, array: np.ndarray, ways: list[tuple[int, ...]]
) -> tuple[np.ndarray, np.ndarray]:
  """Rows or columns, whichever lose less.

  Tables of embeddings turn out as rows: frequent tokens have short vectors.
  """
  if not np.isfinite(array).all():
    raise InputError(f'values of {name} are not finite.')
  best, least = None, np.inf
  for axes in ways:
    scale = np.abs(array).max(axis=axes, keepdims=True) / _LARGEST
    scale = np.where(scale > 0, scale, 1).astype(np.float32)
    rounded = np.rint(array / scale).clip(-_LARGEST, _LARGEST)
    error = float(np.square(rounded * scale - array, dtype=np.float64).sum())
    if error < least:
      best, least = (rounded.astype(np.int8), scale), error
  assert best is not None, 'errors are finite'
  return best


def _fitting(where: str, array: np.ndarray, scale: np.ndarray) -> np.ndarray:
  fits = scale.ndim == array.ndim and all(
    size in (1, full)
    for size, full in zip(scale.shape, array.shape, strict=True)
  )
  if not fits:
    raise InputError(
      f'{where} is {list(array.shape)}, which scales of {list(scale.shape)} do '
      'not fit.'
    )
  return scale.astype(np.float32)
