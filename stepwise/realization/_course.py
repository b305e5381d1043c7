"""How a game went, in words without numbers that its table always supports."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from stepwise.rotowire import START_POSITION, Game, Player, Team

_QUARTERS = tuple(f'TEAM-PTS_QTR{number}' for number in range(1, 5))
# What the better team did, and whether more is better.
_CONTESTS = {
  'TEAM-FG_PCT': ('shot better from the field', True),
  'TEAM-FG3_PCT': ('shot better from the three-point line', True),
  'TEAM-REB': ('won the rebounding battle', True),
  'TEAM-AST': ('finished with more assists', True),
  'TEAM-TOV': ('committed fewer turnovers', False),
}
_ORDINALS = ('first', 'second', 'third', 'fourth')
_SHOOTING = ('TEAM-FG_PCT', 'TEAM-FG3_PCT')


class Course:
  """Who won and how, and who stood out; unknown where cells are missing."""

  def __init__(self, game: Game):
    self._game = game
    points = [_number(team.values['TEAM-PTS']) for team in game.teams]
    first, second = points
    self.winner: Team | None = None
    self.loser: Team | None = None
    if first is not None and second is not None and first != second:
      ahead = game.teams if first > second else game.teams[::-1]
      self.winner, self.loser = ahead
    self.margin = abs((first or 0) - (second or 0))

  def flow(self) -> str:
    """A sentence on who led when; empty without quarters or a winner."""
    if self.winner is None or self.loser is None:
      return ''
    quarters = [
      [_number(team.values[type]) for type in _QUARTERS]
      for team in (self.winner, self.loser)
    ]
    if any(None in of_team for of_team in quarters):
      return ''
    gains = [(a or 0) - (b or 0) for a, b in zip(*quarters, strict=True)]
    names = self.winner.name, self.loser.name
    return f'{_flow(*names, list(accumulate(gains)))}{_best(*names, gains)}'

  def contests(self) -> str:
    """A sentence on what either team did better."""
    if self.winner is None or self.loser is None:
      return ''
    won = self._better(self.winner, self.loser)
    lost = self._better(self.loser, self.winner)
    parts = [
      f'the {team.name} {listed(phrases)}'
      for team, phrases in ((self.winner, won), (self.loser, lost))
      if phrases
    ]
    return f'{capital(", while ".join(parts))}.' if parts else ''

  def _better(self, team: Team, other: Team) -> list[str]:
    phrases = []
    for type, (phrase, more) in _CONTESTS.items():
      own, its = (_number(each.values[type]) for each in (team, other))
      if own is None or its is None or own == its:
        continue
      if (own > its) == more:
        phrases.append(phrase)
    if phrases[:2] == [_CONTESTS[type][0] for type in _SHOOTING]:
      phrases[:2] = [f'{phrases[0]} and from the three-point line']
    return phrases

  def benches(self) -> str:
    """A sentence on whose substitutes scored more."""
    scored = [
      sum(
        _scored(player)
        for player in self._game.players
        if player.team == team.entity and self.from_bench(player)
      )
      for team in self._game.teams
    ]
    if scored[0] == scored[1]:
      return ''
    more, fewer = sorted(
      zip(scored, self._game.teams, strict=True),
      key=lambda pair: pair[0],
      reverse=True,
    )
    return (
      f'The {more[1].name} got more scoring from the bench, as their reserves '
      f'outscored those of the {fewer[1].name}.'
    )

  def first(self, type: str) -> Player | None:
    """Whoever has most of something, if nobody has as much."""
    players = sorted(
      self._game.players,
      key=lambda player: _number(player.values.get(type, '')) or 0,
      reverse=True,
    )
    most = [_number(p.values.get(type, '')) or 0 for p in players[:2]]
    return players[0] if len(most) == 2 and most[0] > most[1] else None

  def leads_team(self, player: Player) -> bool:
    """Whether nobody of the team scored as many points."""
    mates = (p for p in self._game.players if p.team == player.team)
    return _leads(player, mates)

  def leads_bench(self, player: Player) -> bool:
    """Whether no substitute of the team scored as many points."""
    mates = (p for p in self._game.players if p.team == player.team)
    substitutes = [p for p in mates if self.from_bench(p)]
    return player in substitutes and _leads(player, substitutes)

  def leads_game(self, player: Player) -> bool:
    """Whether nobody else scored as many points."""
    return _leads(player, self._game.players)

  def lost(self, team: str) -> bool:
    return self.loser is not None and self.loser.entity == team

  def from_bench(self, player: Player) -> bool:
    """Whether somebody played who did not start."""
    minutes = _number(player.values.get('PLAYER-MIN', ''))
    return bool(minutes) and player.values.get(START_POSITION) == 'N/A'


def _best(winner: str, loser: str, gains: Sequence[int]) -> str:
  """The quarter that the winner won by most, if there is one."""
  best = max(gains)
  if best <= 0 or [*gains].count(best) > 1:
    return ''
  quarter = _ORDINALS[[*gains].index(best)]
  return (
    f' The {winner} were at their best in the {quarter} quarter, as they '
    f'outscored the {loser} by their biggest margin of any period.'
  )


def _flow(winner: str, loser: str, leads: Sequence[int]) -> str:
  """`leads` are the winner's after every quarter."""
  first, half, third, end = leads
  if end <= 0:
    return f'It took overtime for the {winner} to put the {loser} away.'
  if min(leads) > 0:
    return (
      f'The {winner} led at the end of every quarter on their way to the '
      f'victory over the {loser}.'
    )
  if third < 0:
    return (
      f'The {winner} trailed going into the fourth quarter, but outscored the '
      f'{loser} in the final period to come away with the victory.'
    )
  if half < 0:
    return (
      f'The {winner} trailed at halftime, but outscored the {loser} in the '
      'third quarter and held on for the victory.'
    )
  if first < 0:
    return (
      f'The {winner} trailed after the first quarter, but outscored the '
      f'{loser} in the second quarter and held on for the victory.'
    )
  return (
    f'The {winner} never trailed at the end of a quarter, and were able to '
    f'hold off the {loser} for the victory.'
  )


def _leads(player: Player, players: Iterable[Player]) -> bool:
  others = (p for p in players if p.entity != player.entity)
  return _scored(player) > max(map(_scored, others), default=0)


def _scored(player: Player) -> int:
  return _number(player.values.get('PLAYER-PTS', '')) or 0


def listed(items: Sequence[str]) -> str:
  """`a`, `a and b`, `a, b and c`."""
  *before, last = items
  return f'{", ".join(before)} and {last}' if before else last


def capital(text: str) -> str:
  return f'{text[:1].upper()}{text[1:]}'


def _number(value: str) -> int | None:
  return int(value) if value.isdecimal() else None
