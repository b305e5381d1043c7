"""Two planners that learn nothing but habits, to compare models with.

Plans are carried from game to game by roles. Roles of the `table` are places
in it: home team, visitors, rows of the box score. Roles of the `result` know
the sport: winner, loser, and their players by points.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from stepwise._errors import InputError
from stepwise.rotowire._games import (
  MATCH,
  NAME_TYPES,
  ROLE_TYPES,
  Game,
  game_table,
)
from stepwise.rotowire._role_table import by_points, minus_points, numeric
from stepwise.tables import Plan, Relation

# Players of each team that games are compared by.
_COMPARED_PLAYERS = 5
_COMPARED_TYPES = ('PLAYER-PTS', 'PLAYER-REB', 'PLAYER-AST')

Roles = Literal['table', 'result']


class _Slot(NamedTuple):
  """An entry without its game: (`first 2`, `PLAYER-PTS`)."""

  role: str
  type: str


def frequent_entry_plans(
  games: Sequence[Game],
  training_games: Sequence[Game],
  training_plans: Sequence[Plan],
  *,
  roles: Roles = 'result',
) -> list[Plan]:
  """Plans of the entries that most training plans have, in their usual order.

  As many entries and sentences as training plans have on average. An entry is
  in the sentence, and at the place in it, where it is first chosen on average.
  """
  _check(training_games, training_plans)
  template = _usual_plan(
    [
      _slots(plan, _roles(game, roles))
      for game, plan in zip(training_games, training_plans, strict=True)
    ]
  )
  return [_fill(template, game, roles) for game in games]


def nearest_game_plans(
  games: Sequence[Game],
  training_games: Sequence[Game],
  training_plans: Sequence[Plan],
  *,
  roles: Roles = 'result',
) -> list[Plan]:
  """The plan of the most similar training game, with values of this one.

  Games are similar if the statistics of winners and losers and of their best
  scorers are: by Euclidean distance, each divided by its deviation. The first
  of equals is taken.
  """
  _check(training_games, training_plans)
  known = np.stack([_features(game) for game in training_games])
  mean, scale = _mean_and_scale(known)
  known = np.nan_to_num((known - mean[None]) / scale[None])
  plans = []
  for game in games:
    features = np.nan_to_num((_features(game) - mean) / scale)
    nearest = int(np.argmin(np.sum((known - features[None]) ** 2, axis=1)))
    nearest_roles = _roles(training_games[nearest], roles)
    slots = _slots(training_plans[nearest], nearest_roles)
    plans.append(_fill(slots, game, roles))
  return plans


def _check(games: Sequence[Game], plans: Sequence[Plan]) -> None:
  if not games or len(games) != len(plans):
    raise InputError(
      f'{len(games)} training games and {len(plans)} plans: as many of each '
      'are needed, and at least one.'
    )


def _roles(game: Game, roles: Roles) -> dict[str, str]:
  """The role of every entity."""
  if roles == 'table':
    first, second = game.teams
    players = list(game.players)
  else:
    first, second = by_points(game)
    players = sorted(game.players, key=minus_points)
  found = {MATCH: MATCH, first.entity: 'first', second.entity: 'second'}
  ranks: Counter[str] = Counter()
  for player in players:
    ranks[player.team] += 1
    found[player.entity] = f'{found[player.team]} {ranks[player.team]}'
  return found


def _slots(plan: Plan, roles: Mapping[str, str]) -> list[list[_Slot]]:
  return [
    [_Slot(roles[r.entity], r.type) for r in sentence if r.entity in roles]
    for sentence in plan
  ]


def _fill(slots: Sequence[Sequence[_Slot]], game: Game, roles: Roles) -> Plan:
  """The slots that this game has entries for, as a plan."""
  role_of = _roles(game, roles)
  relations: dict[_Slot, Relation] = {}
  for entry in game_table(game, max_units=None).entries:
    relation = entry.relation
    relations[_Slot(role_of[relation.entity], relation.type)] = relation
  sentences = (
    tuple(relations[slot] for slot in sentence if slot in relations)
    for sentence in slots
  )
  return tuple(sentence for sentence in sentences if sentence)


def _usual_plan(
  plans: Sequence[Sequence[Sequence[_Slot]]],
) -> list[list[_Slot]]:
  counts: Counter[_Slot] = Counter()
  places: dict[_Slot, list[tuple[float, float]]] = defaultdict(list)
  for plan in plans:
    for slot, place in _first_places(plan).items():
      counts[slot] += 1
      places[slot].append(place)
  entries = round(counts.total() / len(plans))
  sentences = max(round(sum(map(len, plans)) / len(plans)), 1)
  usual: list[list[_Slot]] = [[] for _ in range(sentences)]
  mean = {slot: np.mean(found, axis=0) for slot, found in places.items()}
  chosen = [slot for slot, _ in counts.most_common(entries)]
  for slot in sorted(chosen, key=lambda slot: mean[slot][1]):
    usual[int(mean[slot][0] * sentences)].append(slot)
  return usual


def _first_places(
  plan: Sequence[Sequence[_Slot]],
) -> dict[_Slot, tuple[float, float]]:
  """Where slots first appear: sentence and entry, as shares of the plan."""
  total = sum(map(len, plan))
  slots = chain.from_iterable(
    ((slot, index) for slot in sentence) for index, sentence in enumerate(plan)
  )
  places: dict[_Slot, tuple[float, float]] = {}
  for position, (slot, sentence) in enumerate(slots):
    places.setdefault(slot, (sentence / len(plan), position / total))
  return places


def _mean_and_scale(
  values: Float[np.ndarray, 'games features'],
) -> tuple[Float[np.ndarray, ' features'], Float[np.ndarray, ' features']]:
  """Of the values that are known; 1 is the scale of what does not vary."""
  known = np.maximum(np.sum(~np.isnan(values), axis=0), 1)
  mean = np.nansum(values, axis=0) / known
  variance = np.nansum((values - mean[None]) ** 2, axis=0) / known
  return mean, np.where(variance > 0, np.sqrt(variance), 1)


def _features(game: Game) -> Float[np.ndarray, ' features']:
  """Statistics of winner and loser and their best scorers; NaN is unknown."""
  features = []
  for team in by_points(game):
    types = [t for t in sorted(team.values) if t not in NAME_TYPES | ROLE_TYPES]
    features += [numeric(team.values, type) for type in types]
    players = [p for p in game.players if p.team == team.entity]
    best = sorted(players, key=minus_points)[:_COMPARED_PLAYERS]
    rows = [[numeric(p.values, t) for t in _COMPARED_TYPES] for p in best]
    absent = [[-1.0] * len(_COMPARED_TYPES)] * (_COMPARED_PLAYERS - len(rows))
    features += chain.from_iterable(rows + absent)
  known = np.array(features)
  return np.where(known < 0, np.nan, known)
