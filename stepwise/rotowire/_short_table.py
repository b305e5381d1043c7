"""The paper's table with less room: what summaries hardly mention goes.

Every entry that stays has the paper's sentence, its rank among all players or
both teams included. Missing values go, as in the paper, and zeros of players;
then entry types that hardly any summary mentions; then players, from the one
with the fewest points up, until the table fits.
"""

import dataclasses

from stepwise._errors import InputError
from stepwise.rotowire._games import Game, game_table
from stepwise.rotowire._role_table import minus_points
from stepwise.tables import SPECIAL_UNITS, Table

MAX_UNITS = 96

# Less than one in 500 units of training plans is of one of these; whose player
# somebody is, and who is at home, says something of the others.
_RARE = frozenset(
  {
    *('PLAYER-START_POSITION', 'PLAYER-TO', 'PLAYER-PF'),
    *('PLAYER-OREB', 'PLAYER-DREB'),
    *('PLAYER-FG_PCT', 'PLAYER-FG3_PCT', 'PLAYER-FT_PCT'),
    *('TEAM-PTS_QTR1', 'TEAM-PTS_QTR2', 'TEAM-PTS_QTR3', 'TEAM-PTS_QTR4'),
    *('TEAM-AST', 'TEAM-TOV', 'TEAM-FT_PCT'),
  }
)


def short_table(game: Game, *, max_units: int | None = MAX_UNITS) -> Table:
  """Entries in the order of `game_table`, at most so many units of them."""
  whole = game_table(game, max_units=None)
  entries = [
    entry
    for entry in whole.entries
    if entry.relation.type not in _RARE and not entry.droppable
  ]
  room = len(entries) if max_units is None else max_units - len(SPECIAL_UNITS)
  if room < 1:
    raise InputError(
      f'max_units is {max_units}; it must be more than {len(SPECIAL_UNITS)}.'
    )
  best_first = sorted(game.players, key=minus_points)
  while len(entries) > room and best_first:
    last = best_first.pop().entity
    entries = [entry for entry in entries if entry.relation.entity != last]
  return dataclasses.replace(
    whole,
    entries=tuple(entries[:room]),
    entries_cut=len(whole.entries) - min(len(entries), room),
  )
