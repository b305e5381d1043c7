"""The table that small planners read: short, and with roles in the result.

The paper's table leaves it to the model to find out who won and who scored
most. Here every entry says so: `home winner first starter player points 27 of
...`. Winners come first, then players by points, and entry types that
summaries hardly mention are left out, so that cutting a long table loses
little. Names are left out too: a plan of this table gets them by a rule,
`with_names`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from stepwise.rotowire._games import DATE, MATCH, Game, Player, Team
from stepwise.rotowire._schema import role_schema
from stepwise.tables import (
  Entity,
  Table,
  make_table,
  weekday,
)

MAX_UNITS = 160

_ORDINALS = (
  *('first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'),
  *('eighth', 'ninth', 'tenth', 'eleventh', 'twelfth', 'last'),
)


def role_table(game: Game, *, max_units: int | None = MAX_UNITS) -> Table:
  """Date, winner, loser, and players from the best scorer down."""
  date = game.date
  match = {DATE: date.isoformat(), 'day_of_week': weekday(date)}
  entities = [Entity(MATCH, 'match', match), *_entities(game)]
  return make_table(entities, role_schema(), max_units=max_units, id=game.id)


def by_points(game: Game) -> list[Team]:
  """Winner and loser; home wins a draw."""
  return sorted(game.teams, key=lambda t: -numeric(t.values, 'TEAM-PTS'))


def minus_points(player: Player) -> float:
  """Sorts the best scorers first."""
  return -numeric(player.values, 'PLAYER-PTS')


def numeric(values: Mapping[str, str], type: str) -> float:
  """A number, -1 for a player who did not play."""
  text = values.get(type, '')
  return float(text) if text.isdecimal() else -1.0


def _entities(game: Game) -> Iterator[Entity]:
  teams: dict[str, str] = {}
  for team, result in zip(by_points(game), ('winner', 'loser'), strict=True):
    teams[team.entity] = f'{team.values["TEAM-SIDE"]} {result}'
    yield _with_role(team, 'team', teams[team.entity])
  ranks: Counter[str] = Counter()
  for player in sorted(game.players, key=minus_points):
    rank = _ORDINALS[min(ranks[player.team], len(_ORDINALS) - 1)]
    ranks[player.team] += 1
    position = player.values['PLAYER-START_POSITION']
    start = 'reserve' if position == 'N/A' else 'starter'
    role = f'{teams[player.team]} {rank} {start}'
    yield _with_role(player, 'player', role)


def _with_role(row: Team | Player, kind: str, role: str) -> Entity:
  return Entity(row.entity, kind, {**row.values, 'role': role})
