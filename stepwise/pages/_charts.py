"""Curves in SVG, in the colours of the page, by day and night."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stepwise.pages._html import Html, tag

_WIDTH, _HEIGHT = 640.0, 300.0
_LEFT, _BOTTOM, _TOP, _RIGHT = 52.0, 40.0, 14.0, 34.0
_COLOURS = 6
_DASHES = (None, '7 4', '2 3')


class _Scale(NamedTuple):
  """Where numbers are drawn."""

  x_range: tuple[float, float]
  y_range: tuple[float, float]

  def x(self, value: float) -> float:
    low, high = self.x_range
    share = (value - low) / ((high - low) or 1)
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

  def y(self, value: float) -> float:
    low, high = self.y_range
    share = (value - low) / ((high - low) or 1)
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)


@dataclass(frozen=True)
class Series:
  """A curve: a name, and points from left to right."""

  name: str
  points: Sequence[tuple[float, float]]


def line_chart(
  label: str,
  series: Sequence[Series],
  *,
  across: str,
  from_zero: bool = True,
  ticks: Sequence[tuple[float, str]] | None = None,
) -> Html:
  """Curves over one another, with both axes and a legend if they are several.

  Args:
    label: what is drawn, for those who do not see it.
    series: the curves; points that are not numbers are left out.
    across: what goes from left to right.
    from_zero: whether the vertical axis begins there.
    ticks: places and names of the horizontal axis; None = round numbers.
  """
  drawn = [
    Series(s.name, [p for p in s.points if all(map(math.isfinite, p))])
    for s in series
  ]
  points = [point for each in drawn for point in each.points]
  if not points:
    return tag('p', 'There is nothing to draw.')
  xs = [float(x) for x, _ in points]
  ys = [float(y) for _, y in points]
  x_low, x_high = min(xs), max(xs)
  y_ticks = round_ticks(min(0.0, *ys) if from_zero else min(ys), max(ys))
  scale = _Scale((x_low, x_high), (y_ticks[0], y_ticks[-1]))
  if ticks is None:
    inside = [t for t in round_ticks(x_low, x_high) if x_low <= t <= x_high]
    ticks = [(tick, _number(tick)) for tick in inside]
  parts = list(_axes(scale, y_ticks, ticks, across))
  for number, each in enumerate(drawn):
    parts += _curve(scale, number, each.points)
  legend_rows = 0
  if len(drawn) > 1:
    legend_rows = len(drawn)
    parts += [
      piece
      for number, each in enumerate(drawn)
      for piece in _legend(number, each.name)
    ]
  return tag(
    'svg',
    *parts,
    class_='chart',
    viewBox=f'0 0 {_WIDTH:.0f} {_HEIGHT + 18 * legend_rows:.0f}',
    role='img',
    aria_label=label,
  )


def _axes(
  scale: _Scale,
  y_ticks: Sequence[float],
  x_ticks: Sequence[tuple[float, str]],
  across: str,
) -> Iterator[Html]:
  for tick in y_ticks:
    height = f'{scale.y(tick):.1f}'
    ends = {'x1': f'{_LEFT:.0f}', 'x2': f'{_WIDTH - _RIGHT:.0f}'}
    yield tag('line', class_='grid', y1=height, y2=height, **ends)
    yield _text(_number(tick), _LEFT - 6, scale.y(tick) + 4, 'end')
  for tick, name in x_ticks:
    yield _text(name, scale.x(tick), _HEIGHT - _BOTTOM + 16, 'middle')
  middle = (_LEFT + _WIDTH - _RIGHT) / 2
  yield _text(across, middle, _HEIGHT - 6, 'middle', 'faint')


def _curve(
  scale: _Scale, number: int, points: Sequence[tuple[float, float]]
) -> Iterator[Html]:
  """A line; of a single point there would be nothing to see without a dot."""
  places = [(f'{scale.x(a):.1f}', f'{scale.y(b):.1f}') for a, b in points]
  line = ' '.join(f'{x},{y}' for x, y in places)
  yield tag('polyline', points=line, class_='series', **_pen(number))
  if len(places) == 1:
    ((x, y),) = places
    style = f'fill:var(--s{number % _COLOURS})'
    yield tag('circle', cx=x, cy=y, r=3, style=style)


def _pen(number: int) -> dict[str, str | None]:
  return {
    'style': f'stroke:var(--s{number % _COLOURS})',
    'stroke_dasharray': _DASHES[number % len(_DASHES)],
  }


def _legend(number: int, name: str) -> tuple[Html, Html]:
  """Below the chart: names may be long."""
  height = _HEIGHT + 18 * number + 8
  line = tag(
    'line',
    x1=f'{_LEFT:.0f}',
    x2=f'{_LEFT + 26:.0f}',
    y1=f'{height:.0f}',
    y2=f'{height:.0f}',
    class_='series',
    **_pen(number),
  )
  return line, _text(name, _LEFT + 34, height + 4, 'start')


def _text(
  text: str, x: float, y: float, anchor: str, class_: str | None = None
) -> Html:
  return tag(
    'text',
    text,
    x=f'{x:.1f}',
    y=f'{y:.1f}',
    text_anchor=anchor,
    class_=class_,
  )


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
  """A few round numbers around an interval.

  >>> round_ticks(0.0, 9.3)
  [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
  """
  # Where all is one number there is still an axis.
  span = max(high - low, 1e-6 * max(abs(low), abs(high)), 1e-9)
  size = 10.0 ** math.floor(math.log10(span / most))
  step = next(
    size * m for m in (1, 2, 2.5, 5, 10, 20) if span / (size * m) <= most - 1
  )
  first, last = math.floor(low / step), math.ceil(high / step)
  return [round(i * step, 12) for i in range(first, max(last, first + 1) + 1)]


def _number(value: float) -> str:
  if value and (abs(value) < 1e-3 or abs(value) >= 1e6):
    return f'{value:.1e}'
  return f'{value:,.6g}'
