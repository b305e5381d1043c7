"""A report of a game as one page that needs no other file."""

from collections.abc import Sequence

from stepwise.pages import (
  Cell,
  ReportEntry,
  ReportLine,
  ReportPage,
  render_report_page,
)
from stepwise.realization._report import GameReport, PlacedEntry
from stepwise.rotowire import game_table, rotowire_schema


def render_report(report: GameReport) -> str:
  """The page of a report; every text of the game is escaped."""
  game = report.game
  names = ' and '.join(team.entity for team in game.teams)
  title = f'{names}, {game.date.isoformat()}'
  cells = [
    cell
    for sheet, kind, entities in (
      ('Teams', 'team', [team.entity for team in game.teams]),
      ('Players', 'player', [player.entity for player in game.players]),
    )
    for cell in _cells(report, sheet, kind, entities)
  ]
  page = ReportPage(
    title,
    f'Plan: {report.planner}. Text: {report.realizer}.',
    tuple(
      ReportLine(sentence.text, tuple(map(_entry, sentence.entries)))
      for sentence in report.sentences
    ),
    tuple(cells),
    copies={
      'Copy text': report.text,
      'Copy Markdown': f'# {title}\n\n{report.text}\n',
    },
    notes=report.warnings,
  )
  return render_report_page(page)


def _entry(entry: PlacedEntry) -> ReportEntry:
  entity, value, type = entry.relation
  cell = Cell('', entity, _title(type), value)
  return ReportEntry(cell, unsaid=entry.stated is False)


def _cells(
  report: GameReport, sheet: str, kind: str, entities: Sequence[str]
) -> list[Cell]:
  """Entities are rows; columns are types that anybody has a value of."""
  relations = game_table(report.game, max_units=None).relations
  values = {(r.entity, r.type): r.value for r in relations}
  types = [
    type
    for type in rotowire_schema().kinds[kind].templates
    if any((entity, type) in values for entity in entities)
  ]
  return [
    Cell(sheet, entity, _title(type), values[entity, type])
    for entity in entities
    for type in types
    if (entity, type) in values
  ]


def _title(type: str) -> str:
  """`PTS_QTR1` of `TEAM-PTS_QTR1`, in words that fit a column."""
  return type.partition('-')[2].replace('_', ' ').lower()
