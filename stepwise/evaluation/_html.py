"""A report as one page: scores first, then what may be said about them."""

from collections.abc import Iterator, Mapping, Sequence

from stepwise.evaluation._bootstrap import Interval
from stepwise.evaluation._groups import ScoreGroup
from stepwise.evaluation._lengths import BIN_WIDTH, LengthStatistics
from stepwise.evaluation._report import COLUMNS, Report, SystemReport
from stepwise.pages import (
  Html,
  Series,
  html,
  line_chart,
  render_shell,
  table,
  tag,
)


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
      _lengths(lengths),
      tag('h2', 'Score by length of the document'),
      _groups(report, 'by_length', 'sentences of the document'),
      tag('h2', 'Score by position'),
      tag(
        'p',
        'Summaries by where their sentences stand in the document, on average;'
        ' below each score, how many there are.',
      ),
      _groups(report, 'by_position', 'position in the document', percent=True),
    ),
    answer_title=f'{report.metric} F1',
    copies={'Copy text': _plain(report), 'Copy Markdown': _markdown(report)},
    answer=html(
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


def _values(report: Report) -> Iterator[list[str]]:
  yield ['System', *COLUMNS]
  for system in report.systems:
    scores = (system.rouge[column]['f1'].mean for column in COLUMNS)
    yield [system.name, *(f'{score:.2f}' for score in scores)]


def _plain(report: Report) -> str:
  return '\n'.join('\t'.join(row) for row in _values(report))


def _markdown(report: Report) -> str:
  header, *rows = (
    f'| {" | ".join(each.replace("|", "/") for each in row)} |'
    for row in _values(report)
  )
  rule = f'|---|{"---:|" * len(COLUMNS)}'
  return '\n'.join([header, rule, *rows]) + '\n'


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


def _lengths(lengths: Mapping[str, LengthStatistics]) -> Html:
  """Length distributions over each other, like the paper's Figure 3."""
  series = [
    Series(
      name,
      [
        (edge + BIN_WIDTH / 2, density)
        for edge, density in zip(
          statistics.edges[:-1], statistics.density, strict=True
        )
      ],
    )
    for name, statistics in lengths.items()
  ]
  return line_chart(
    'Distribution of the words per summary, a line per system',
    series,
    across='Words per summary',
  )


def _groups(
  report: Report, name: str, across: str, percent: bool = False
) -> Html:
  """A curve and a table of the mean score of groups of documents."""

  def shown(value: float) -> str:
    return f'{100 * value:.0f}' if percent else f'{value:,.0f}'

  systems = {system.name: getattr(system, name) for system in report.systems}
  series = [
    Series(system, [((g.low + g.high) / 2, g.score) for g in groups])
    for system, groups in systems.items()
    if groups
  ]
  if not series:
    return tag('p', 'Documents to tell this by were not given.')
  edges = {(g.low, g.high) for groups in systems.values() for g in groups}
  ranges = sorted(edges)
  unit = '\N{NO-BREAK SPACE}%' if percent else ''
  header = ['', *(f'{shown(a)} to {shown(b)}{unit}' for a, b in ranges)]
  rows = (
    (system, [_group(groups, edge) for edge in ranges])
    for system, groups in systems.items()
  )
  ticks = [((a + b) / 2, f'{shown(a)}\N{EN DASH}{shown(b)}') for a, b in ranges]
  chart = line_chart(
    f'Mean F1 by {across}, a line per system',
    series,
    across=across,
    from_zero=False,
    ticks=ticks,
  )
  return html(chart, table(across, header, rows))


def _group(groups: Sequence[ScoreGroup], edge: tuple[float, float]) -> Html:
  found = next((g for g in groups if (g.low, g.high) == edge), None)
  if found is None:
    return tag('td')
  count = tag('small', f'{found.documents:,}')
  return tag('td', f'{found.score:.2f}', count)
