"""What players did, in wordings that take turns.

Every wording of a kind says the same entries and claims no more than its name.
Whoever has numbers is named in the same sentence; `he` stands only for the one
player that a clause names.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stepwise.realization._course import Course, listed
from stepwise.realization._lines import Line, predicate, stat_line
from stepwise.realization._naming import Naming
from stepwise.realization._turns import Turns
from stepwise.rotowire import Player

# {team} is the player's, {teams} is so, too, and takes `were`; {line} has the
# numbers, {bench} whether he came from there, {whom} the team if it is news,
# {effort} how the team fared.
_LEADERS = (
  '{name} led the way for {team}, as he finished with a {high}-high {line}'
  '{bench}{effort}',
  '{teams} were led by {name}, who finished with a {high}-high {line}{bench}'
  '{effort}',
  '{name} led the way for {team} with a {high}-high {line}{bench}{effort}',
  '{name} led {team} in scoring, as he tallied a {high}-high {line}{bench}'
  '{effort}',
)
# After players of the other team.
_OTHER_LEADERS = (
  'meanwhile, {teams} were led by {name}, who tallied a {high}-high {line}'
  '{bench}{effort}',
  'on the other side, {name} led the way for {team}, as he finished with a '
  '{high}-high {line}{bench}{effort}',
  'for {team}, {name} led the way with a {high}-high {line}{bench}{effort}',
)
_WON = (' in the win', ' in the victory')
_LOST = (' in the losing effort', ' in the loss')
_DOUBLES = (
  '{name} recorded {double} with {line}{bench}{whom}',
  '{name} recorded {double}{whom}, as he finished with {line}{bench}',
  '{name} had {double} with {line}{bench}{whom}',
)
_DOUBLE_NAMES = {2: 'a double-double', 3: 'a triple-double'}
_SECONDS = (
  '{name} was second on the team, as he tallied {line}{bench}',
  '{name} was second on the team with {line}{bench}',
)
# Nobody else of the team scored ten points.
_ONLY_OTHERS = (
  '{name} was the only other player of the team in double figures, as he '
  'finished with {line}{bench}',
  '{name} was the only other player of the team to score in double figures '
  'with {line}{bench}',
)
_BENCH_LEADERS = (
  '{name} led the bench for {team} with {line}',
  '{name} led the bench for {team}, as he tallied {line}',
  '{name} was the leading scorer off the bench for {team} with {line}',
)
_SUBSTITUTES = (
  '{name} {verb} {line} off the bench{whom}',
  '{name} came off the bench and {verb} {line}{whom}',
)
_PLAIN = ('{name} {verb} {line}{whom}',)
_OTHERS = (
  '{name} {verb} {line}{whom}',
  '{name} scored {points}{whom}, and he added {rest}',
)
# The first of a team cannot add to what nobody did.
_FIRST_VERBS = ('finished with', 'tallied', 'posted')
_VERBS = (
  *('finished with', 'added', 'chipped in with', 'contributed', 'tallied'),
  'posted',
)
_LISTS = ('apart', 'plain', 'plain')
# After players of the other team, where nobody leads his.
_SWITCHES = ('for {team}, ', 'on the other side, ')
# From so many points on nobody chips in.
_MANY = 20
# Counts that make a double-double.
_TENS = ('PTS', 'REB', 'AST', 'STL', 'BLK')


@dataclass(frozen=True)
class Performance:
  """Who is spoken of, and how.

  Attributes:
    player: of the box score.
    name: as the clause has it.
    facts: numbers by statistic.
    has_team: whether the name tells the team.
    opens: whether the clause begins a sentence.
    alone: whether it is all of the sentence.
  """

  player: Player
  name: str
  facts: Mapping[str, str]
  has_team: bool
  opens: bool
  alone: bool


class Performances:
  """Clauses on players of one report, one after another."""

  def __init__(self, course: Course, naming: Naming, turns: Turns):
    self._course = course
    self._naming = naming
    self._turns = turns
    self._leaders: set[str] = set()
    self._last_team = ''

  def forget_team(self) -> None:
    """Somebody else was spoken of: the next player's team is news."""
    self._last_team = ''

  def tell(self, told: Performance) -> str:
    player, facts = told.player, told.facts
    before, self._last_team = self._last_team, player.team
    line = stat_line(facts)
    bench = ' off the bench' if self._course.from_bench(player) else ''
    if not line.counts:
      return f'{told.name} {predicate(facts)}{bench}'
    if self._is_leader(told):
      other = told.opens and bool(before) and before != player.team
      return self._leader(told, line, bench, other)
    wording = self._wording(told, line, before)
    return wording.format_map(
      {
        'name': told.name,
        'verb': self._verb(told, before) if '{verb}' in wording else '',
        'line': self._line(line),
        'bench': bench,
        'points': line.points,
        'rest': f'{listed(line.rest)}{line.tail}' if line.rest else '',
        'double': _DOUBLE_NAMES.get(_doubles(facts), ''),
        **self._team_words(wording, player.team),
      }
    )

  def _team_words(self, wording: str, team: str) -> dict[str, str]:
    """The name of a team once, if a wording asks for it."""
    if '{team}' in wording:
      return {'team': self._naming.team(team)}
    return {'teams': self._naming.plural(team)} if '{teams}' in wording else {}

  def _verb(self, told: Performance, before: str) -> str:
    points = told.facts.get('PTS', '')
    many = points.isdecimal() and int(points) >= _MANY
    first = told.player.team != before
    return self._turns.next(_FIRST_VERBS if first or many else _VERBS)

  def _wording(self, told: Performance, line: Line, before: str) -> str:
    """With the team, if that is news."""
    wording = self._turns.next(self._wordings(told, line, before))
    if told.player.team == before or told.has_team or '{team}' in wording:
      return wording.replace('{whom}', '')
    switch = self._turns.next(_SWITCHES) if before and told.opens else ''
    whom = '' if '{team}' in switch else ' for {team}'
    return f'{switch}{wording.replace("{whom}", whom)}'

  def _wordings(
    self, told: Performance, line: Line, before: str
  ) -> tuple[str, ...]:
    player, facts = told.player, told.facts
    has_points = 'PTS' in facts
    if _doubles(facts) in _DOUBLE_NAMES:
      return _DOUBLES
    if has_points and self._course.leads_bench(player):
      return _BENCH_LEADERS
    follows = player.team == before and player.team in self._leaders
    if has_points and follows and self._course.is_second(player):
      only = self._course.are_only_tens(player)
      return _ONLY_OTHERS if only else _SECONDS
    if self._course.from_bench(player):
      return _SUBSTITUTES
    return _OTHERS if told.alone and line.points and line.rest else _PLAIN

  def _is_leader(self, told: Performance) -> bool:
    """Whether a clause should call him so: once, if the table does."""
    return (
      'PTS' in told.facts
      and not told.has_team
      and told.player.team not in self._leaders
      and self._course.leads_team(told.player)
    )

  def _leader(
    self, told: Performance, line: Line, bench: str, other: bool
  ) -> str:
    player = told.player
    self._leaders.add(player.team)
    wording = self._turns.next(_OTHER_LEADERS if other else _LEADERS)
    efforts = _LOST if self._course.lost(player.team) else _WON
    return wording.format(
      name=told.name,
      line=self._line(line),
      bench=bench,
      high='game' if self._course.leads_game(player) else 'team',
      # `in 36 minutes in the win` is one `in` too many.
      effort='' if 'MIN' in told.facts else self._turns.next(efforts),
      **self._team_words(wording, player.team),
    )

  def _line(self, line: Line) -> str:
    """Every third long list sets the points apart from the rest."""
    apart = line.points and len(line.rest) > 1
    if apart and self._turns.next(_LISTS) == 'apart':
      return line.apart()
    return line.plain()


def _doubles(facts: Mapping[str, str]) -> int:
  values = (facts.get(statistic, '') for statistic in _TENS)
  return sum(value.isdecimal() and int(value) >= 10 for value in values)
