"""Drawings of who attends to whom; matplotlib is needed only here."""

from typing import Any

import numpy as np

from stepwise._extras import needs
from stepwise.layers._positions import member_label
from stepwise.layers._structure import (
  AttentionPattern,
  UnitStructure,
  pair_structure,
)

# Kinds of pairs, in the order of their colours.
KINDS = ('none', 'window', 'own unit', 'other unit', 'global')
_COLOURS = ('#ffffff', '#4c78a8', '#e45756', '#f5b7b1', '#72b7b2')


def pattern_kinds(
  units: UnitStructure, pattern: AttentionPattern, document: int = 0
) -> np.ndarray:
  """The kind of every pair of one document, global tokens first.

  Made from the masks and labels that the attention itself uses.

  >>> import jax.numpy as jnp
  >>> ones = jnp.ones((1, 3), int)
  >>> units = UnitStructure(jnp.array([[0, 0, 1]]), ones, ones[:, :2])
  >>> pattern_kinds(units, AttentionPattern(radius=1, hard_g2l=True))
  array([[4, 4, 2, 2, 0],
         [4, 4, 0, 0, 2],
         [2, 3, 1, 1, 0],
         [2, 3, 1, 1, 1],
         [3, 2, 0, 1, 1]])
  """
  pairs: Any = pair_structure(units, pattern)
  masks = {part: np.asarray(getattr(pairs, f'{part}_mask')[document])
           for part in ('l2l', 'l2g', 'g2g', 'g2l')}  # fmt: skip
  member = member_label(pattern.max_distance)
  own = np.asarray(pairs.l2g_labels[document]) == member
  between = np.where(own, KINDS.index('own unit'), KINDS.index('other unit'))
  return np.block(
    [
      [masks['g2g'] * KINDS.index('global'), masks['g2l'] * between.T],
      [masks['l2g'] * between, _band(masks['l2l']) * KINDS.index('window')],
    ]
  )


def plot_pattern(
  units: UnitStructure, pattern: AttentionPattern, document: int = 0
) -> Any:
  """A matplotlib figure: a row for every query, a column for every key.

  >>> import jax.numpy as jnp
  >>> ones = jnp.ones((1, 3), int)
  >>> units = UnitStructure(jnp.array([[0, 0, 1]]), ones, ones[:, :2])
  >>> figure = plot_pattern(units, AttentionPattern(radius=1))
  >>> figure.axes[0].get_xlabel()
  'keys: global, then long'
  """
  with needs('plots', 'a drawing'):
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
  kinds = pattern_kinds(units, pattern, document)
  num_globals = units.global_examples.shape[1]
  figure = Figure(figsize=(5, 5), layout='constrained')
  axes = figure.subplots()
  colours = ListedColormap(_COLOURS)
  axes.imshow(kinds, cmap=colours, vmin=0, vmax=len(KINDS) - 1)
  for line in (axes.axhline, axes.axvline):
    line(num_globals - 0.5, color='black', linewidth=0.8)
  axes.set(xlabel='keys: global, then long', ylabel='queries')
  figure.legend(
    handles=[
      Patch(facecolor=colour, edgecolor='grey', label=kind)
      for kind, colour in zip(KINDS, _COLOURS, strict=True)
    ],
    loc='outside upper center',
    ncols=len(KINDS),
    fontsize='small',
  )
  return figure


def _band(window: np.ndarray) -> np.ndarray:
  """`[length, 2r + 1]` slots to `[length, length]` pairs."""
  length, slots = window.shape
  radius = slots // 2
  full = np.zeros((length, length + 2 * radius), bool)
  for row, allowed in enumerate(window):
    full[row, row : row + slots] = allowed
  return full[:, radius : radius + length]
