"""An evaluation report as tables for a terminal."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stepwise.evaluation import KINDS, Interval, Report, SystemReport

_HEADERS = {'rouge1': 'R1', 'rouge2': 'R2', 'rougeLsum': 'RL', 'mean': 'Mean'}


def report_tables(report: Report) -> RenderableType:
  """Scores like the paper's Table 1, pairs of systems, and what marks mean."""
  parts: list[RenderableType] = [
    _scores(report),
    Text(
      'F1 in percent with its 95 % bootstrap interval; bold: best; ≈: the '
      'paired interval of the difference to the best includes zero.'
    ),
  ]
  if _other_kinds(report):
    parts.append(_kinds(report))
  if report.comparisons:
    parts += [
      _differences(report),
      Text(
        "*: p < 0.01, one-way ANOVA with Tukey's HSD on the mean of the three "
        f'(ANOVA p = {report.anova_p:.3g}).'
      ),
    ]
  parts += [
    Text(
      f'{system.name} failed on {system.errors} of {report.documents} '
      'documents: these summaries are empty.'
    )
    for system in report.systems
    if system.errors
  ]
  return Group(*parts, _summaries(report))


def _scores(report: Report) -> Table:
  table = Table(
    'System', title=f'{report.metric} F1 on {report.documents} documents'
  )
  for header in _HEADERS.values():
    table.add_column(header, justify='right', no_wrap=True)
  for system in report.systems:
    cells = [_score(report, system, column) for column in _HEADERS]
    table.add_row(Text(system.name), *cells)
  return table


def _other_kinds(report: Report) -> list[str]:
  return [kind for kind in report.systems[0].rouge if kind not in _HEADERS]


def _kinds(report: Report) -> Table:
  table = Table('System', 'Kind', title=f'All kinds of {report.metric}')
  for header in ('Recall', 'Precision', 'F1'):
    table.add_column(header, justify='right', no_wrap=True)
  for system in report.systems:
    for kind in (*KINDS, *_other_kinds(report)):
      scores = system.rouge[kind]
      cells = [_interval(scores[m]) for m in ('recall', 'precision', 'f1')]
      table.add_row(Text(system.name), kind, *cells)
  return table


def _score(report: Report, system: SystemReport, column: str) -> Text:
  cell = Text(_interval(system.rouge[column]['f1']))
  if system.name == report.best(column):
    cell.stylize('bold')
  elif report.ties_with_best(system.name, column):
    cell = Text('≈ ') + cell
  return cell


def _differences(report: Report) -> Table:
  table = Table('Difference', title='Pairs of systems')
  for header in (*_HEADERS.values(), "Tukey's p"):
    table.add_column(header, justify='right', no_wrap=True)
  for pair in report.comparisons:
    table.add_row(
      Text(f'{pair.first} - {pair.second}'),
      *(_interval(pair.difference[column], '+') for column in _HEADERS),
      f'{pair.tukey_p:.3g}{"*" if pair.significant else ""}',
    )
  return table


def _summaries(report: Report) -> Table:
  table = Table('Summaries', title='Length, repetition and position')
  for header in ('Words', 'Repeated trigrams', 'First three', 'Mean position'):
    table.add_column(header, justify='right')
  human = report.human_lengths
  table.add_row(
    'Human',
    f'{human.mean:.1f} ± {human.std:.1f}',
    f'{100 * report.human_repeated_trigrams:.2f} %',
  )
  for system in report.systems:
    places = system.positions
    table.add_row(
      Text(system.name),
      f'{system.lengths.mean:.1f} ± {system.lengths.std:.1f}',
      f'{100 * system.repeated_trigrams:.2f} %',
      f'{100 * places.first_three:.1f} %' if places else '',
      f'{places.mean:.2f}' if places else '',
    )
  return table


def _interval(interval: Interval, sign: str = '') -> str:
  # Round brackets: rich would take square ones for markup.
  return (
    f'{interval.mean:{sign}.2f} '
    f'({interval.low:{sign}.2f} to {interval.high:{sign}.2f})'
  )
