"""Pages of tables: a plan in its order, a report with the cells it used."""

from stepwise.pages import (
  Cell,
  Page,
  PageStep,
  PageUnit,
  ReportEntry,
  ReportLine,
  ReportPage,
  render_report_page,
)
from stepwise.tables._report import TablePlan, TableReport, title_of
from stepwise.tables._table import Relation, Table
from stepwise.tables._words import capitalised


def report_page(report: TableReport) -> str:
  """One file: numbers lead to their cells, cells to their sentence."""
  plan = report.plan
  cells = table_cells(plan.table)
  reasons = _reasons(plan)
  lines = tuple(
    ReportLine(
      sentence.text,
      tuple(
        ReportEntry(cells[r], reasons.get(r, '')) for r in sentence.entries
      ),
    )
    for sentence in report
  )
  entries = sum(len(sentence.entries) for sentence in report)
  page = ReportPage(
    report.title,
    f'{entries} of {len(plan.table.entries):,} entries, chosen by the'
    f' {plan.planner} planner.',
    lines,
    tuple(cells.values()),
    copies={'Copy text': report.text, 'Copy Markdown': report.to_markdown()},
    notes=report.warnings,
  )
  return render_report_page(page)


def table_plan_page(plan: TablePlan) -> Page:
  """The plan in its order, beside the table."""
  cells, reasons = table_cells(plan.table), _reasons(plan)
  places = plan.table.index
  steps = tuple(
    PageStep(
      places[r.entity, r.type],
      'chose',
      group=f'Sentence {number}',
      note=reasons.get(r, ''),
    )
    for number, sentence in enumerate(plan, 1)
    for r in sentence
  )
  return Page(
    title_of(plan.table),
    f'{len(steps)} of {len(plan.table.entries):,} entries, chosen by the'
    f' {plan.planner} planner, for {len(plan)} sentences.',
    tuple(
      PageUnit(entry.text, 1, cell=cells[entry.relation])
      for entry in plan.table.entries
    ),
    steps,
    answer_title='Plan',
    copies={'Copy text': str(plan), 'Copy Markdown': plan.to_markdown()},
    notes=plan.warnings,
    unit_name='entry',
  )


def table_cells(table: Table) -> dict[Relation, Cell]:
  """Where every entry stands."""
  names = {facts.kind: facts for facts in table.facts}
  cells = {}
  for entry in table.entries:
    facts = names.get(entry.kind)
    sheet = facts.plural if facts else f'{entry.kind}s'
    noun = facts.noun if facts else entry.kind
    entity, value, type = entry.relation
    row = entity or noun
    cells[entry.relation] = Cell(capitalised(sheet), row, type, value)
  return cells


def _reasons(plan: TablePlan) -> dict[Relation, str]:
  return {c.entry.relation: '; '.join(c.reasons) for c in plan.choices}
