"""Which of several wordings is next: by game and place, never by chance."""

from collections import Counter
from hashlib import blake2s

from stepwise.rotowire import Game


class Turns:
  """Takes wordings in turn; games begin at different ones.

  Args:
    game: whose date and teams say where to begin.
    skip: to begin so many wordings later.
  """

  def __init__(self, game: Game, skip: int = 0):
    teams = (team.entity for team in game.teams)
    self._game = '|'.join((game.date.isoformat(), *teams))
    self._skip = skip
    self._used: Counter[tuple[str, ...]] = Counter()

  def next(self, wordings: tuple[str, ...]) -> str:
    """One of the wordings, the next time the one after it."""
    place = self._start(wordings) + self._skip + self._used[wordings]
    self._used[wordings] += 1
    return wordings[place % len(wordings)]

  def _start(self, wordings: tuple[str, ...]) -> int:
    """Games that begin some wordings alike need not begin others so."""
    # Not `hash`, which differs from one run of Python to the next, nor a CRC,
    # in which the bits of two keys go together.
    key = '|'.join((self._game, *wordings))
    return int.from_bytes(blake2s(key.encode(), digest_size=4).digest())
