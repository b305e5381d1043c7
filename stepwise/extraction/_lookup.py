"""The `lookup` extractor: relations of a text by rules and the table alone.

A number is a statistic by the words beside it, and belongs to whom the table
gives it. What no entry supports is still a claim, of the entity named last
before it: whoever writes it is not spared.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stepwise.extraction._cues import (
  cued_statistics,
  implied_statistic,
  is_aggregate,
  is_partial,
  is_summed,
  quarter_cue,
  shooting_scope,
)
from stepwise.extraction._mentions import AnnotatedSentence, Mention
from stepwise.extraction._text import Number
from stepwise.rotowire import Game
from stepwise.tables import Relation

# What a player is said to have, and a team, even if the table disagrees.
_CLAIMS = {
  'player': frozenset(
    {
      *('PTS', 'REB', 'AST', 'STL', 'BLK', 'MIN', 'OREB', 'DREB', 'TO', 'PF'),
      *('FGM', 'FGA', 'FG3M', 'FG3A', 'FTM', 'FTA'),
    }
  ),
  'team': frozenset(
    {
      *('FG_PCT', 'FG3_PCT', 'FT_PCT', 'REB', 'AST', 'TOV'),
      *('PTS_QTR1', 'PTS_QTR2', 'PTS_QTR3', 'PTS_QTR4'),
    }
  ),
}
# A final score; what is less may be a lead or a quarter.
_LEAST_SCORE = 60
_SHOOTING = ('FG', 'FG3', 'FT')
_CONTESTS = {'rebound': 'REB', 'assist': 'AST', 'turnover': 'TOV'}


class Extraction(NamedTuple):
  """A relation that a sentence states, and where.

  Attributes:
    sentence: its index.
    mention: of the entity.
    number: in the sentence.
    relation: entity, value in digits, type.
    supported: whether the table says the same.
  """

  sentence: int
  mention: Mention
  number: Number
  relation: Relation
  supported: bool


def lookup_relations(
  sentences: Sequence[AnnotatedSentence], game: Game
) -> list[Extraction]:
  """Relations by sentence, then number, then mention, left to right.

  A number gives several if their entities stand together: `A and B had 11
  points apiece`.
  """
  return [
    Extraction(index, mention, number, relation, supported)
    for index, sentence in enumerate(sentences)
    for number, mention, relation, supported in _Reading(sentence, game).read()
  ]


_Found = tuple[Number, Mention, Relation, bool]


class _Reading:
  """One sentence beside the table of its game."""

  def __init__(self, sentence: AnnotatedSentence, game: Game) -> None:
    self._tokens = sentence.tokens
    self._numbers = sentence.numbers
    self._mentions = [m for m in sentence.mentions if m.kind != 'match']
    self._game = game

  def read(self) -> Iterator[_Found]:
    if not self._mentions:
      return
    position = 0
    while position < len(self._numbers):
      pair = self._numbers[position : position + 2]
      joint = self._joint(pair) if len(pair) == 2 else None
      if joint is None:
        yield from self._single(position)
        position += 1
      else:
        yield from joint
        position += 2

  def _joint(self, pair: Sequence[Number]) -> list[_Found] | None:
    """What a pair as `7 - of - 11`, `( 4 - 14 )` or `122 - 95` states.

    None if the two numbers are no pair; empty if they are, but not of a kind
    the table has.
    """
    first, second = pair
    gap = self._tokens[first.end : second.start]
    words = [word for word in gap if word != '-']
    rest = self._tokens[second.end : second.end + 1]
    if words in (['of'], ['for'], ['out', 'of']):
      return self._shooting(first, second)
    if words or not gap:
      return None
    if rest and rest[0] in ('FG', '3Pt', '3PT', 'FT', 'shooting'):
      return self._shooting(first, second)
    if rest and rest[0] == 'from':
      shot = self._shooting(first, second)
      if all(supported for *_, supported in shot):
        return shot
    return self._record(first, second) or self._score(first, second)

  def _shooting(self, made: Number, tried: Number) -> list[_Found]:
    later = (n.start for n in self._numbers if n.start > tried.start)
    after = self._tokens[tried.end : next(later, None)][:8]
    scope = shooting_scope(after)
    for statistic in (scope, *(s for s in _SHOOTING if s != scope)):
      types = f'PLAYER-{statistic}M', f'PLAYER-{statistic}A'
      for mention in self._nearest(made):
        found = [
          self._found(made, mention, types[0]),
          self._found(tried, mention, types[1]),
        ]
        if all(supported for *_, supported in found):
          return found
    return self._shooting_claim(made, tried, scope)

  def _shooting_claim(
    self, made: Number, tried: Number, scope: str
  ) -> list[_Found]:
    mention = self._claimant(made)
    if mention is None or mention.kind != 'player':
      return []
    return [
      self._found(made, mention, f'PLAYER-{scope}M'),
      self._found(tried, mention, f'PLAYER-{scope}A'),
    ]

  def _record(self, wins: Number, losses: Number) -> list[_Found]:
    """Wins and losses; in brackets right after a team, right or wrong."""
    before = self._tokens[: wins.start][-1:]
    after = self._tokens[losses.end :][:1]
    in_brackets = (before, after) == (('(',), (')',))
    for mention in self._nearest(wins):
      if mention.kind == 'team':
        found = [
          self._found(wins, mention, 'TEAM-WINS'),
          self._found(losses, mention, 'TEAM-LOSSES'),
        ]
        fitting = sum(supported for *_, supported in found)
        claimed = mention.end == wins.start - 1 and not mention.pronoun
        if (in_brackets and (fitting or claimed)) or fitting == 2:
          return found
    return []

  def _score(self, first: Number, second: Number) -> list[_Found]:
    """One statistic of both teams; a team that is not named is left out."""
    for statistic in self._contests():
      type = f'TEAM-{statistic}'
      for team, other in (self._game.teams, self._game.teams[::-1]):
        values = team.values[type], other.values[type]
        if values == (str(first.value), str(second.value)):
          return [
            self._found(number, mention, type)
            for number, entity in (
              (first, team.entity),
              (second, other.entity),
            )
            for mention in self._nearest_of(entity, number)
          ]
    return self._score_claim(first, second)

  def _score_claim(self, first: Number, second: Number) -> list[_Found]:
    """`The Herons beat the Comets 140 - 92`: of the two named before."""
    teams = [
      m
      for m in self._mentions
      if m.kind == 'team' and not m.pronoun and m.end <= first.start
    ]
    pair = list({m.entity: m for m in teams}.values())
    if len(pair) != 2 or min(first.value, second.value) < _LEAST_SCORE:
      return []
    return [
      self._found(number, mention, 'TEAM-PTS')
      for number, mention in zip((first, second), pair, strict=True)
    ]

  def _contests(self) -> list[str]:
    """What the teams may be compared by, points at last."""
    lower = [token.lower() for token in self._tokens]
    quarter = quarter_cue(lower)
    named = [
      statistic
      for word, statistic in _CONTESTS.items()
      if any(word in token for token in lower)
    ]
    return [*([quarter] if quarter else ()), *named, 'PTS']

  def _single(self, position: int) -> list[_Found]:
    number = self._numbers[position]
    following = next(iter(self._numbers[position + 1 :]), None)
    context = self._tokens, number, following
    cued = cued_statistics(*context)
    implied = None if cued else implied_statistic(*context)
    for statistic in (*cued, *filter(None, [implied])):
      found = self._supported(number, statistic)
      if found:
        return found
    return self._claim(number, cued[0]) if cued else []

  def _supported(self, number: Number, statistic: str) -> list[_Found]:
    """The nearest entity with the value, and those listed beside it."""
    fitting = [
      (mention, found)
      for mention in self._nearest(number)
      if (found := self._found(number, mention, _type(mention, statistic)))[-1]
      and not is_summed(self._tokens[mention.end : number.start])
    ]
    if not fitting:
      return []
    group = self._listed_with(fitting[0][0])
    chosen = {m.entity: found for m, found in fitting if m in group}
    return sorted(chosen.values(), key=lambda found: found[1])

  def _claim(self, number: Number, statistic: str) -> list[_Found]:
    """What the table does not say."""
    mention = self._claimant(number)
    if mention is None or statistic not in _CLAIMS[mention.kind]:
      return []
    return [self._found(number, mention, _type(mention, statistic))]

  def _claimant(self, number: Number) -> Mention | None:
    """Whoever was named last before a number, in this sentence or not.

    Nobody where the sentence speaks of averages, sums, other games or a part
    of this one.
    """
    before = [m for m in self._mentions if m.end <= number.start]
    later = (n for n in self._numbers if n.start > number.start)
    if is_aggregate(self._tokens) or is_partial(
      self._tokens, number, next(later, None)
    ):
      return None
    return before[-1] if before else None

  def _nearest(self, number: Number) -> list[Mention]:
    """Mentions before a number, the last first, then those after it."""
    before = [m for m in self._mentions if m.end <= number.start]
    after = [m for m in self._mentions if m.start >= number.end]
    return before[::-1] + after

  def _nearest_of(self, entity: str, number: Number) -> list[Mention]:
    return [m for m in self._nearest(number) if m.entity == entity][:1]

  def _listed_with(self, mention: Mention) -> list[Mention]:
    """The mention and its neighbours in a list: `A , B and C`."""
    place = self._mentions.index(mention)
    before, after = self._mentions[:place], self._mentions[place + 1 :]
    group = [mention]
    for neighbours in (before[::-1], after):
      last = mention
      for neighbour in neighbours:
        if not self._is_list(*sorted((last, neighbour))):
          break
        group.append(neighbour)
        last = neighbour
    return group

  def _is_list(self, left: Mention, right: Mention) -> bool:
    between = set(self._tokens[left.end : right.start])
    return left.kind == right.kind and between <= {',', 'and', '&'}

  def _found(self, number: Number, mention: Mention, type: str) -> _Found:
    relation = Relation(mention.entity, str(number.value), type)
    cell = self._game.values[mention.entity].get(type)
    return number, mention, relation, cell == relation.value


def _type(mention: Mention, statistic: str) -> str:
  if mention.kind == 'team':
    return f'TEAM-{"TOV" if statistic == "TO" else statistic}'
  return f'PLAYER-{statistic}'
