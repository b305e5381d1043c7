"""Rotowire box scores: reading games, and the table of a game."""

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise.data import open_for_reading
from stepwise.rotowire._schema import rotowire_schema
from stepwise.rotowire._sportsett import from_sportsett, is_sportsett
from stepwise.tables import MAX_UNITS, Entity, Table, make_table

MATCH = 'match'
DATE = 'MATCH-DATE'
TEAM_NAME = 'TEAM-NAME'
TEAM_CITY = 'TEAM-CITY'
FIRST_NAME = 'PLAYER-FIRST_NAME'
SECOND_NAME = 'PLAYER-SECOND_NAME'
TEAM_SIDE = 'TEAM-SIDE'
PLAYER_TEAM = 'PLAYER-TEAM'
START_POSITION = 'PLAYER-START_POSITION'
# Entries that the field's extractors do not look for.
NAME_TYPES = frozenset({TEAM_NAME, TEAM_CITY, FIRST_NAME, SECOND_NAME, DATE})
# Entries that no extractor looks for.
ROLE_TYPES = frozenset({TEAM_SIDE, PLAYER_TEAM, START_POSITION})

# Columns of a box score that give an entry no value of their own.
_IDENTITY = ('PLAYER_NAME', 'TEAM_CITY')
# Types that the box score does not have as a column.
_DERIVED = (TEAM_SIDE, PLAYER_TEAM)


@dataclass(frozen=True)
class Team:
  """A line of a game; `values` has its entries by type."""

  name: str
  city: str
  values: Mapping[str, str]

  @property
  def entity(self) -> str:
    return f'{self.city} {self.name}'


@dataclass(frozen=True)
class Player:
  """A row of the box score; `team` is the entity of its team."""

  entity: str
  first_name: str
  second_name: str
  team: str
  values: Mapping[str, str]


@dataclass(frozen=True)
class Game:
  """A box score and, if there is one, its summary, white space tidied."""

  id: str
  date: datetime.date
  home: Team
  visitor: Team
  players: tuple[Player, ...]
  summary: str = ''

  @property
  def teams(self) -> tuple[Team, Team]:
    return self.home, self.visitor

  @cached_property
  def values(self) -> dict[str, dict[str, str]]:
    """Values by entity and type, of teams and players."""
    rows = (*self.teams, *self.players)
    return {row.entity: dict(row.values) for row in rows}


def read_games(path: str | os.PathLike[str]) -> list[Game]:
  """Reads a JSON list of games, a game a line, or a single game.

  A game of Rotowire has `home_line`, `vis_line`, `box_score`, `day` and perhaps
  `summary` (tokens or a string); one of SportSett `game`, `teams` and perhaps
  `summaries`, of which the first is taken. Its id is the name of the file and
  its place in the list, counted from 0. The file may be compressed (`.gz`,
  `.zst`).
  """
  path = Path(path)
  with open_for_reading(path) as stream:
    content = stream.read()
  try:
    games = _parse(content)
  except ValueError as error:
    raise InputError(f'{path}: not JSON: {error}') from error
  if isinstance(games, dict):
    games = [games]
  if not isinstance(games, list) or not games:
    raise InputError(f'{path}: a list of one or more games is needed.')
  parsed = []
  for number, game in enumerate(games):
    try:
      parsed.append(parse_game(game, id=f'{path.name}:{number}'))
    except InputError as error:
      raise InputError(f'{path}: game {number}: {error}') from error
  return parsed


def _parse(content: bytes) -> Any:
  """One value, or one a line."""
  lines = [line for line in content.splitlines() if line.strip()]
  if len(lines) > 1 and lines[0].strip().endswith(b'}'):
    return [json.loads(line) for line in lines]
  return json.loads(content)


def sample_game() -> Path:
  """The file of an invented game, written for the project."""
  return Path(str(resources.files('stepwise.rotowire'))) / 'sample_game.json'


def parse_game(fields: Any, *, id: str = '') -> Game:
  """A game from the fields of its JSON; a bad one is named in the error."""
  if not isinstance(fields, dict):
    raise InputError(f'an object is needed, not {type(fields).__name__}.')
  if is_sportsett(fields):
    fields = from_sportsett(fields)
  home = _team(_object(fields, 'home_line'), 'home_line', 'home')
  visitor = _team(_object(fields, 'vis_line'), 'vis_line', 'away')
  if home.entity == visitor.entity:
    raise InputError(f'home_line and vis_line are both {home.entity!r}.')
  rows = _rows(_object(fields, 'box_score'))
  return Game(
    id=id,
    date=_date(fields.get('day')),
    home=home,
    visitor=visitor,
    players=_players(rows, home, visitor),
    summary=_summary(fields.get('summary', '')),
  )


def game_table(game: Game, *, max_units: int | None = MAX_UNITS) -> Table:
  """The units of a game: its date, home team, visitors, and all players."""
  date = game.date
  match = {
    DATE: date.isoformat(),
    'year': f'{date.year:04}',
    'month': f'{date.month:02}',
    'day': f'{date.day:02}',
    'day_of_week': str(date.weekday()),
  }
  entities = [
    Entity(MATCH, 'match', match),
    *(Entity(team.entity, 'team', team.values) for team in game.teams),
    *(Entity(p.entity, 'player', p.values) for p in game.players),
  ]
  return make_table(
    entities, rotowire_schema(), max_units=max_units, id=game.id
  )


def _object(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
  value = fields.get(key)
  if not isinstance(value, dict):
    raise InputError(f'{key!r} must be an object, not {value!r:.40}.')
  return value


def _cell(fields: Mapping[str, Any], key: str, place: str) -> str:
  value = fields.get(key)
  if not isinstance(value, str | int | float) or value == '':
    raise InputError(f'{place}: {key!r} is {value!r:.40}; text is needed.')
  return str(value)


def _types(kind: str) -> list[str]:
  """Entry types that a game's JSON must give for a team or a player."""
  templates = rotowire_schema().kinds[kind].templates
  return [type for type in templates if type not in _DERIVED]


def _team(line: Mapping[str, Any], place: str, side: str) -> Team:
  values = {type: _cell(line, type, place) for type in _types('team')}
  values[TEAM_SIDE] = side
  return Team(values[TEAM_NAME], values[TEAM_CITY], values)


def _rows(box: Mapping[str, Any]) -> list[dict[str, str]]:
  """The box score by player, from its columns by name and row number."""
  columns = {name: _object(box, name) for name in _box_columns()}
  return [
    {
      name: _cell(column, row, f'box_score.{name}')
      for name, column in columns.items()
    }
    for row in columns['PLAYER_NAME']
  ]


def _box_columns() -> list[str]:
  stats = [type.removeprefix('PLAYER-') for type in _types('player')]
  return [*_IDENTITY, *stats]


def _players(
  rows: Sequence[dict[str, str]], home: Team, visitor: Team
) -> tuple[Player, ...]:
  if home.city == visitor.city:
    teams = _teams_by_points(rows, home, visitor)
  else:
    by_city = {team.city: team for team in (home, visitor)}
    teams = [_team_of(row, by_city) for row in rows]
  return tuple(map(_player, rows, teams))


def _team_of(row: Mapping[str, str], by_city: Mapping[str, Team]) -> Team:
  city = row['TEAM_CITY']
  if city not in by_city:
    raise InputError(
      f'box_score.TEAM_CITY: {row["PLAYER_NAME"]!r} plays for {city!r}; the '
      f'teams are from {list(by_city)}.'
    )
  return by_city[city]


def _teams_by_points(
  rows: Sequence[Mapping[str, str]], home: Team, visitor: Team
) -> list[Team]:
  """Teams of one city: each is a block of rows that opens with starters.

  The first block belongs to the team whose points its players scored, to the
  visitors, who come first elsewhere, if that does not tell.
  """
  starters = [row['START_POSITION'] != 'N/A' for row in rows]
  second = next(
    (i for i in range(1, len(rows)) if starters[i] and not starters[i - 1]),
    len(rows),
  )
  points = sum(int(row['PTS']) for row in rows[:second] if row['PTS'].isdigit())
  first, other = visitor, home
  if home.values['TEAM-PTS'] == str(points) != visitor.values['TEAM-PTS']:
    first, other = home, visitor
  return [first] * second + [other] * (len(rows) - second)


def _player(row: Mapping[str, str], team: Team) -> Player:
  values = {
    f'PLAYER-{name}': value
    for name, value in row.items()
    if name not in _IDENTITY
  }
  values[PLAYER_TEAM] = team.entity
  return Player(
    entity=row['PLAYER_NAME'],
    first_name=row['FIRST_NAME'],
    second_name=row['SECOND_NAME'],
    team=team.entity,
    values=values,
  )


def _date(day: Any) -> datetime.date:
  try:
    return datetime.datetime.strptime(day, '%m_%d_%y').date()
  except (TypeError, ValueError):
    raise InputError(
      f"'day' is {day!r}; month, day and year are needed, as in '12_25_16'."
    ) from None


def _summary(value: Any) -> str:
  tokens = value.split() if isinstance(value, str) else value
  if not isinstance(tokens, list) or not all(
    isinstance(token, str) for token in tokens
  ):
    raise InputError("'summary' must be a string or a list of tokens.")
  return ' '.join(tokens)
