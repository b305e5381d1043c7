"""Games as SportSett exports them, in the layout of Rotowire.

A game has `game` (day, month in words, year), `teams` with `home` and `vis`
(name, place, wins, losses, `line_score` by part of the game, `box_score` by
player) and `summaries`; numbers are text. Halves are ignored: the export has
the digits of their quarters beside each other.
"""

import calendar
from collections.abc import Iterator, Mapping
from typing import Any

from stepwise._errors import InputError

_SIDES = {'home': 'home_line', 'vis': 'vis_line'}
# What Rotowire calls what SportSett calls otherwise.
_TEAM = {
  **{f'TEAM-{name}': name for name in ('PTS', 'AST', 'TOV')},
  **{f'TEAM-{name}_PCT': f'{name}_PCT' for name in ('FG', 'FG3', 'FT')},
  'TEAM-REB': 'TREB',
}
_PLAYER = {
  **{name: name for name in ('MIN', 'PTS', 'AST', 'STL', 'BLK', 'PF')},
  **{
    f'{shot}{part}': f'{shot}{part}'
    for shot in ('FG', 'FG3', 'FT')
    for part in ('M', 'A', '_PCT')
  },
  **{name: name for name in ('OREB', 'DREB')},
  'REB': 'TREB',
  'TO': 'TOV',
}
_MONTHS = {name: number for number, name in enumerate(calendar.month_name)}
_NOTHING = 'N/A'
_STARTER = 'starter'


def is_sportsett(fields: Any) -> bool:
  """Whether an object is a game of SportSett, not of Rotowire."""
  return isinstance(fields, Mapping) and 'teams' in fields


def from_sportsett(fields: Mapping[str, Any]) -> dict[str, Any]:
  """The same game as Rotowire has it; of several summaries, the first.

  The export does not tell who plays where, only who started.
  """
  teams = {side: _part(fields, 'teams', side) for side in _SIDES}
  # Visitors come first in Rotowire, too.
  rows = [row for side in ('vis', 'home') for row in _rows(teams[side], side)]
  columns = rows[0] if rows else {}
  return {
    **{_SIDES[side]: _line(team, side) for side, team in teams.items()},
    'box_score': {
      name: {str(i): row[name] for i, row in enumerate(rows)}
      for name in columns
    },
    'day': _day(_part(fields, 'game')),
    'summary': _summary(fields),
  }


def _part(fields: Any, *keys: str) -> Mapping[str, Any]:
  for place, key in enumerate(keys, 1):
    fields = fields.get(key) if isinstance(fields, Mapping) else None
    if not isinstance(fields, Mapping):
      raise InputError(f'{".".join(keys[:place])!r} must be an object.')
  return fields


def _line(team: Mapping[str, Any], side: str) -> dict[str, Any]:
  scores = _part(team, 'line_score')
  game = _part(scores, 'game')
  quarters = {
    f'TEAM-PTS_QTR{n}': _part(scores, f'Q{n}').get('PTS') for n in range(1, 5)
  }
  return {
    'TEAM-NAME': team.get('name'),
    'TEAM-CITY': team.get('place'),
    'TEAM-WINS': team.get('wins'),
    'TEAM-LOSSES': team.get('losses'),
    **quarters,
    **{ours: game.get(theirs) for ours, theirs in _TEAM.items()},
  }


def _rows(team: Mapping[str, Any], side: str) -> Iterator[dict[str, Any]]:
  players = team.get('box_score')
  if not isinstance(players, list) or not all(
    isinstance(player, Mapping) for player in players
  ):
    raise InputError(f"'teams.{side}.box_score' must be a list of players.")
  for player in sorted(players, key=lambda each: not _starts(each)):
    # Who was not on the field has no numbers.
    played = str(player.get('MIN')) not in ('0', 'None', _NOTHING)
    yield {
      'PLAYER_NAME': player.get('name'),
      'FIRST_NAME': player.get('first_name'),
      'SECOND_NAME': player.get('last_name'),
      'TEAM_CITY': team.get('place'),
      'START_POSITION': _STARTER if _starts(player) else _NOTHING,
      **{
        ours: player.get(theirs) if played else _NOTHING
        for ours, theirs in _PLAYER.items()
      },
    }


def _starts(player: Mapping[str, Any]) -> bool:
  """Truths are spelt `True`, `true` or as JSON has them."""
  return str(player.get('starter')).lower() == 'true'


def _day(game: Mapping[str, Any]) -> str:
  day, month, year = (str(game.get(key)) for key in ('day', 'month', 'year'))
  if month not in _MONTHS or not day.isdigit() or not year.isdigit():
    raise InputError(
      f"'game' is of day {day!r}, month {month!r}, year {year!r}; they are "
      "needed as in '1', 'November', '2014'."
    )
  return f'{_MONTHS[month]:02}_{int(day):02}_{int(year) % 100:02}'


def _summary(fields: Mapping[str, Any]) -> Any:
  texts = fields.get('summaries') or fields.get('references') or ['']
  return texts[0] if isinstance(texts, list) else texts
