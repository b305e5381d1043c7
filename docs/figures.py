"""Pictures of the concepts, drawn from the code: `make figures`.

They go to `docs/images/concepts`; the packaged model is asked for its steps.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

import stepwise
from stepwise.data import make_record, wordpiece
from stepwise.documents import make_document
from stepwise.layers import (
  AttentionPattern,
  UnitStructure,
  distance_labels,
  member_label,
  outside_label,
  pattern_kinds,
)
from stepwise.summarization import sample_article

FOLDER = Path(__file__).parent / 'images' / 'concepts'
_KINDS = ListedColormap(
  ['#ffffff', '#4c78a8', '#e45756', '#f5b7b1', '#72b7b2'], 'kinds'
)
_UNITS = ('#d5d5d5', '#4c78a8', '#f58518', '#54a24b', '#e45756', '#72b7b2')


def structure(length: int, unit: int) -> UnitStructure:
  """Units of so many tokens each, one document, no padding."""
  return UnitStructure(
    jnp.arange(length)[None] // unit,
    jnp.ones((1, length), int),
    jnp.ones((1, length // unit), int),
  )


def attention() -> Any:
  """Both patterns of global-local attention, side by side."""
  figure = Figure(figsize=(8, 4.2), layout='constrained')
  units = structure(48, 8)
  for axes, hard in zip(figure.subplots(1, 2), (False, True), strict=True):
    pattern = AttentionPattern(radius=5, hard_g2l=hard)
    kinds = pattern_kinds(units, pattern)
    axes.imshow(kinds, cmap=_KINDS, vmin=0, vmax=4)
    axes.axhline(5.5, color='black', linewidth=0.8)
    axes.axvline(5.5, color='black', linewidth=0.8)
    axes.set_title(f'hard_g2l={hard}')
    axes.set(xlabel='keys: 6 global, 48 long', ylabel='queries')
  return figure


def labels() -> Any:
  """Relative labels of all pairs of global and long tokens."""
  distance, length, unit = 4, 24, 6
  count = length // unit
  place = np.arange(length)
  between = np.where(
    place[:, None] // unit == np.arange(count)[None],
    member_label(distance),
    outside_label(distance),
  )
  among = distance_labels(place[None] - place[:, None], distance)
  grid = np.block([[among[:count, :count], between.T], [between, among]])
  figure = Figure(figsize=(5.4, 4.6), layout='constrained')
  axes = figure.subplots()
  shown = axes.imshow(grid, cmap='tab20', vmin=0, vmax=19)
  figure.colorbar(shown, boundaries=np.arange(-0.5, 11), ticks=range(11))
  axes.set_title(f'labels, clipped at {distance}')
  axes.set(xlabel=f'keys: {count} global, {length} long', ylabel='queries')
  return figure


def blocks() -> Any:
  """Scores that one round of the loop of `blocked` holds."""
  length, radius, num_globals = 48, 5, 6
  block = radius + 1
  units = structure(length, 8)
  pattern = AttentionPattern(radius=radius, hard_g2l=True)
  kinds = pattern_kinds(units, pattern)
  now = np.full(kinds.shape, 0.25)
  queries = slice(num_globals + 3 * block, num_globals + 4 * block)
  now[queries, :num_globals] = 1
  now[queries, num_globals + 2 * block : num_globals + 5 * block] = 1
  figure = Figure(figsize=(4.2, 4.2), layout='constrained')
  axes = figure.subplots()
  axes.imshow(kinds, cmap=_KINDS, vmin=0, vmax=4, alpha=now)
  for start in range(num_globals, num_globals + length, block):
    axes.axhline(start - 0.5, color='grey', linewidth=0.4)
    axes.axvline(start - 0.5, color='grey', linewidth=0.4)
  axes.set_title('one block of queries, its keys')
  axes.set(xlabel='keys', ylabel='queries')
  return figure


def units() -> Any:
  """The tokens of a short text with the units they belong to."""
  text = 'It rained all day. We stayed in. Nobody minded.'
  tokenizer = wordpiece()
  record = make_record(make_document({'article': text}), tokenizer)
  figure = Figure(figsize=(8, 1.2), layout='constrained')
  axes = figure.subplots()
  names = ['end', 'begin', *_words(text)]
  for place, (unit, name) in enumerate(
    zip(record.unit_ids.tolist(), names, strict=True)
  ):
    axes.text(
      place,
      0,
      f'{name}\n{unit}',
      ha='center',
      va='center',
      bbox={'facecolor': _UNITS[unit % 6], 'alpha': 0.5, 'linewidth': 0},
    )
  axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(-1, 1))
  axes.axis('off')
  return figure


def _words(text: str) -> list[str]:
  """Words and full stops: what the tokeniser makes of this text."""
  return text.replace('.', ' .').split()


def steps() -> Any:
  """How probable every sentence of the sample was at every step."""
  summary = stepwise.summarize(sample_article(), model='default')
  rows = np.array([step.probabilities for step in summary.steps])
  figure = Figure(figsize=(8, 2), layout='constrained')
  axes = figure.subplots()
  count, sentences = rows.shape
  frame = (0.5, sentences + 0.5, count + 0.5, 0.5)
  shown = axes.imshow(rows, aspect='auto', cmap='Blues', vmin=0, extent=frame)
  figure.colorbar(shown, label='probability')
  for row, step in enumerate(summary.steps, 1):
    if step.index is not None:
      axes.plot(step.index + 1, row, 'o', color='#e45756')
  axes.set_yticks(range(1, count + 1))
  axes.set(xlabel='sentence', ylabel='step')
  return figure


FIGURES: dict[str, Callable[[], Any]] = {
  function.__name__: function
  for function in (attention, blocks, labels, units, steps)
}


def main() -> None:
  FOLDER.mkdir(parents=True, exist_ok=True)
  for name, draw in FIGURES.items():
    draw().savefig(FOLDER / f'{name}.png', dpi=110)


if __name__ == '__main__':
  main()
