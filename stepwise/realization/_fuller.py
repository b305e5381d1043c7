"""Entries that people often say beside those of a plan."""

from collections.abc import Container, Mapping, Sequence

from stepwise.realization._course import Course
from stepwise.rotowire import (
  FIRST_NAME,
  MATCH,
  NAME_TYPES,
  PLAYER_TEAM,
  SECOND_NAME,
  START_POSITION,
  Game,
  Player,
)
from stepwise.tables import Plan, Relation

_POINTS = 'PLAYER-PTS'
# Said of whoever's points are said and at least ten, from so many on. Chosen on
# training games, as the number of players below: so that BLEU rises and F1 of
# content selection does not fall.
_COUNTS = {
  'PLAYER-REB': 3,
  'PLAYER-AST': 3,
  'PLAYER-STL': 3,
  'PLAYER-BLK': 3,
}
_LEAST_POINTS = 10
# More of those who scored so many.
_MOST_PLAYERS = 2
_RECORD = ('TEAM-WINS', 'TEAM-LOSSES')
# Sentences of two players have at most so many numbers.
_MOST_NUMBERS = 4
# As people say what somebody did: points, the shots they come from, the rest.
_ORDER = (
  *(FIRST_NAME, SECOND_NAME, START_POSITION, PLAYER_TEAM, _POINTS),
  *('PLAYER-FGM', 'PLAYER-FGA', 'PLAYER-FG3M', 'PLAYER-FG3A'),
  *('PLAYER-FTM', 'PLAYER-FTA', 'PLAYER-REB', 'PLAYER-AST', 'PLAYER-STL'),
  'PLAYER-BLK',
)
_PLACES = {type: place for place, type in enumerate(_ORDER)}

Sentence = tuple[Relation, ...]


def fuller_plan(plan: Plan, game: Game) -> Plan:
  """A plan with more of the table, in the order in which people tell it.

  Whoever's points are planned gets his other counts, unless they are few; the
  best scorers whom the plan forgets are told, too. First come the teams, then
  the players of the team that the plan speaks of first, then those of the
  other: the best scorer, who started, who came from the bench.
  """
  players = {player.entity: player for player in game.players}
  told: dict[str, list[Relation]] = {}
  for relation in dict.fromkeys(r for s in plan for r in s):
    if relation.entity in players:
      told.setdefault(relation.entity, []).append(relation)
  rows = [
    _row(players[entity], relations) for entity, relations in told.items()
  ]
  rows += map(_scored, _forgotten(game, told))
  course = Course(game)
  order = list(dict.fromkeys(players[row[0].entity].team for row in rows))
  rows.sort(key=lambda row: _rank(players[row[0].entity], order, course))
  return (*_of_teams(plan, game), *_in_sentences(rows, players, course))


def _of_teams(plan: Plan, game: Game) -> list[Sentence]:
  """What is planned of teams; beside a final score records are whole."""
  teams = {team.entity: team for team in game.teams}
  planned = {relation for sentence in plan for relation in sentence}
  sentences = []
  for sentence in plan:
    told = [r for r in sentence if r.entity in teams or r.entity == MATCH]
    for team in [teams[r.entity] for r in told if r.type == 'TEAM-PTS']:
      record = (Relation(team.entity, team.values[t], t) for t in _RECORD)
      told += [r for r in record if r not in planned and r.value.isdecimal()]
    if told:
      sentences.append(tuple(told))
  return sentences


def _forgotten(game: Game, told: Container[str]) -> list[Player]:
  """The best scorers of whom nothing is told."""
  others = [p for p in game.players if p.entity not in told]
  others.sort(key=_points, reverse=True)
  return [p for p in others[:_MOST_PLAYERS] if _points(p) >= _LEAST_POINTS]


def _row(player: Player, relations: Sequence[Relation]) -> Sentence:
  """What is told of a player, with his other counts."""
  told = {relation.type for relation in relations}
  scored = _POINTS in told and _points(player) >= _LEAST_POINTS
  added = [
    Relation(player.entity, player.values[type], type)
    for type, least in _COUNTS.items()
    if scored and type not in told and _number(player, type) >= least
  ]
  return tuple(
    sorted(
      (*relations, *added), key=lambda r: _PLACES.get(r.type, len(_PLACES))
    )
  )


def _rank(
  player: Player, teams: Sequence[str], course: Course
) -> tuple[int, bool, bool, int]:
  return (
    teams.index(player.team),
    not course.leads_team(player),
    course.from_bench(player),
    -_points(player),
  )


def _in_sentences(
  rows: Sequence[Sentence], players: Mapping[str, Player], course: Course
) -> list[Sentence]:
  """Players one by one, or two mates of whom there is little to say."""
  sentences: list[Sentence] = []
  pair = False
  for row in rows:
    player = players[row[0].entity]
    before = sentences[-1] if sentences else ()
    mate = players[before[0].entity] if before else None
    pair = bool(
      mate
      and not pair
      and mate.team == player.team
      and not course.leads_team(mate)
      and _numbers(before) + _numbers(row) <= _MOST_NUMBERS
    )
    if pair:
      sentences[-1] = (*before, *row)
    else:
      sentences.append(row)
  return sentences


def _numbers(sentence: Sentence) -> int:
  return sum(relation.type not in NAME_TYPES for relation in sentence)


def _scored(player: Player) -> Sentence:
  values = player.values
  return tuple(
    Relation(player.entity, values[type], type)
    for type in (FIRST_NAME, SECOND_NAME, _POINTS)
    if type not in NAME_TYPES or values[type] != 'N/A'
  )


def _points(player: Player) -> int:
  return _number(player, _POINTS)


def _number(player: Player, type: str) -> int:
  value = player.values.get(type, '')
  return int(value) if value.isdecimal() else 0
