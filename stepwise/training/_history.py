"""What a run has written of itself, as numbers and as a picture."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from etils import epath

from stepwise._errors import InputError

Curve = list[tuple[int, float]]

_BARS = '▁▂▃▄▅▆▇█'


@dataclass(frozen=True)
class RunHistory:
  """A run, finished or not.

  Attributes:
    config: as `config.json` has it.
    curves: step and value of every metric.
    scores: of the metric that tells the best checkpoint, by step.
  """

  config: Mapping[str, Any]
  curves: Mapping[str, Curve]
  scores: Mapping[int, float]

  @property
  def step(self) -> int:
    """The last step that was written down."""
    return max((curve[-1][0] for curve in self.curves.values()), default=0)

  @property
  def best(self) -> tuple[int, float] | None:
    """Step and score of the best checkpoint."""
    choose = min if self.config['checkpoints']['best_mode'] == 'min' else max
    if not self.scores:
      return None
    step = choose(self.scores, key=self.scores.__getitem__)
    return step, self.scores[step]


def read_history(folder: epath.PathLike) -> RunHistory:
  """Reads the folder of a run."""
  path = epath.Path(folder)
  if not (path / 'config.json').exists():
    raise InputError(f'{path} is not a run: it has no config.json.')
  curves: dict[str, Curve] = {}
  if (path / 'metrics.jsonl').exists():
    for line in (path / 'metrics.jsonl').read_text().splitlines():
      row = json.loads(line)
      step = row.pop('step')
      for name, value in row.items():
        curves.setdefault(name, []).append((step, value))
  scores = path / 'checkpoints' / 'scores.json'
  return RunHistory(
    json.loads((path / 'config.json').read_text()),
    curves,
    {int(k): v for k, v in json.loads(scores.read_text()).items()}
    if scores.exists()
    else {},
  )


def sparkline(values: Sequence[float], width: int = 40) -> str:
  """A curve as a line of text.

  >>> sparkline([0.0, 1.0, 2.0, 3.0, 7.0])
  '▁▂▃▄█'
  """
  if len(values) > width:
    last = len(values) - 1
    values = [values[round(i * last / (width - 1))] for i in range(width)]
  least, most = min(values), max(values)
  scale = (len(_BARS) - 1) / (most - least) if most > least else 0
  return ''.join(_BARS[round((value - least) * scale)] for value in values)


def draw_history(history: RunHistory, target: epath.PathLike) -> None:
  """A picture of every curve."""
  try:
    from matplotlib.figure import Figure
  except ImportError:
    raise InputError(
      'a picture needs matplotlib: pip install "stepwise[plots]"'
    ) from None
  names = list(history.curves)
  rows = -(-len(names) // 3)
  figure = Figure(figsize=(12, 2.6 * rows), layout='constrained')
  for number, name in enumerate(names, start=1):
    axes = figure.add_subplot(rows, 3, number)
    axes.plot(*zip(*history.curves[name], strict=True), marker='.')
    axes.set_title(name, fontsize=9)
  figure.savefig(str(target))
