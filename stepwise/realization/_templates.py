"""The template realizer: plain sentences that say what a plan says.

It invents nothing: every number is an entry of the plan, and what it adds in
words, who plays for whom, who led and how the game went, the table tells. Which
words are added was chosen on training games, by BLEU.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepwise.realization._course import Course, capital, listed
from stepwise.realization._lines import (
  COUNTS,
  QUARTERS,
  SIDES,
  count,
  predicate,
)
from stepwise.realization._naming import Naming
from stepwise.realization._performances import Performance, Performances
from stepwise.realization._realizer import (
  Authored,
  Sentences,
  check_plans,
  plain_texts,
)
from stepwise.realization._story import Story
from stepwise.realization._turns import Turns
from stepwise.rotowire import (
  DATE,
  NAME_TYPES,
  PLAYER_TEAM,
  START_POSITION,
  Game,
  Team,
)
from stepwise.tables import Plan, Relation, weekday

_POSITIONS = {'G': 'guard', 'F': 'forward', 'C': 'center'}
# Statistics of both teams that are compared in one clause.
_DUELS = {
  'TEAM-REB': ('out-rebounded', ''),
  **{
    f'TEAM-{quarter}': ('outscored', f' {when}')
    for quarter, when in QUARTERS.items()
  },
}
# Of teams whose record is told after the result.
_RESULTS = {
  True: ('{team} came up short', '{team} took the loss'),
  False: ('{team} came away with the win', '{team} got the win'),
}
# The same points of several players.
_APIECE = ('{names} scored {points} apiece', '{names} each scored {points}')
# Plans of so few sentences get no more than they ask for at their end.
_SHORT = 3


@dataclass(frozen=True)
class TemplateRealizer:
  """Writes without a model; the same plan always gives the same text.

  Attributes:
    name: of the realizer.
    skip: wordings take turns, and a game says which is first; so many are
      skipped. What is said stays the same.
  """

  name: str = 'template'
  skip: int = 0

  def realize(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[Sentences]:
    return plain_texts(self.realize_authored(games, plans))

  def realize_authored(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[list[Authored]]:
    check_plans(games, plans)
    return [
      [
        Authored(*parts, self.name)
        for parts in _Report(game, self.skip).write(plan)
      ]
      for game, plan in zip(games, plans, strict=True)
    ]


def finish_report(
  game: Game, plan: Plan, texts: Sequence[str | None], realizer: str
) -> list[Authored]:
  """A report of which a realizer wrote some sentences, None = not this."""
  parts = _Report(game).write(plan, texts)
  return [
    Authored(*each, realizer if text else TemplateRealizer.name)
    for each, text in zip(parts, texts, strict=True)
  ]


Said = Mapping[str, Mapping[str, str]]


class _Report:
  """A report while it is written."""

  def __init__(self, game: Game, skip: int = 0):
    self._game = game
    self._teams = {team.entity: team for team in game.teams}
    self._players = {player.entity: player for player in game.players}
    self._course = Course(game)
    self._turns = Turns(game, skip)
    self._naming = Naming(game)
    parts = self._course, self._naming, self._turns
    self._story = Story(*parts)
    self._performances = Performances(*parts)

  def write(
    self, plan: Plan, given: Sequence[str | None] = ()
  ) -> list[tuple[str, str]]:
    """Texts, empty where one would only repeat what was written.

    Beside every text is what is added to it.

    How the game went follows its result, or else ends a long report. Where a
    text is `given` for a sentence, it is taken.
    """
    written: list[str] = []
    added = [''] * len(plan)
    others = given or [None] * len(plan)
    result = self._last_of_result(plan)
    for place, sentence in enumerate(plan):
      own = self._sentence(sentence)
      text = others[place] or own
      written.append('' if text in written else text)
      if place == result:
        added[place] = self._flow(plan)
    places = [place for place, text in enumerate(written) if text]
    if len(places) > _SHORT:
      story = self._story
      flow = self._flow(plan) if result is None else added[places[-1]]
      ends = story.benches(), story.leaders(), story.closing()
      added[places[-1]] = _joined(flow, *ends)
    return list(zip(written, added, strict=True))

  def _last_of_result(self, plan: Plan) -> int | None:
    """The sentence of the result, or the last on teams that follow it."""
    said = [_by_entity(sentence) for sentence in plan]
    found = None
    for place, entities in enumerate(said):
      if found is None:
        found = place if self._is_result(entities) else None
      elif found == place - 1 and entities.keys() <= self._teams.keys():
        found = place
    return found

  def _flow(self, plan: Plan) -> str:
    """How the game went; what numbers of both teams tell is not said again."""
    told = {(r.entity, r.type) for sentence in plan for r in sentence}
    known = {
      type
      for _, type in told
      if all((team, type) in told for team in self._teams)
    }
    return _joined(self._story.flow(), self._story.contests(known))

  def _sentence(self, sentence: Sequence[Relation]) -> str:
    said, clauses = _by_entity(sentence), []
    if any(relation.type == DATE for relation in sentence):
      day = f'on {weekday(self._game.date)}'
      silent = all(map(_is_silent, said.values()))
      clauses = [] if silent else list(self._clauses(said))
      clauses[:1] = [f'{clauses[0] if clauses else self._meeting()} {day}']
    clauses = clauses or list(self._clauses(said))
    result = clauses[:1] if self._is_result(said) else []
    texts = [*result, *_in_pairs(clauses[len(result) :])]
    return ' '.join(f'{capital(text)}.' for text in texts)

  def _clauses(self, said: Said) -> Iterator[str]:
    """A clause for every entity, in the order they are first spoken of."""
    teams = [entity for entity in said if entity in self._teams]
    result = self._result(said) if self._is_result(said) else ''
    silent = [entity for entity in teams if _is_silent(said[entity])]
    if result:
      yield result
    elif len(silent) == len(said) == 2:
      yield self._meeting()
      return
    spoken = {'TEAM-PTS', 'TEAM-WINS', 'TEAM-LOSSES'} if result else set()
    for type, clause in self._duels(said):
      spoken.add(type)
      yield clause
    together = self._together(said)
    if together:
      yield together
    opens = not (result or together or spoken)
    for entity, values in said.items():
      left = {t: v for t, v in values.items() if t not in spoken}
      facts = _facts(left)
      if _is_silent(left) and len(said) > 1 and self._is_known(entity, said):
        continue
      if entity in self._players:
        if not together:
          yield self._player(entity, left, opens, len(said) == 1)
      else:
        yield self._of_team(entity, left, facts)
      opens = False

  def _is_known(self, entity: str, said: Said) -> bool:
    """Whether the name alone says nothing new."""
    of_players = {self._players[e].team for e in said if e in self._players}
    return self._naming.is_named(entity) or entity in of_players

  def _is_result(self, said: Said) -> bool:
    return all('TEAM-PTS' in said.get(team, {}) for team in self._teams)

  def _result(self, said: Said) -> str:
    """`The Herons (12-3) defeated the Comets (6-9) 104-92`."""
    teams = [self._teams[e] for e in said if e in self._teams]
    winner, loser = sorted(teams, key=_points, reverse=True)
    names = [
      self._team(team.entity, said[team.entity], record=True)
      for team in (winner, loser)
    ]
    scores = [team.values['TEAM-PTS'] for team in (winner, loser)]
    verb = 'tied with' if len(set(scores)) == 1 else 'defeated'
    return f'{names[0]} {verb} {names[1]} {"-".join(scores)}'

  def _duels(self, said: Said) -> Iterator[tuple[str, str]]:
    """Statistics that both teams have in a sentence, as one comparison."""
    for type, (verb, when) in _DUELS.items():
      cells = {
        team: said[team][type]
        for team in self._teams
        if type in said.get(team, {})
      }
      numbers = [int(v) for v in cells.values() if v.isdecimal()]
      if len(numbers) == 2 and numbers[0] != numbers[1]:
        better, other = sorted(cells, key=lambda t: -int(cells[t]))
        names = self._naming.team(better), self._naming.team(other)
        score = f'{cells[better]}-{cells[other]}'
        yield type, f'{names[0]} {verb} {names[1]} {score}{when}'

  def _together(self, said: Said) -> str:
    """`Vey and Abara scored 11 points apiece`: the same points and no more."""
    players = [entity for entity in said if entity in self._players]
    facts = [_facts(said[entity]) for entity in players]
    if len(players) < 2 or any(f != facts[0] for f in facts):
      return ''
    if facts[0].keys() != {'PTS'} or facts[0]['PTS'] == '0':
      return ''
    self._performances.forget_team()
    names = listed([self._naming.player(entity) for entity in players])
    points = count('PTS', facts[0]['PTS'])
    return self._turns.next(_APIECE).format(names=names, points=points)

  def _meeting(self) -> str:
    home, visitor = (
      self._naming.plural(team.entity) for team in self._game.teams
    )
    return f'{home} hosted {visitor}'

  def _of_team(
    self, entity: str, values: Mapping[str, str], facts: Mapping[str, str]
  ) -> str:
    """What a team did; or else how it fared, or where it played."""
    self._performances.forget_team()
    if facts:
      return f'{self._team(entity, values)} {predicate(facts)}'
    later = 'TEAM-WINS' in values and self._naming.is_named(entity)
    if later and self._course.winner:
      wording = self._turns.next(_RESULTS[self._course.lost(entity)])
      return wording.format(team=self._team(entity, values))
    side = SIDES[self._teams[entity].values['TEAM-SIDE']]
    return f'{self._team(entity, values)} played {side}'

  def _team(
    self, entity: str, values: Mapping[str, str], record: bool = False
  ) -> str:
    """A name with the record, if both of its numbers are told.

    Args:
      entity: the team.
      values: told of it.
      record: whether one of the numbers is enough.
    """
    wins, losses = values.get('TEAM-WINS'), values.get('TEAM-LOSSES')
    if wins and losses:
      return f'{self._naming.plural(entity)} ({wins}-{losses})'
    if record and (wins or losses):
      counted = count('WINS' if wins else 'LOSSES', wins or losses or '')
      return f'{self._naming.plural(entity)} ({counted})'
    return self._naming.team(entity)

  def _player(
    self,
    entity: str,
    values: Mapping[str, str],
    opens: bool,
    alone: bool,
  ) -> str:
    player, facts = self._players[entity], _facts(values)
    name = self._naming.player(entity)
    position = _POSITIONS.get(values.get(START_POSITION, ''))
    if not facts:
      role = f'the starting {position}' if position else 'a player'
      return f'{name} is {role} of {self._naming.plural(player.team)}'
    if position:
      name = f'starting {position} {name}'
    has_team = PLAYER_TEAM in values
    if has_team:
      name += f' of {self._naming.plural(player.team)}'
    told = Performance(player, name, facts, has_team, opens, alone)
    return self._performances.tell(told)


def _joined(*sentences: str) -> str:
  return ' '.join(filter(None, sentences))


def _by_entity(
  sentence: Sequence[Relation],
) -> dict[str, dict[str, str]]:
  """Values by entity and type, without the date; what is repeated, once."""
  said: dict[str, dict[str, str]] = {}
  for entity, value, type in sentence:
    if type != DATE:
      said.setdefault(entity, {})[type] = value
  return said


# Said with the name, not in the predicate.
_ROLES = frozenset({START_POSITION, PLAYER_TEAM})


def _is_silent(values: Mapping[str, str]) -> bool:
  """Whether an entity is only named."""
  return values.keys() <= NAME_TYPES


def _facts(values: Mapping[str, str]) -> dict[str, str]:
  """What a predicate is made of, by statistic; a whole record is a name's.

  Nobody is told what somebody has none of, unless there is nothing else.
  """
  facts = {t: v for t, v in values.items() if t not in NAME_TYPES | _ROLES}
  if {'TEAM-WINS', 'TEAM-LOSSES'} <= facts.keys():
    del facts['TEAM-WINS'], facts['TEAM-LOSSES']
  named = {type.partition('-')[2]: value for type, value in facts.items()}
  worthwhile = {s: v for s, v in named.items() if s not in COUNTS or v != '0'}
  return worthwhile or named


def _in_pairs(clauses: Sequence[str]) -> list[str]:
  """Two clauses a sentence; the first alone if their number is odd."""
  odd = len(clauses) % 2
  return [
    *clauses[:odd],
    *map(', while '.join, zip(*[iter(clauses[odd:])] * 2, strict=True)),
  ]


def _points(team: Team) -> int:
  return int(team.values['TEAM-PTS'])
