"""A plan for any game, without a planner."""

from collections.abc import Callable, Iterable, Sequence

from stepwise.realization import known_entries
from stepwise.rotowire import DATE, MATCH, Game, Player, Team
from stepwise.tables import Plan, Relation

# The result, then the best scorers of the winners and of the losers. A sentence
# is one or more players, by rank.
_TEAM = ('TEAM-CITY', 'TEAM-NAME', 'TEAM-WINS', 'TEAM-LOSSES', 'TEAM-PTS')
_NAME = ('PLAYER-FIRST_NAME', 'PLAYER-SECOND_NAME')
_LEADER = (*_NAME, 'PLAYER-PTS', 'PLAYER-REB', 'PLAYER-AST')
_SCORER = (*_NAME, 'PLAYER-PTS')
_PLAYERS = (
  ({0: _LEADER}, {1: _LEADER}, {2: _SCORER, 3: _SCORER}),
  ({0: _LEADER}, {1: (*_SCORER, 'PLAYER-REB'), 2: _SCORER}),
)


def plan_game(game: Game) -> Plan:
  """The usual entries of a report."""
  teams = sorted(game.teams, key=_points('TEAM-PTS'), reverse=True)
  date = Relation(MATCH, game.date.isoformat(), DATE)
  result = [relation for team in teams for relation in _entries(team, _TEAM)]
  plan: list[tuple[Relation, ...]] = [(*result, date)]
  for team, sentences in zip(teams, _PLAYERS, strict=True):
    scorers = [
      player
      for player in game.players
      if player.team == team.entity and player.values['PLAYER-PTS'] != 'N/A'
    ]
    scorers.sort(key=_points('PLAYER-PTS'), reverse=True)
    for sentence in sentences:
      chosen = ((scorers[i : i + 1], types) for i, types in sentence.items())
      plan.append(
        tuple(
          relation
          for players, types in chosen
          for player in players
          for relation in _entries(player, types)
        )
      )
  return known_entries(tuple(plan), game)


def _entries(row: Team | Player, types: Sequence[str]) -> Iterable[Relation]:
  return (Relation(row.entity, row.values[type], type) for type in types)


def _points(type: str) -> Callable[[Team | Player], int]:
  def points(row: Team | Player) -> int:
    value = row.values[type]
    return int(value) if value.isdecimal() else -1

  return points
