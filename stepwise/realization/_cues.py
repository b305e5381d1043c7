"""What a realizer that writes by reference is told: no name, no number.

It need not know how somebody is called, only who won, who started and whose
points were the most. Cues are words in brackets; a text has none.
"""

from collections.abc import Iterator, Mapping, Sequence

from stepwise.extraction import placed_sentences
from stepwise.realization._course import Course
from stepwise.realization._words import COMMON
from stepwise.rotowire import (
  DATE,
  NAME_TYPES,
  SECOND_NAME,
  TEAM_CITY,
  TEAM_NAME,
  Game,
  Player,
  Team,
)
from stepwise.tables import Relation

# Whoever leads in these is said to.
BOASTS = ('PLAYER-PTS', 'PLAYER-REB', 'PLAYER-AST', 'PLAYER-STL', 'PLAYER-BLK')
_DOUBLES = {2: 'DOUBLE', 3: 'TRIPLE'}
# Players of one sentence that can be told apart.
PEOPLE = 10
_LARGEST = 100
# Lengths that can be told apart, and of how many words each is.
_WORD_CUES = 10
_WORD_STEP = 4
# Words and cues of the sentence before.
_BEFORE = 24
_NAMES = (TEAM_CITY, TEAM_NAME)


def cue_words() -> tuple[str, ...]:
  """All cues, but those of types of entries."""
  values = [*range(10), *range(10, _LARGEST + 1, 10)]
  return tuple(
    f'[{word}]'
    for word in (
      *('OPENING', 'LATER', 'WINNER', 'LOSER', 'HOME', 'AWAY', 'BENCH'),
      *('LEADER', 'BENCHLEADER', 'DOUBLE', 'TRIPLE', 'MOST', 'TEAMMOST'),
      *(f'PLAYER{number}' for number in range(PEOPLE)),
      *values,
      *(f'WORDS{number}' for number in range(_WORD_CUES)),
    )
  )


def words_cue(words: int) -> str:
  """About how many words a sentence has beside its names and numbers."""
  return f'[WORDS{min(words // _WORD_STEP, _WORD_CUES - 1)}]'


def usual_words(entries: int) -> int:
  """How many words people need for so many numbers, rounded up."""
  return 7 + 2 * entries


class Cues:
  """The cues of one game, which must have a winner."""

  def __init__(self, game: Game):
    self._game = game
    self.course = Course(game)
    self._teams = {team.entity: team for team in game.teams}
    self._players = {player.entity: player for player in game.players}

  def entries(self, sentence: Sequence[Relation]) -> tuple[Relation, ...]:
    """What a sentence must say, everything once.

    A team of which nothing but the name is planned may be named or not.
    """
    spoken = {r.entity for r in sentence if r.type not in NAME_TYPES}
    return tuple(
      relation
      for relation in dict.fromkeys(sentence)
      if relation.type not in _NAMES or relation.entity in spoken
    )

  def context(self, sentence: Sequence[Relation]) -> tuple[Relation, ...]:
    """Names of teams that a sentence may also say."""
    known = set(self.entries(sentence))
    return tuple(
      relation
      for team in self._sides()
      for relation in (
        Relation(team.entity, team.city, TEAM_CITY),
        Relation(team.entity, team.name, TEAM_NAME),
      )
      if relation not in known
    )

  def texts(self, relations: Sequence[Relation]) -> list[str]:
    """The cues of every relation; of a player first who it is."""
    tags: dict[str, str] = {}
    written = []
    for relation in relations:
      cues = [f'[{relation.type}]']
      new = relation.entity not in tags
      cues.append(self._tag(relation.entity, tags))
      if new:
        cues += self._who(relation.entity)
      cues += self._value(relation)
      written.append(' '.join(filter(None, cues)))
    return written

  def before(self, text: str, relations: Sequence[Relation]) -> str:
    """The sentence before: words, whom it named, and what numbers said.

    Args:
      text: of it; of several sentences the last.
      relations: what is said next; whoever is in both has the same tag.
    """
    found = placed_sentences(self._game, text=text)
    if not found:
      return ''
    sentence, places = found[-1]
    tags: dict[str, str] = {}
    for relation in relations:
      self._tag(relation.entity, tags)
    names = {m.start: m for m in sentence.mentions if not m.pronoun}
    said = {place.start: place for place in places if not place.pronoun}
    cues: list[str] = []
    position = 0
    while position < len(sentence.tokens) and len(cues) < _BEFORE:
      mention, place = names.get(position), said.get(position)
      if mention:
        cues += self._named(mention.entity, tags)
        position = mention.end
      elif place:
        cues.append(f'[{place.relation.type}]')
        position = place.end
      else:
        word = sentence.tokens[position]
        cues.append(word if word in COMMON else word.lower())
        position += 1
    return ' '.join(cues)

  def _named(self, entity: str, tags: dict[str, str]) -> list[str]:
    if tags.get(entity):
      return [tags[entity]]
    if entity in self._players:
      team = self._players[entity].team
      return [f'[{SECOND_NAME}]', self._side(team)]
    return [self._side(entity) if entity in self._teams else f'[{DATE}]']

  def _sides(self) -> tuple[Team, ...]:
    return tuple(
      team for team in (self.course.winner, self.course.loser) if team
    )

  def _tag(self, entity: str, tags: dict[str, str]) -> str:
    if entity not in tags:
      people = sum(tag.startswith('[PLAYER') for tag in tags.values())
      if entity in self._players:
        tags[entity] = f'[PLAYER{min(people, PEOPLE - 1)}]'
      else:
        tags[entity] = self._side(entity) if entity in self._teams else ''
    return tags[entity]

  def _side(self, team: str) -> str:
    return '[LOSER]' if self.course.lost(team) else '[WINNER]'

  def _who(self, entity: str) -> Iterator[str]:
    if entity in self._teams:
      yield f'[{self._teams[entity].values["TEAM-SIDE"].upper()}]'
      return
    player = self._players.get(entity)
    if player is None:
      return
    yield self._side(player.team)
    if self.course.from_bench(player):
      yield '[BENCH]'
    if self.course.leads_team(player):
      yield '[LEADER]'
    elif self.course.leads_bench(player):
      yield '[BENCHLEADER]'
    doubles = count_doubles(player.values)
    if doubles in _DOUBLES:
      yield f'[{_DOUBLES[doubles]}]'

  def _value(self, relation: Relation) -> Iterator[str]:
    if relation.type in NAME_TYPES or relation.type == DATE:
      return
    if relation.value.isdecimal():
      value = int(relation.value)
      yield f'[{value if value < 10 else min(value // 10 * 10, _LARGEST)}]'
    player = self._players.get(relation.entity)
    if player is not None and relation.type in BOASTS:
      if self.is_most(player, relation.type, self._game.players):
        yield '[MOST]'
      elif self.is_most(player, relation.type, self.mates(player)):
        yield '[TEAMMOST]'

  def mates(self, player: Player) -> list[Player]:
    """The players of his team."""
    return [p for p in self._game.players if p.team == player.team]

  @staticmethod
  def is_most(player: Player, type: str, players: Sequence[Player]) -> bool:
    """Whether nobody of the players has more, and he has some."""
    values = [p.values.get(type, '') for p in players]
    most = max((int(v) for v in values if v.isdecimal()), default=0)
    return most > 0 and player.values.get(type) == str(most)


def count_doubles(values: Mapping[str, str]) -> int:
  """How many counts of a player have two digits."""
  counts = (values.get(type, '') for type in BOASTS)
  return sum(value.isdecimal() and int(value) >= 10 for value in counts)
