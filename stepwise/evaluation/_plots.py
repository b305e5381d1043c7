"""Plots; matplotlib is needed only here (extra `plots`)."""

import os
from collections.abc import Mapping
from pathlib import Path

from stepwise._errors import InputError
from stepwise._extras import needs
from stepwise._files import replacing
from stepwise.evaluation._lengths import BIN_WIDTH, LengthStatistics


def plot_lengths(
  lengths: Mapping[str, LengthStatistics], path: str | os.PathLike[str]
) -> None:
  """Draws the length distributions over each other, like the paper's Figure 3.

  The suffix of `path` names the format. No display is used.
  """
  with needs('plots', 'a plot'):
    from matplotlib.figure import Figure
  figure = Figure(figsize=(6, 4), layout='constrained')
  axes = figure.subplots()
  for name, statistics in lengths.items():
    middles = [edge + BIN_WIDTH / 2 for edge in statistics.edges[:-1]]
    axes.plot(middles, statistics.density, label=name)
  axes.set(xlabel='Summary length (words)', ylabel='Density', ylim=(0, None))
  axes.legend()
  _save(figure, Path(path))


def _save(figure, path: Path) -> None:
  with replacing(path) as beside:
    try:
      figure.savefig(beside, dpi=150)
    except ValueError as error:
      raise InputError(
        f'The plot {path} needs a suffix such as .png, .svg or .pdf.'
      ) from error
