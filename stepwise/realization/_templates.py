"""The template realizer: plain sentences that say what a plan says.

It invents nothing: whatever it writes is an entry of the plan, or who plays
for whom and where, which the table always tells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepwise.realization._realizer import Sentences, check_plans
from stepwise.rotowire import (
  DATE,
  NAME_TYPES,
  PLAYER_TEAM,
  START_POSITION,
  Game,
  Team,
)
from stepwise.tables import Plan, Relation, weekday

# What follows the value, for one and for more.
_COUNTS = {
  'PTS': ('point', 'points'),
  'REB': ('rebound', 'rebounds'),
  'AST': ('assist', 'assists'),
  'STL': ('steal', 'steals'),
  'BLK': ('block', 'blocks'),
  'OREB': ('offensive rebound', 'offensive rebounds'),
  'DREB': ('defensive rebound', 'defensive rebounds'),
  'TO': ('turnover', 'turnovers'),
  'TOV': ('turnover', 'turnovers'),
  'PF': ('foul', 'fouls'),
  'WINS': ('win', 'wins'),
  'LOSSES': ('loss', 'losses'),
}
_SHOTS = {
  'FG': ('field goal', 'from the field'),
  'FG3': ('three-pointer', 'from three-point range'),
  'FT': ('free throw', 'from the free-throw line'),
}
_QUARTERS = {
  f'PTS_QTR{number}': f'in the {name} quarter'
  for number, name in enumerate(('first', 'second', 'third', 'fourth'), 1)
}
_POSITIONS = {'G': 'guard', 'F': 'forward', 'C': 'center'}
_SIDES = {'home': 'at home', 'away': 'on the road'}


@dataclass(frozen=True)
class TemplateRealizer:
  """Writes without a model; the same plan always gives the same text."""

  name: str = 'template'

  def realize(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[Sentences]:
    check_plans(games, plans)
    pairs = zip(games, plans, strict=True)
    return [_Report(game).write(plan) for game, plan in pairs]


class _Report:
  """A report while it is written: remembers who was named in full."""

  def __init__(self, game: Game):
    self._game = game
    self._teams = {team.entity: team for team in game.teams}
    self._players = {player.entity: player for player in game.players}
    self._named: set[str] = set()

  def write(self, plan: Plan) -> Sentences:
    """Sentences, empty where one would only repeat what was written."""
    written: list[str] = []
    for sentence in plan:
      text = self._sentence(sentence)
      written.append('' if text in written else text)
    return tuple(written)

  def _sentence(self, sentence: Sequence[Relation]) -> str:
    said, clauses = _by_entity(sentence), []
    if any(relation.type == DATE for relation in sentence):
      day = f'on {weekday(self._game.date)}'
      silent = all(map(_is_silent, said.values()))
      clauses = [] if silent else list(self._clauses(said))
      clauses[:1] = [f'{clauses[0] if clauses else self._meeting()} {day}']
    clauses = clauses or list(self._clauses(said))
    text = _join_clauses(clauses)
    return f'{text[:1].upper()}{text[1:]}.' if text else ''

  def _clauses(self, said: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A clause for every entity, in the order they are first spoken of."""
    teams = [entity for entity in said if entity in self._teams]
    result = self._result(said) if len(teams) == 2 else ''
    silent = [entity for entity in teams if _is_silent(said[entity])]
    if result:
      yield result
    elif len(silent) == len(said) == 2:
      yield self._meeting()
      return
    spoken = {'TEAM-PTS', 'TEAM-WINS', 'TEAM-LOSSES'} if result else set()
    for entity, values in said.items():
      left = {t: v for t, v in values.items() if t not in spoken}
      facts = _facts(left)
      if _is_silent(left) and len(said) > 1 and self._is_known(entity, said):
        continue
      if entity in self._players:
        yield self._player(entity, left, facts)
      elif facts:
        yield f'{self._team(entity, left)} {_predicate(facts)}'
      else:
        yield self._place(entity, left)

  def _is_known(
    self, entity: str, said: Mapping[str, Mapping[str, str]]
  ) -> bool:
    """Whether the name alone says nothing new."""
    of_players = {self._players[e].team for e in said if e in self._players}
    return entity in self._named or entity in of_players

  def _result(self, said: Mapping[str, Mapping[str, str]]) -> str:
    """`The Herons (12-3) defeated the Comets (6-9) 104-92`."""
    teams = [self._teams[e] for e in said if e in self._teams]
    if any('TEAM-PTS' not in said[team.entity] for team in teams):
      return ''
    winner, loser = sorted(teams, key=_points, reverse=True)
    names = [
      self._team(team.entity, said[team.entity], record=True)
      for team in (winner, loser)
    ]
    scores = [team.values['TEAM-PTS'] for team in (winner, loser)]
    verb = 'tied with' if len(set(scores)) == 1 else 'defeated'
    return f'{names[0]} {verb} {names[1]} {"-".join(scores)}'

  def _meeting(self) -> str:
    home, visitor = (self._team(team.entity, {}) for team in self._game.teams)
    return f'{home} hosted {visitor}'

  def _place(self, entity: str, values: Mapping[str, str]) -> str:
    side = _SIDES[self._teams[entity].values['TEAM-SIDE']]
    return f'{self._team(entity, values)} played {side}'

  def _team(
    self, entity: str, values: Mapping[str, str], record: bool = False
  ) -> str:
    team = self._teams[entity]
    name = f'the {entity if entity not in self._named else team.name}'
    self._named.add(entity)
    wins, losses = values.get('TEAM-WINS'), values.get('TEAM-LOSSES')
    if wins and losses:
      name += f' ({wins}-{losses})'
    elif record and (wins or losses):
      counted = 'WINS' if wins else 'LOSSES'
      name += f' ({_count(counted, wins or losses or "")})'
    return name

  def _player(
    self, entity: str, values: Mapping[str, str], facts: Mapping[str, str]
  ) -> str:
    name = self._player_name(entity)
    position = _POSITIONS.get(values.get(START_POSITION, ''))
    if not facts:
      role = f'the starting {position}' if position else 'a player'
      return f'{name} is {role} of {self._team(self._team_of(entity), {})}'
    if position:
      name = f'starting {position} {name}'
    if PLAYER_TEAM in values:
      name += f' of {self._team(self._team_of(entity), {})}'
    return f'{name} {_predicate(facts)}'

  def _player_name(self, entity: str) -> str:
    player = self._players[entity]
    first_time = entity not in self._named
    self._named.add(entity)
    # A surname may be missing, or a name of somebody else as well.
    others = (p for p in self._players.values() if p.entity != entity)
    shared = {name for p in others for name in (p.first_name, p.second_name)}
    if first_time or player.second_name in {'N/A', *shared}:
      return entity
    return player.second_name

  def _team_of(self, entity: str) -> str:
    return self._players[entity].team


def _by_entity(
  sentence: Sequence[Relation],
) -> dict[str, dict[str, str]]:
  """Values by entity and type, without the date; what is repeated, once."""
  said: dict[str, dict[str, str]] = {}
  for entity, value, type in sentence:
    if type != DATE:
      said.setdefault(entity, {})[type] = value
  return said


# Said with the name, not in the predicate.
_ROLES = frozenset({START_POSITION, PLAYER_TEAM})


def _is_silent(values: Mapping[str, str]) -> bool:
  """Whether an entity is only named."""
  return values.keys() <= NAME_TYPES


def _facts(values: Mapping[str, str]) -> dict[str, str]:
  """What a predicate is made of, by statistic; a whole record is a name's."""
  facts = {t: v for t, v in values.items() if t not in NAME_TYPES | _ROLES}
  if {'TEAM-WINS', 'TEAM-LOSSES'} <= facts.keys():
    del facts['TEAM-WINS'], facts['TEAM-LOSSES']
  return {type.partition('-')[2]: value for type, value in facts.items()}


def _predicate(facts: Mapping[str, str]) -> str:
  """`had 31 points, 4 rebounds and 12 assists in 36 minutes, shooting ...`."""
  counts = [_count(s, v) for s, v in facts.items() if s in _COUNTS]
  shots = list(_shooting(facts))
  counts += [text for is_count, text in shots if is_count]
  rates = [text for is_count, text in shots if not is_count]
  quarters = [
    f'{_count("PTS", facts[statistic])} {when}'
    for statistic, when in _QUARTERS.items()
    if statistic in facts
  ]
  parts = []
  if counts:
    parts.append(f'had {_list(counts)}')
  if quarters:
    parts.append(f'scored {_list(quarters)}')
  if rates:
    parts.append(f'shot {_list(rates)}')
  if 'MIN' in facts:
    minutes = f'{facts["MIN"]} {"minute" if facts["MIN"] == "1" else "minutes"}'
    parts = parts or ['played']
    parts[0] += f' in {minutes}' if parts[0] != 'played' else f' {minutes}'
  if 'SIDE' in facts:
    parts = parts or ['played']
    parts[-1] += f' {_SIDES[facts["SIDE"]]}'
  return _list(parts)


def _shooting(facts: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
  """Shots as (whether it is a count, text)."""
  for shot, (noun, where) in _SHOTS.items():
    made, tried = facts.get(f'{shot}M'), facts.get(f'{shot}A')
    if made is not None and tried is not None:
      yield False, f'{made}-of-{tried} {where}'
    elif made is not None:
      yield True, f'{made} {noun}{"" if made == "1" else "s"}'
    elif tried is not None:
      attempts = 'attempt' if tried == '1' else 'attempts'
      yield True, f'{tried} {noun.replace(" ", "-")} {attempts}'
    if f'{shot}_PCT' in facts:
      yield False, f'{facts[f"{shot}_PCT"]} percent {where}'


def _count(statistic: str, value: str) -> str:
  return f'{value} {_COUNTS[statistic][value != "1"]}'


def _list(items: Sequence[str]) -> str:
  """`a`, `a and b`, `a, b and c`."""
  *before, last = items
  return f'{", ".join(before)} and {last}' if before else last


def _join_clauses(clauses: Sequence[str]) -> str:
  if len(clauses) == 2:
    return ', while '.join(clauses)
  return '; '.join(clauses)


def _points(team: Team) -> int:
  return int(team.values['TEAM-PTS'])
