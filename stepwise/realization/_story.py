"""Sentences without numbers on how a game went, as far as its table tells."""

from collections.abc import Container, Sequence

from stepwise.realization._course import Course, capital, listed
from stepwise.realization._lines import SIDES
from stepwise.realization._naming import Naming
from stepwise.realization._turns import Turns

# {w} is the winner, {l} the loser; {ws} is the winner as one of many.
_OVERTIME = (
  '{w} needed overtime to put {l} away.',
  '{w} needed overtime to get past {l}.',
)
_AHEAD = (
  '{ws} led at the end of every quarter on their way to the victory over {l}.',
  '{ws} were ahead of {l} at the end of every quarter on their way to the '
  'victory.',
)
_LATE = (
  '{w} trailed going into the fourth quarter, but outscored {l} in the final '
  'period to come away with the victory.',
  '{w} trailed {l} after three quarters, but came back in the fourth quarter '
  'to come away with the victory.',
)
_THIRD = (
  '{w} trailed at halftime, but outscored {l} in the third quarter and held '
  'on for the victory.',
  '{w} trailed {l} at the half, but won the third quarter and held on for the '
  'victory.',
)
_SECOND = (
  '{w} trailed after the first quarter, but outscored {l} in the second '
  'quarter and held on for the victory.',
  '{w} trailed {l} after the first quarter, but won the second quarter and '
  'held on for the victory.',
)
_EVEN = (
  '{ws} never trailed at the end of a quarter, and were able to hold off {l} '
  'for the victory.',
  '{w} did not trail {l} at the end of any quarter, and held on for the '
  'victory.',
)
# `They` is the subject of the sentence before.
_BEST = (
  'They were at their best in the {quarter} quarter, as they outscored {l} by '
  'their biggest margin of any quarter.',
  'They did the most damage in the {quarter} quarter, as they outscored {l} by '
  'their biggest margin of any quarter.',
)
_SAME = ('They won no other quarter by as much.',)
_BENCHES = (
  '{more} got more scoring from the bench, as their reserves outscored those '
  'of {fewer}.',
  '{more} won the battle of the benches, as their reserves outscored those of '
  '{fewer}.',
)
_LEADERS = (
  '{rebounds} led all players in rebounds, while {assists} handed out the most '
  'assists of the game.',
  '{rebounds} pulled down the most rebounds of the game, while {assists} led '
  'all players in assists.',
)
_CLOSINGS = (
  'It was a win {won} for {w} and a loss {lost} for {l}.',
  'The victory came {won} for {w}, while {l} took the loss {lost}.',
  '{w} picked up the win {won}, while {l} took the loss {lost}.',
)
_ORDINALS = ('first', 'second', 'third', 'fourth')
# What the better team did.
_CONTESTS = {
  'TEAM-FG_PCT': ('shot better from the field',),
  'TEAM-FG3_PCT': ('shot better from the three-point line',),
  'TEAM-REB': ('won the rebounding battle',),
  'TEAM-AST': ('finished with more assists', 'had more assists'),
  'TEAM-TOV': ('committed fewer turnovers', 'had fewer turnovers'),
}
_SHOOTING = ('TEAM-FG_PCT', 'TEAM-FG3_PCT')


class Story:
  """Tells one game; sentences are empty where cells are missing."""

  def __init__(self, course: Course, naming: Naming, turns: Turns):
    self._course = course
    self._naming = naming
    self._turns = turns

  def flow(self) -> str:
    """Who led when, and which quarter the winner won by most."""
    gains = self._course.gains()
    if not gains:
      return ''
    leads = [sum(gains[:end]) for end in range(1, len(gains) + 1)]
    wordings, turned = _flow(leads)
    best = max(gains)
    parts = [self._say(wordings)]
    if best > 0 and gains.count(best) == 1:
      place = gains.index(best)
      wordings = _SAME if place == turned else _BEST
      parts.append(self._say(wordings, quarter=_ORDINALS[place]))
    return ' '.join(parts)

  def contests(self, told: Container[str] = ()) -> str:
    """What either team did better, but for types that were `told`."""
    winner, loser = self._course.winner, self._course.loser
    if winner is None or loser is None:
      return ''
    left = [type for type in _CONTESTS if type not in told]
    parts = [
      f'{self._naming.team(team.entity)} {listed(self._phrases(types))}'
      for team, other in ((winner, loser), (loser, winner))
      if (types := self._course.better(team, other, left))
    ]
    return f'{capital(", while ".join(parts))}.' if parts else ''

  def _phrases(self, types: Sequence[str]) -> list[str]:
    if tuple(types[:2]) == _SHOOTING:
      both = f'{_CONTESTS[types[0]][0]} and from the three-point line'
      return [both, *self._phrases(types[2:])]
    return [self._turns.next(_CONTESTS[type]) for type in types]

  def benches(self) -> str:
    """Whose substitutes scored more."""
    teams = self._course.by_bench()
    if not teams:
      return ''
    more, fewer = (self._naming.plural(team.entity) for team in teams)
    return capital(self._turns.next(_BENCHES).format(more=more, fewer=fewer))

  def leaders(self) -> str:
    """Who had most rebounds and most assists, if they are two."""
    rebounds, assists = map(self._course.first, ('PLAYER-REB', 'PLAYER-AST'))
    if not rebounds or not assists or rebounds == assists:
      return ''
    wording = self._turns.next(_LEADERS)
    # Whoever is written first is named first.
    names = [self._naming.player(p.entity) for p in (rebounds, assists)]
    return wording.format(rebounds=names[0], assists=names[1])

  def closing(self) -> str:
    """Who won and lost where."""
    winner, loser = self._course.winner, self._course.loser
    if winner is None or loser is None:
      return ''
    won, lost = (SIDES[team.values['TEAM-SIDE']] for team in (winner, loser))
    return self._say(_CLOSINGS, won=won, lost=lost)

  def _say(self, wordings: tuple[str, ...], **words: str) -> str:
    """A wording with the names of winner and loser."""
    winner, loser = self._course.winner, self._course.loser
    assert winner is not None and loser is not None
    wording = self._turns.next(wordings)
    if '{ws}' in wording:
      words['ws'] = self._naming.plural(winner.entity)
    if '{w}' in wording:
      words['w'] = self._naming.team(winner.entity)
    if '{l}' in wording:
      words['l'] = self._naming.team(loser.entity)
    return capital(wording.format(**words))


def _flow(leads: Sequence[int]) -> tuple[tuple[str, ...], int | None]:
  """Wordings, and the quarter they say was won; `leads` after every quarter."""
  first, half, third, end = leads
  if end <= 0:
    return _OVERTIME, None
  if min(leads) > 0:
    return _AHEAD, None
  if third < 0:
    return _LATE, 3
  if half < 0:
    return _THIRD, 2
  return (_SECOND, 1) if first < 0 else (_EVEN, None)
