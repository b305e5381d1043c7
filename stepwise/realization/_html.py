"""A report as one page that needs no other file and no script.

Cells that the plan uses link to their sentence, sentences to their cells; what
a link leads to is marked by the browser itself (`:target`), so that mouse,
finger and keyboard all work.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from stepwise.realization._report import GameReport, PlacedEntry
from stepwise.rotowire import MATCH, game_table, rotowire_schema
from stepwise.tables import Relation

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --used: #ffe9a8; --mark: #ffc107; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --used: #5c4a10; --mark: #8a6d00; }}
}}
body {{ font: 1rem/1.6 system-ui, sans-serif; margin: 0 auto; padding: 1rem;
  max-width: 70rem; }}
.table {{ overflow-x: auto; margin: 1rem 0; }}
table {{ border-collapse: collapse; font-size: .9rem; }}
th, td {{ padding: .35rem .6rem; border: 1px solid #8886; text-align: right;
  white-space: nowrap; }}
th[scope=row] {{ text-align: left; position: sticky; left: 0;
  background: Canvas; }}
.used {{ background: var(--used); }}
.unsaid {{ outline: 2px dashed #c00; outline-offset: -3px; }}
.used a {{ color: inherit; display: block; padding: .2rem; }}
li {{ margin: .6rem 0; padding: .2rem .4rem; }}
:target {{ background: var(--mark); scroll-margin: 5rem; }}
small a {{ display: inline-block; padding: .15rem .4rem; }}
:focus-visible {{ outline: 3px solid Highlight; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>Plan: {planner}. Text: {realizer}. Cells that the plan uses are coloured
and lead to their sentence; a dashed frame marks what its sentence does not
say.</p>
<h2 id="report">Report</h2>
<ol>
{sentences}
</ol>
<h2 id="teams">Teams</h2>
{teams}
<h2 id="players">Players</h2>
{players}
</body>
</html>
"""

# Where an entry is used: its sentences by number, and the entry itself.
_Uses = Mapping[tuple[str, str], Sequence[tuple[int, PlacedEntry]]]


def render_report(report: GameReport) -> str:
  """The page of a report; every text of the game is escaped."""
  uses: dict[tuple[str, str], list[tuple[int, PlacedEntry]]] = {}
  for number, sentence in enumerate(report.sentences, start=1):
    for entry in sentence.entries:
      key = entry.relation.entity, entry.relation.type
      uses.setdefault(key, []).append((number, entry))
  ids = {key: f'cell-{i}' for i, key in enumerate(uses)}
  game = report.game
  tables = {
    kind: _table(report, kind, entities, uses, ids)
    for kind, entities in (
      ('team', [team.entity for team in game.teams]),
      ('player', [player.entity for player in game.players]),
    )
  }
  names = ' and '.join(team.entity for team in game.teams)
  return _PAGE.format(
    title=escape(f'{names}, {game.date.isoformat()}'),
    planner=escape(report.planner),
    realizer=escape(report.realizer),
    sentences='\n'.join(_sentences(report, ids)),
    teams=tables['team'],
    players=tables['player'],
  )


def _sentences(
  report: GameReport, ids: Mapping[tuple[str, str], str]
) -> Iterable[str]:
  for number, sentence in enumerate(report.sentences, start=1):
    links = dict.fromkeys(entry.relation for entry in sentence.entries)
    yield (
      f'<li id="sentence-{number}">{escape(sentence.text) or "(nothing new)"}'
      f'<br><small>{" ".join(_cell_link(r, ids) for r in links)}</small></li>'
    )


def _cell_link(relation: Relation, ids: Mapping[tuple[str, str], str]) -> str:
  label = escape(f'{relation.entity} {_title(relation.type)}')
  if relation.entity == MATCH:
    return f'<span>{label}</span>'
  return f'<a href="#{ids[relation.entity, relation.type]}">{label}</a>'


def _table(
  report: GameReport,
  kind: str,
  entities: Sequence[str],
  uses: _Uses,
  ids: Mapping[tuple[str, str], str],
) -> str:
  """Entities are rows; columns are types that anybody has a value of."""
  relations = game_table(report.game, max_units=None).relations
  values = {(r.entity, r.type): r.value for r in relations}
  types = [
    type
    for type in rotowire_schema().kinds[kind].templates
    if any((entity, type) in values for entity in entities)
  ]

  def row(entity: str) -> str:
    keys = [(entity, type) for type in types]
    cells = (
      _cell(values.get(key, ''), uses.get(key, ()), ids.get(key))
      for key in keys
    )
    name = f'<th scope="row">{escape(entity)}</th>'
    return f'<tr>{name}{"".join(cells)}</tr>'

  head = ''.join(f'<th scope="col">{escape(_title(t))}</th>' for t in types)
  return (
    f'<div class="table" role="region" tabindex="0" aria-label="{kind}s">'
    f'<table><thead><tr><td></td>{head}</tr></thead>'
    f'<tbody>{"".join(map(row, entities))}</tbody></table></div>'
  )


def _cell(
  value: str, uses: Sequence[tuple[int, PlacedEntry]], id: str | None
) -> str:
  if not uses:
    return f'<td>{escape(value)}</td>'
  number, _ = uses[0]
  numbers = ', '.join(dict.fromkeys(str(number) for number, _ in uses))
  unsaid = all(entry.stated is False for _, entry in uses)
  return (
    f'<td id="{id}" class="used{" unsaid" if unsaid else ""}">'
    f'<a href="#sentence-{number}" title="sentence {numbers}">'
    f'{escape(value)}</a></td>'
  )


def _title(type: str) -> str:
  """`PTS_QTR1` of `TEAM-PTS_QTR1`, in words that fit a column."""
  return type.partition('-')[2].replace('_', ' ').lower()
