"""A report as one page: scores first, then what may be said about them."""

from collections.abc import Iterator, Mapping

from stepwise.evaluation._bootstrap import Interval
from stepwise.evaluation._lengths import LengthStatistics
from stepwise.evaluation._report import COLUMNS, Report, SystemReport
from stepwise.pages import Html, html, render_shell, table, tag

_COLORS = ('#1f3b70', '#a0522d', '#e04500', '#228b22', '#7b3294', '#008b8b')


def render_html(report: Report) -> str:
  """The whole report: scores, differences, lengths, redundancy, positions."""
  lengths = {'Human': report.human_lengths}
  lengths |= {system.name: system.lengths for system in report.systems}
  return render_shell(
    'Evaluation',
    f'{report.documents} documents, {report.metric}, bootstrap seed'
    f' {report.seed}.',
    html(
      tag('h2', 'Differences'),
      _differences(report),
      tag(
        'p',
        "* p < 0.01: one-way ANOVA with Tukey's HSD on the mean of the three.",
      ),
      tag('h2', 'Summaries'),
      _summaries(report),
      tag('h2', 'Lengths'),
      _chart(lengths),
    ),
    answer=html(
      tag('h2', f'{report.metric} F1'),
      _scores(report),
      tag(
        'p',
        'Best in bold; ≈ marks scores whose paired 95\N{NO-BREAK SPACE}%'
        ' interval of the difference to the best includes zero.',
      ),
    ),
    wide=True,
  )


def _scores(report: Report) -> Html:
  rows = (
    (system.name, [_score(report, system, column) for column in COLUMNS])
    for system in report.systems
  )
  return table('Scores', ['System', *COLUMNS], rows)


def _score(report: Report, system: SystemReport, column: str) -> Html:
  score = _interval(system.rouge[column]['f1'])
  if system.name == report.best(column):
    return tag('td', tag('b', score))
  tie = report.ties_with_best(system.name, column)
  return tag('td', '≈ ' if tie else '', score)


def _differences(report: Report) -> Html:
  rows = (
    (
      f'{pair.first} minus {pair.second}',
      [
        *(tag('td', _interval(pair.difference[name])) for name in COLUMNS),
        tag('td', f'{pair.tukey_p:.3g}{"*" if pair.significant else ""}'),
      ],
    )
    for pair in report.comparisons
  )
  return table('Differences', ['Systems', *COLUMNS, "Tukey's p"], rows)


def _summaries(report: Report) -> Html:
  header = ['', 'Words', 'Repeated trigrams', 'First three', 'Mean position']
  return table('Summaries', header, _summary_rows(report))


def _summary_rows(report: Report) -> Iterator[tuple[str, list[Html]]]:
  human = report.human_lengths
  yield (
    'Human',
    _cells(
      f'{human.mean:.1f} ± {human.std:.1f}',
      f'{100 * report.human_repeated_trigrams:.2f} %',
      *('', ''),
    ),
  )
  for system in report.systems:
    lengths, places = system.lengths, system.positions
    yield (
      system.name,
      _cells(
        f'{lengths.mean:.1f} ± {lengths.std:.1f}',
        f'{100 * system.repeated_trigrams:.2f} %',
        f'{100 * places.first_three:.1f} %' if places else '',
        f'{places.mean:.2f}' if places else '',
      ),
    )


def _cells(*texts: str) -> list[Html]:
  return [tag('td', text) for text in texts]


def _interval(interval: Interval) -> Html:
  around = tag('small', f'{interval.low:.2f} to {interval.high:.2f}')
  return html(f'{interval.mean:.2f}', around)


def _chart(lengths: Mapping[str, LengthStatistics]) -> Html:
  """Length distributions as lines, drawn in SVG."""
  width, height = 640, 300
  top = max(max(statistics.density) for statistics in lengths.values())
  parts = []
  for row, (name, statistics) in enumerate(lengths.items()):
    color = _COLORS[row % len(_COLORS)]
    longest = statistics.edges[-1]
    points = ' '.join(
      f'{width * edge / longest:.1f},{height * (1 - value / top):.1f}'
      for edge, value in zip(
        statistics.edges[:-1], statistics.density, strict=True
      )
    )
    parts += [
      tag('polyline', points=points, fill='none', stroke=color),
      tag(
        'text',
        name,
        x=width - 8,
        y=20 * (row + 1),
        text_anchor='end',
        fill=color,
      ),
    ]
  return tag(
    'svg',
    *parts,
    tag('line', y1=height, x2=width, y2=height, stroke='currentColor'),
    tag(
      'text',
      f'Words per summary, 0 to {longest}',
      x=width // 2,
      y=height + 30,
      text_anchor='middle',
      fill='currentColor',
    ),
    viewBox=f'0 0 {width} {height + 40}',
    role='img',
    aria_label='Distribution of the words per summary, a line per system',
  )
