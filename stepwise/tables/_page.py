"""The page of a report: its text, and the table with the cells it used."""

import itertools
from collections.abc import Iterator, Mapping

from stepwise.pages import Html, html, render_shell, table, tag
from stepwise.tables._facts import Facts
from stepwise.tables._report import TableReport
from stepwise.tables._table import Relation
from stepwise.tables._words import capitalised

_STYLE = """.used { background: var(--mark); }
.used a { color: inherit; display: block; padding: .2rem; }
li { margin: .6rem 0; padding: .2rem .4rem; }
:target { box-shadow: inset 0 0 0 3px var(--edge); scroll-margin: 5rem; }
small { display: block; }
"""
# Rows of a table on a page; more would be a page that nobody scrolls.
_MOST_ROWS = 200

_Uses = Mapping[tuple[str, str], int]


def report_page(report: TableReport) -> str:
  """One file: sentences lead to their cells, cells to their sentence."""
  uses: dict[tuple[str, str], int] = {}
  for number, sentence in enumerate(report, 1):
    for relation in sentence.entries:
      uses.setdefault((relation.entity, relation.type), number)
  plan = report.plan
  reasons = {c.entry.relation: '; '.join(c.reasons) for c in plan.choices}
  kinds = (_kind(facts, report, uses) for facts in plan.table.facts)
  entries = sum(len(sentence.entries) for sentence in report)
  return render_shell(
    report.title,
    f'{entries} of {len(plan.table.entries)} entries, chosen by the'
    f' {plan.planner} planner. Coloured cells lead to their sentence.',
    html(
      *itertools.chain.from_iterable(kinds),
      tag('h2', 'Why these'),
      tag('ol', *_sentences(report, reasons)),
    ),
    answer=tag('p', report.text),
    notes=report.warnings,
    style=_STYLE,
    wide=True,
  )


def _sentences(
  report: TableReport, reasons: Mapping[Relation, str]
) -> Iterator[Html]:
  for number, sentence in enumerate(report, 1):
    why = (
      tag(
        'small',
        tag('a', f'{r.entity} {r.type} {r.value}', href=f'#{_id(r)}'),
        f': {reasons[r]}' if reasons.get(r) else '',
      )
      for r in sentence.entries
    )
    yield tag('li', sentence.text, *why, id=f'sentence-{number}')


def _id(relation: Relation) -> str:
  """A name for a cell that any entity and type can have."""
  return f'cell-{relation.entity}-{relation.type}'.replace(' ', '_')


def _kind(facts: Facts, report: TableReport, uses: _Uses) -> Iterator[Html]:
  entries = [e for e in report.plan.table.entries if e.kind == facts.kind]
  types = list(dict.fromkeys(entry.relation.type for entry in entries))
  by_entity: dict[str, dict[str, Relation]] = {}
  for entry in entries:
    cells = by_entity.setdefault(entry.relation.entity, {})
    cells[entry.relation.type] = entry.relation
  rows = [
    (entity or facts.noun, [_cell(cells.get(t), uses) for t in types])
    for entity, cells in list(by_entity.items())[:_MOST_ROWS]
  ]
  yield tag('h2', capitalised(facts.plural))
  if len(by_entity) > _MOST_ROWS:
    yield tag('p', f'The first {_MOST_ROWS} of {len(by_entity)} rows.')
  yield table(facts.plural, ['', *types], rows)


def _cell(relation: Relation | None, uses: _Uses) -> Html:
  if relation is None:
    return tag('td', '')
  number = uses.get((relation.entity, relation.type))
  if number is None:
    return tag('td', relation.value)
  link = tag('a', relation.value, href=f'#sentence-{number}')
  return tag('td', link, id=_id(relation), class_='used')
