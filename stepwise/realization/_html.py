"""A report as one page that needs no other file and no script.

Cells that the plan uses link to their sentence, sentences to their cells; what
a link leads to is marked by the browser itself (`:target`), so that mouse,
finger and keyboard all work.
"""

from collections.abc import Iterable, Mapping, Sequence

from stepwise.pages import Html, html, render_shell, table, tag
from stepwise.realization._report import GameReport, PlacedEntry
from stepwise.rotowire import MATCH, game_table, rotowire_schema
from stepwise.tables import Relation

_STYLE = """:root { --unsaid: #c00000; }
@media (prefers-color-scheme: dark) { :root { --unsaid: #ff8a80; } }
.used { background: var(--mark); }
.used a { color: inherit; display: block; padding: .2rem; }
.unsaid { outline: 2px dashed var(--unsaid); outline-offset: -3px; }
li { margin: .6rem 0; padding: .2rem .4rem; }
:target { box-shadow: inset 0 0 0 3px var(--edge); scroll-margin: 5rem; }
small a { display: inline-block; padding: .15rem .4rem; color: inherit; }
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
  return render_shell(
    f'{names}, {game.date.isoformat()}',
    f'Plan: {report.planner}. Text: {report.realizer}. Cells that the plan uses'
    ' are coloured and lead to their sentence; a dashed frame marks what its'
    ' sentence does not say.',
    html(
      tag('h2', 'Teams', id='teams'),
      tables['team'],
      tag('h2', 'Players', id='players'),
      tables['player'],
    ),
    answer=tag('ol', *_sentences(report, ids)),
    style=_STYLE,
    wide=True,
  )


def _sentences(
  report: GameReport, ids: Mapping[tuple[str, str], str]
) -> Iterable[Html]:
  for number, sentence in enumerate(report.sentences, start=1):
    relations = dict.fromkeys(entry.relation for entry in sentence.entries)
    links = (html(_cell_link(relation, ids), ' ') for relation in relations)
    yield tag(
      'li',
      sentence.text or '(nothing new)',
      tag('br'),
      tag('small', *links),
      id=f'sentence-{number}',
    )


def _cell_link(relation: Relation, ids: Mapping[tuple[str, str], str]) -> Html:
  label = f'{relation.entity} {_title(relation.type)}'
  if relation.entity == MATCH:
    return tag('span', label)
  return tag('a', label, href=f'#{ids[relation.entity, relation.type]}')


def _table(
  report: GameReport,
  kind: str,
  entities: Sequence[str],
  uses: _Uses,
  ids: Mapping[tuple[str, str], str],
) -> Html:
  """Entities are rows; columns are types that anybody has a value of."""
  relations = game_table(report.game, max_units=None).relations
  values = {(r.entity, r.type): r.value for r in relations}
  types = [
    type
    for type in rotowire_schema().kinds[kind].templates
    if any((entity, type) in values for entity in entities)
  ]

  def cells(entity: str) -> list[Html]:
    keys = [(entity, type) for type in types]
    return [
      _cell(values.get(key, ''), uses.get(key, ()), ids.get(key))
      for key in keys
    ]

  header = ['', *map(_title, types)]
  return table(f'{kind}s', header, ((name, cells(name)) for name in entities))


def _cell(
  value: str, uses: Sequence[tuple[int, PlacedEntry]], id: str | None
) -> Html:
  if not uses:
    return tag('td', value)
  number, _ = uses[0]
  numbers = ', '.join(dict.fromkeys(str(number) for number, _ in uses))
  unsaid = all(entry.stated is False for _, entry in uses)
  link = tag(
    'a', value, href=f'#sentence-{number}', title=f'sentence {numbers}'
  )
  return tag('td', link, id=id, class_=f'used{" unsaid" if unsaid else ""}')


def _title(type: str) -> str:
  """`PTS_QTR1` of `TEAM-PTS_QTR1`, in words that fit a column."""
  return type.partition('-')[2].replace('_', ' ').lower()
