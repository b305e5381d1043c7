"""Drawings come from the structures that attention uses."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.layers import (
  AttentionPattern,
  UnitStructure,
  pattern_kinds,
  plot_pattern,
)

LENGTH, GLOBALS = 7, 3
UNITS = UnitStructure(
  jnp.array([[0, 0, 0, 1, 1, 2, -1]]),
  jnp.array([[1] * 6 + [0]]),
  jnp.array([[1, 1, 1]]),
)


def test_a_pair_is_drawn_as_the_masks_say():
  kinds = pattern_kinds(UNITS, AttentionPattern(radius=2, hard_g2l=True))
  long = kinds[GLOBALS:, GLOBALS:]
  distance = np.abs(np.subtract.outer(np.arange(LENGTH), np.arange(LENGTH)))
  real = np.arange(LENGTH) < 6
  same = np.equal.outer(real, real)
  assert np.array_equal(long == 1, (distance <= 2) & same)
  # A hard global token reads its own unit; long tokens read all of them.
  assert np.array_equal(kinds[1, GLOBALS:], [0, 0, 0, 2, 2, 0, 0])
  assert np.array_equal(kinds[GLOBALS + 3, :GLOBALS], [3, 2, 3])


def test_the_figure_shows_these_kinds():
  pattern = AttentionPattern(radius=1)
  (axes,) = plot_pattern(UNITS, pattern).axes
  (image,) = axes.images
  assert np.array_equal(image.get_array(), pattern_kinds(UNITS, pattern))


def test_a_missing_library_is_named(monkeypatch):
  monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
  with pytest.raises(InputError, match=r"pip install 'stepwise\[plots\]'"):
    plot_pattern(UNITS, AttentionPattern())
