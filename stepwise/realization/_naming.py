"""How a report calls teams and players: in full once, then shorter."""

from collections import Counter

from stepwise.rotowire import Game

# Cities that tables spell in two ways.
_SPELLINGS = {'LA': 'Los Angeles'}
# A team is called so often by its name, then once by its city.
_BY_NAME = 2


class Naming:
  """Remembers who was named; a short name is nobody else's."""

  def __init__(self, game: Game):
    self._teams = {team.entity: team for team in game.teams}
    self._players = {player.entity: player for player in game.players}
    self._named: set[str] = set()
    self._since_city: Counter[str] = Counter()

  def is_named(self, entity: str) -> bool:
    return entity in self._named

  def team(self, entity: str) -> str:
    """`the Easton Herons`, then `the Herons` or `Easton`."""
    turn = self._since_city[entity] >= _BY_NAME
    if not self.is_named(entity) or not turn or not self._has_own_city(entity):
      return self.plural(entity)
    self._since_city[entity] = 0
    return _spelled(self._teams[entity].city)

  def plural(self, entity: str) -> str:
    """`the Easton Herons`, then `the Herons`, who are many."""
    if not self.is_named(entity):
      self._named.add(entity)
      return f'the {entity}'
    self._since_city[entity] += 1
    return f'the {self._teams[entity].name}'

  def player(self, entity: str) -> str:
    """`J.T. Lund`, then `Lund` if nobody else is called so."""
    first_time = not self.is_named(entity)
    self._named.add(entity)
    surname = self._players[entity].second_name
    # A surname may be missing, or a name of somebody else as well.
    if first_time or surname in {'N/A', *self._names_of_others(entity)}:
      return entity
    return surname

  def _has_own_city(self, entity: str) -> bool:
    """Whether a city means this team, and nobody else of the game."""
    city = _spelled(self._teams[entity].city)
    others = (team for team in self._teams.values() if team.entity != entity)
    cities = {_spelled(team.city) for team in others}
    people = self._names_of_others(entity)
    return bool(city) and city not in cities and not people & {*city.split()}

  def _names_of_others(self, entity: str) -> set[str]:
    """First names and surnames of players, but of one."""
    others = (p for p in self._players.values() if p.entity != entity)
    return {name for p in others for name in (p.first_name, p.second_name)}


def _spelled(city: str) -> str:
  return _SPELLINGS.get(city, city)
