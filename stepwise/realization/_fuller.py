"""Entries that people often say beside those of a plan."""

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from stepwise.rotowire import (
  FIRST_NAME,
  NAME_TYPES,
  SECOND_NAME,
  Game,
  Player,
)
from stepwise.tables import Plan, Relation

_POINTS = 'PLAYER-PTS'
# Said of whoever's points are said, from so many on. Chosen on training games,
# as the number of players below: so that BLEU rises and F1 of content selection
# does not fall.
_COUNTS = {
  'PLAYER-REB': 3,
  'PLAYER-AST': 3,
  'PLAYER-STL': 3,
  'PLAYER-BLK': 3,
}
# More of those who scored so many, in sentences of their own.
_LEAST_POINTS = 10
_MOST_PLAYERS = 2


class _Scorer(NamedTuple):
  points: int
  player: Player


def fuller_plan(plan: Plan, game: Game) -> Plan:
  """A plan with more of the table, as long as what people write.

  Whoever's points are planned gets his other counts, unless they are few; and
  the best scorers whom the plan forgets get a sentence, after those of their
  team.
  """
  players = {player.entity: player for player in game.players}
  planned = {(r.entity, r.type) for sentence in plan for r in sentence}
  sentences = []
  for sentence in plan:
    sentences.append(_with_counts(sentence, players, planned))
    planned |= {(r.entity, r.type) for r in sentences[-1]}
  named = {entity for entity, _ in planned}
  missed = [_Scorer(_number(p, _POINTS), p) for p in game.players]
  missed = [s for s in missed if s.player.entity not in named]
  missed.sort(key=attrgetter('points'), reverse=True)
  for points, player in missed[:_MOST_PLAYERS]:
    if points >= _LEAST_POINTS:
      place = _after_mates(sentences, player, players)
      sentences.insert(place, _scored(player))
  return tuple(sentences)


def _with_counts(
  sentence: Sequence[Relation],
  players: dict[str, Player],
  planned: set[tuple[str, str]],
) -> tuple[Relation, ...]:
  """A sentence with what is left to say of its scorers."""
  told = list(sentence)
  for entity in dict.fromkeys(r.entity for r in sentence if r.type == _POINTS):
    last = max(i for i, r in enumerate(told) if r.entity == entity)
    told[last + 1 : last + 1] = [
      Relation(entity, players[entity].values[type], type)
      for type, least in _COUNTS.items()
      if (entity, type) not in planned
      and _number(players[entity], type) >= least
    ]
  return tuple(told)


def _scored(player: Player) -> tuple[Relation, ...]:
  values = player.values
  return tuple(
    Relation(player.entity, values[type], type)
    for type in (FIRST_NAME, SECOND_NAME, _POINTS)
    if type not in NAME_TYPES or values[type] != 'N/A'
  )


def _after_mates(
  sentences: Sequence[Sequence[Relation]],
  player: Player,
  players: dict[str, Player],
) -> int:
  """Where the sentences on players of a team end."""
  places = [
    place
    for place, sentence in enumerate(sentences, start=1)
    for relation in sentence
    if relation.entity in players
    and players[relation.entity].team == player.team
  ]
  return max(places, default=len(sentences))


def _number(player: Player, type: str) -> int:
  value = player.values.get(type, '')
  return int(value) if value.isdecimal() else 0
