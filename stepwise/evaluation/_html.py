"""A report as one HTML page that needs no other file."""

from collections.abc import Mapping, Sequence
from html import escape

from stepwise.evaluation._bootstrap import Interval
from stepwise.evaluation._lengths import LengthStatistics
from stepwise.evaluation._report import COLUMNS, Report, SystemReport

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Evaluation</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
th, td {{ padding: .3rem .8rem; border-bottom: 1px solid #ccc; }}
th, td {{ text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
small {{ color: #666; display: block; }}
</style>
<h1>Evaluation</h1>
<p>{summary}</p>
<h2>ROUGE F1</h2>
{scores}
<p>Best in bold; ≈ marks scores whose paired 95&nbsp;% interval of the
difference to the best includes zero.</p>
<h2>Differences</h2>
{differences}
<p>* p &lt; 0.01: one-way ANOVA with Tukey's HSD on the mean of the three.</p>
<h2>Summaries</h2>
{summaries}
<h2>Lengths</h2>
{chart}
</html>
"""
_COLORS = ('#1f3b70', '#a0522d', '#e04500', '#228b22', '#7b3294', '#008b8b')


def render_html(report: Report) -> str:
  """The whole report: scores, differences, lengths, redundancy, positions."""
  lengths = {'Human': report.human_lengths}
  lengths |= {system.name: system.lengths for system in report.systems}
  return _PAGE.format(
    summary=(
      f'{report.documents} documents, {report.metric}, '
      f'bootstrap seed {report.seed}.'
    ),
    scores=_table(
      [f'System ({report.metric})', *COLUMNS],
      [_score_row(report, system) for system in report.systems],
    ),
    differences=_table(
      ['Systems', *COLUMNS, "Tukey's p"],
      [
        [
          escape(f'{pair.first} minus {pair.second}'),
          *(_interval(pair.difference[column]) for column in COLUMNS),
          f'{pair.tukey_p:.3g}{"*" if pair.significant else ""}',
        ]
        for pair in report.comparisons
      ],
    ),
    summaries=_summaries(report),
    chart=_chart(lengths),
  )


def _score_row(report: Report, system: SystemReport) -> list[str]:
  cells = [escape(system.name)]
  for column in COLUMNS:
    cell = _interval(system.rouge[column]['f1'])
    if system.name == report.best(column):
      cell = f'<b>{cell}</b>'
    elif report.ties_with_best(system.name, column):
      cell = f'≈ {cell}'
    cells.append(cell)
  return cells


def _summaries(report: Report) -> str:
  human = report.human_lengths
  human_row = ['Human', f'{human.mean:.1f} ± {human.std:.1f}']
  human_row += [f'{100 * report.human_repeated_trigrams:.2f} %', '', '']
  rows = [human_row]
  for system in report.systems:
    lengths, places = system.lengths, system.positions
    row = [escape(system.name), f'{lengths.mean:.1f} ± {lengths.std:.1f}']
    row.append(f'{100 * system.repeated_trigrams:.2f} %')
    row.append(f'{100 * places.first_three:.1f} %' if places else '')
    row.append(f'{places.mean:.2f}' if places else '')
    rows.append(row)
  header = ['', 'Words', 'Repeated trigrams', 'First three', 'Mean position']
  return _table(header, rows)


def _interval(interval: Interval) -> str:
  return (
    f'{interval.mean:.2f}'
    f'<small>{interval.low:.2f} to {interval.high:.2f}</small>'
  )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
  """Cells are HTML; whoever makes them escapes them."""
  head = ''.join(f'<th>{cell}</th>' for cell in header)
  body = '\n'.join(
    '<tr>' + ''.join(f'<td>{cell}</td>' for cell in row) + '</tr>'
    for row in rows
  )
  return f'<table><tr>{head}</tr>\n{body}</table>'


def _chart(lengths: Mapping[str, LengthStatistics]) -> str:
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
    parts.append(
      f'<polyline points="{points}" fill="none" stroke="{color}"/>'
      f'<text x="{width - 8}" y="{20 * (row + 1)}" text-anchor="end" '
      f'fill="{color}">{escape(name)}</text>'
    )
  return (
    f'<svg viewBox="0 0 {width} {height + 40}" role="img">{"".join(parts)}'
    f'<line y1="{height}" x2="{width}" y2="{height}" stroke="black"/>'
    f'<text x="{width / 2}" y="{height + 30}" text-anchor="middle">'
    f'Words per summary, 0 to {longest}</text></svg>'
  )
