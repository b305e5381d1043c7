"""The paper's table with less room: what summaries hardly mention goes.

Every entry that stays has the paper's sentence, its rank among all players or
both teams included. Missing values go, as in the paper, and zeros of players;
then what summaries mention least, until the table fits.
"""

import dataclasses

from stepwise._errors import InputError
from stepwise.rotowire._games import Game, game_table
from stepwise.rotowire._role_table import minus_points
from stepwise.tables import SPECIAL_UNITS, Relation, Table

MAX_UNITS = 96
TERSE_UNITS = 64

# How often summaries of training games mention an entry, of the best scorer if
# it is a player's; types that are not here hardly ever. Whose player somebody
# is, and who is at home, says something of the others.
_MENTIONED = {
  **dict.fromkeys(('MATCH-DATE', 'TEAM-NAME', 'TEAM-CITY', 'TEAM-SIDE'), 1.0),
  **dict.fromkeys(('TEAM-PTS', 'TEAM-WINS', 'TEAM-LOSSES'), 0.75),
  **dict.fromkeys(('PLAYER-FIRST_NAME', 'PLAYER-SECOND_NAME'), 0.9),
  **dict.fromkeys(('PLAYER-PTS', 'PLAYER-TEAM'), 0.9),
  'PLAYER-REB': 0.55,
  'PLAYER-AST': 0.47,
  'PLAYER-FGM': 0.31,
  'PLAYER-FGA': 0.31,
  'TEAM-FG_PCT': 0.26,
  'PLAYER-STL': 0.24,
  'PLAYER-BLK': 0.21,
  'PLAYER-FG3M': 0.20,
  'PLAYER-MIN': 0.17,
  'PLAYER-FG3A': 0.15,
  'TEAM-FG3_PCT': 0.14,
  'PLAYER-FTM': 0.11,
  'PLAYER-FTA': 0.10,
  'TEAM-REB': 0.07,
}
# Of the next best scorer about so many times as often; chosen by what of the
# training plans a table of `MAX_UNITS` has.
_NEXT = 0.74
_FILLERS = frozenset({'of', 'is', 'which', 'best', 'year:', 'month:', 'day:'})


def short_table(game: Game, *, max_units: int | None = MAX_UNITS) -> Table:
  """Entries in the order of `game_table`, at most so many units of them."""
  whole = game_table(game, max_units=None)
  places = {
    player.entity: place
    for place, player in enumerate(sorted(game.players, key=minus_points))
  }

  def mentioned(relation: Relation) -> float:
    place = places.get(relation.entity, 0)
    return _MENTIONED.get(relation.type, 0.0) * _NEXT**place

  entries = [
    entry
    for entry in whole.entries
    if mentioned(entry.relation) and not entry.droppable
  ]
  room = len(entries) if max_units is None else max_units - len(SPECIAL_UNITS)
  if room < 1:
    raise InputError(
      f'max_units is {max_units}; it must be more than {len(SPECIAL_UNITS)}.'
    )
  best = sorted(entries, key=lambda entry: -mentioned(entry.relation))[:room]
  kept = {entry.relation for entry in best}
  entries = [entry for entry in entries if entry.relation in kept]
  return dataclasses.replace(
    whole,
    entries=tuple(entries),
    entries_cut=len(whole.entries) - len(entries),
  )


def terse_table(game: Game, *, max_units: int | None = TERSE_UNITS) -> Table:
  """A `short_table` in half the words: those that say nothing are left out.

  'player points scored Chris Paul 31 1st', for a model that reads tokens of all
  entries at every step.
  """
  table = short_table(game, max_units=max_units)
  entries = (
    entry._replace(text=_without_fillers(entry.text)) for entry in table.entries
  )
  return dataclasses.replace(table, entries=tuple(entries))


def _without_fillers(text: str) -> str:
  words = text.replace('_', ' ').split()
  return ' '.join(word for word in words if word not in _FILLERS)
