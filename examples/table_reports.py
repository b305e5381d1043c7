"""What is worth saying about three tables: sales, weather, a league."""

from pathlib import Path

import stepwise

folder = Path(__file__).parent / 'tables'
for name in ('sales', 'weather', 'league'):
  table = folder / name / f'{name}.csv'
  report = stepwise.report(table, templates=folder / name / 'templates.toml')
  print(report.to_markdown())

# Without templates what they say is guessed; a frame or a list does as well.
rows = [
  {'ferry': 'Ailsa', 'passengers': 412, 'delays': 3},
  {'ferry': 'Bute', 'passengers': 958, 'delays': 11},
  {'ferry': 'Coll', 'passengers': 277, 'delays': 1},
]
print(stepwise.report(rows, words=40, must_include='Coll'))
for choice in stepwise.plan(rows, entries=3).choices:
  print(*choice.entry.relation, '; '.join(choice.reasons), sep=' | ')
