"""The page of a run: where it is, and its curves."""

from collections.abc import Iterator

from stepwise.pages import (
  Html,
  Series,
  html,
  line_chart,
  render_shell,
  table,
  tag,
)
from stepwise.training._history import RunHistory


def run_page(history: RunHistory) -> str:
  """How a run is doing, finished or not."""
  config = history.config
  name = config['model']['name']
  lead = f'Step {history.step:,} of {config["steps"]:,}.'
  if history.best is not None:
    step, score = history.best
    metric = config['checkpoints']['best_metric']
    lead += f' Best checkpoint: step {step:,}, {metric} {score:.4g}.'
  return render_shell(
    f'Run of {name}',
    lead,
    html(
      tag('h2', 'Curves'),
      tag('div', *_curves(history), class_='charts'),
      tag('h2', 'Configuration'),
      _configuration(history),
    ),
    answer=_metrics(history),
    answer_title='Metrics',
    copies={'Copy text': _text(history)},
    wide=True,
  )


def _rows(history: RunHistory) -> Iterator[tuple[str, list[str]]]:
  for name, curve in history.curves.items():
    values = [value for _, value in curve]
    ends = (values[0], values[-1], min(values), max(values))
    yield name, [f'{end:.4g}' for end in ends]


_HEADER = ['Metric', 'First', 'Last', 'Least', 'Most']


def _metrics(history: RunHistory) -> Html:
  rows = (
    (name, [tag('td', value) for value in values])
    for name, values in _rows(history)
  )
  return table('Every metric from first to last', _HEADER, rows)


def _text(history: RunHistory) -> str:
  rows = [_HEADER, *([name, *values] for name, values in _rows(history))]
  return '\n'.join('\t'.join(row) for row in rows)


def _curves(history: RunHistory) -> Iterator[Html]:
  """What is measured in training and in validation is drawn together."""
  together: dict[str, list[Series]] = {}
  for name, curve in history.curves.items():
    what = name.rpartition('/')[2]
    points = [(float(step), float(value)) for step, value in curve]
    together.setdefault(what, []).append(Series(name, points))
  for what, series in together.items():
    chart = line_chart(
      f'{what} at every step', series, across='Step', from_zero=False
    )
    yield tag('figure', tag('figcaption', what.replace('_', ' ')), chart)


def _configuration(history: RunHistory) -> Html:
  rows = (
    (name, [tag('td', value)]) for name, value in _flat('', history.config)
  )
  return table('Configuration', ['Name', 'Value'], rows)


def _flat(name: str, value: object) -> Iterator[tuple[str, str]]:
  """`model.name = hibert_tiny` of what is nested."""
  if isinstance(value, dict) and value:
    for key, inner in value.items():
      yield from _flat(f'{name}.{key}' if name else key, inner)
  else:
    yield name, str(value)
