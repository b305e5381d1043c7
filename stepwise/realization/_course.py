"""How a game went, as far as its table tells: who won, led and stood out."""

from collections.abc import Iterable, Sequence

from stepwise.rotowire import START_POSITION, Game, Player, Team

_QUARTERS = tuple(f'TEAM-PTS_QTR{number}' for number in range(1, 5))
# Whoever has fewer of these is better.
_FEWER = frozenset({'TEAM-TOV'})


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

  def gains(self) -> list[int]:
    """By how much the winner won each quarter; empty if that is not known."""
    if self.winner is None or self.loser is None:
      return []
    quarters = [
      [_number(team.values[type]) for type in _QUARTERS]
      for team in (self.winner, self.loser)
    ]
    if any(None in of_team for of_team in quarters):
      return []
    return [(a or 0) - (b or 0) for a, b in zip(*quarters, strict=True)]

  @property
  def went_on(self) -> bool:
    """Whether four quarters were not enough, as far as is known."""
    gains = self.gains()
    return bool(gains) and sum(gains) <= 0

  def better(
    self, team: Team, other: Team, types: Sequence[str]
  ) -> tuple[str, ...]:
    """Types in which a team was better than the other."""
    numbers = {
      type: [_number(each.values[type]) for each in (team, other)]
      for type in types
    }
    return tuple(
      type
      for type, (own, its) in numbers.items()
      if own is not None
      and its is not None
      and (own < its if type in _FEWER else own > its)
    )

  def by_bench(self) -> list[Team]:
    """The team whose substitutes scored more, and the other; or nobody."""
    scored = {
      team.entity: sum(
        _scored(player)
        for player in self._game.players
        if player.team == team.entity and self.from_bench(player)
      )
      for team in self._game.teams
    }
    if len(set(scored.values())) == 1:
      return []
    return sorted(self._game.teams, key=lambda team: -scored[team.entity])

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

  def is_second(self, player: Player) -> bool:
    """Whether one of the team scored more points, and nobody as many."""
    mates = [p for p in self._game.players if p.team == player.team]
    others = [_scored(p) for p in mates if p.entity != player.entity]
    own = _scored(player)
    return sum(points > own for points in others) == 1 and own not in others

  def are_only_tens(self, player: Player) -> bool:
    """Whether he and one mate, nobody else, scored ten points or more."""
    tens = [
      p.entity
      for p in self._game.players
      if p.team == player.team and _scored(p) >= 10
    ]
    return len(tens) == 2 and player.entity in tens

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
