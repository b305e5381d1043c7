"""Who a sentence speaks of: names of teams and players, pronouns, the date."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stepwise.extraction._text import (
  Number,
  find_numbers,
  sentence_tokens,
  tokenize,
)
from stepwise.rotowire import (
  DATE,
  FIRST_NAME,
  MATCH,
  SECOND_NAME,
  TEAM_CITY,
  TEAM_NAME,
  Game,
  Player,
  Team,
)
from stepwise.tables import weekday

# Short forms of team names and cities in common use.
_ALIASES = {
  '76ers': ('Sixers',),
  'Cavaliers': ('Cavs',),
  'Mavericks': ('Mavs',),
  'Timberwolves': ('Wolves', 'T-Wolves'),
  'Trail Blazers': ('Blazers',),
  'LA': ('Los Angeles', 'L.A.'),
  'Los Angeles': ('LA', 'L.A.'),
}
_SHORT_FORMS = frozenset({'Sixers', 'Cavs', 'Mavs', 'Wolves'})
# Of a surname, where texts leave it out.
_SUFFIX = re.compile(r' (?:Jr\.?|Sr\.?|II|III|IV)$')
_PLAYER_PRONOUNS = frozenset({'he', 'him', 'his', 'himself'})
_TEAM_PRONOUNS = frozenset({'they', 'them', 'their', 'themselves', 'its'})


class Mention(NamedTuple):
  """An entity in `tokens[start:end]`.

  Attributes:
    start, end: its tokens.
    entity: as the table names it.
    kind: `team`, `player` or `match`.
    types: the entry types that the words give: a city, a surname.
    pronoun: whether it was resolved from a pronoun.
  """

  start: int
  end: int
  entity: str
  kind: str
  types: tuple[str, ...]
  pronoun: bool = False


class AnnotatedSentence(NamedTuple):
  """Tokens, and what they mention, from left to right."""

  tokens: tuple[str, ...]
  mentions: tuple[Mention, ...]
  numbers: tuple[Number, ...]


class _Name(NamedTuple):
  entity: str
  kind: str
  types: tuple[str, ...]


_Lexicon = Mapping[tuple[str, ...], Sequence[_Name]]


class _Memory:
  """Who was named last, for pronouns and for names that several share."""

  def __init__(self) -> None:
    self._named: dict[str, _Name] = {}

  def remember(self, name: _Name) -> None:
    self._named.pop(name.entity, None)
    self._named[name.entity] = name

  def last(self, kind: str) -> _Name | None:
    names = reversed(self._named.values())
    return next((name for name in names if name.kind == kind), None)

  def choose(self, names: Sequence[_Name]) -> _Name | None:
    """The one that was named last, or the likeliest of the names."""
    by_entity = {name.entity: name for name in names}
    last = next((e for e in reversed(self._named) if e in by_entity), None)
    return by_entity[last] if last else _likeliest(names)


def read_sentences(text: str, game: Game) -> list[AnnotatedSentence]:
  """Sentences with mentions of the game's teams, players and date.

  Players are found by full name, surname or first name, teams by city, name or
  both; a name that two of the game share is that of the one named last, or of
  the team, or of the first in the table whose surname it is. `he` is
  the last player named before, `they` the last team. Where nobody was named
  before, such words are left alone.
  """
  lexicon = _lexicon(game)
  day = weekday(game.date)
  memory = _Memory()
  sentences = []
  for tokens in sentence_tokens(text):
    mentions = tuple(_mentions(tokens, lexicon, day, memory))
    numbers = [
      number
      for number in find_numbers(tokens)
      if not any(m.start <= number.start < m.end for m in mentions)
    ]
    sentences.append(AnnotatedSentence(tuple(tokens), mentions, tuple(numbers)))
  return sentences


def without_strangers(sentence: AnnotatedSentence) -> AnnotatedSentence:
  """Only whom the sentence names in full, and `he` where it names him.

  The field's extractors know nobody else, so its scores are of such sentences:
  no short forms of teams, and no `they`, who may be anybody.
  """
  named = {m.entity for m in sentence.mentions if not m.pronoun}
  return sentence._replace(
    mentions=tuple(
      mention
      for mention in sentence.mentions
      if not _is_short_form(mention, sentence.tokens)
      and not (mention.pronoun and mention.kind == 'team')
      and mention.entity in named
    )
  )


def _is_short_form(mention: Mention, tokens: Sequence[str]) -> bool:
  return tokens[mention.end - 1] in _SHORT_FORMS


def find_entity(text: str, game: Game) -> str | None:
  """The team or player that a name most likely stands for."""
  name = _likeliest(_lexicon(game).get(_key(tokenize(text)), ()))
  return name.entity if name else None


def _likeliest(names: Sequence[_Name]) -> _Name | None:
  """As the field resolves a name: a team, a surname, an only first name."""
  if len(names) == 1:
    return names[0]
  teams = (name for name in names if name.kind == 'team')
  surnames = (name for name in names if SECOND_NAME in name.types)
  return next(teams, None) or next(surnames, None)


def _mentions(
  tokens: Sequence[str], lexicon: _Lexicon, day: str, memory: _Memory
) -> Iterator[Mention]:
  """Mentions of a sentence; `memory` goes from one sentence to the next."""
  longest = max(map(len, lexicon))
  position = 0
  while position < len(tokens):
    length, names = _longest_name(tokens, position, longest, lexicon)
    name = memory.choose(names) if names else None
    if name:
      memory.remember(name)
      yield Mention(position, position + length, *name)
    elif tokens[position] == day:
      yield Mention(position, position + 1, MATCH, 'match', (DATE,))
    elif referent := memory.last(_pronoun_kind(tokens[position])):
      yield _pronoun(position, referent)
    position += length


def _pronoun(position: int, referent: _Name) -> Mention:
  type = TEAM_NAME if referent.kind == 'team' else SECOND_NAME
  return Mention(
    *(position, position + 1, referent.entity, referent.kind, (type,)),
    pronoun=True,
  )


def _pronoun_kind(token: str) -> str:
  word = token.lower()
  if word in _PLAYER_PRONOUNS:
    return 'player'
  return 'team' if word in _TEAM_PRONOUNS else ''


def _longest_name(
  tokens: Sequence[str], start: int, longest: int, lexicon: _Lexicon
) -> tuple[int, Sequence[_Name]]:
  """How many tokens the longest name here has, and whose it is."""
  if tokens[start][0].isupper() or tokens[start][0].isdigit():
    for end in range(min(start + longest, len(tokens)), start, -1):
      names = lexicon.get(_key(tokens[start:end]))
      if names:
        return end - start, names
  return 1, ()


def _key(tokens: Sequence[str]) -> tuple[str, ...]:
  """`J.R.`, `J.R` and `JR` are spellings of one name."""
  return tuple(token.replace('.', '') or token for token in tokens)


def _lexicon(game: Game) -> _Lexicon:
  """Whose name a sequence of words is, in all spellings."""
  lexicon: dict[tuple[str, ...], list[_Name]] = defaultdict(list)
  for names in (*map(_team_names, game.teams), *map(_names, game.players)):
    keys = {_key(tokenize(text)): name for text, name in names.items()}
    for key, name in keys.items():
      if key:
        lexicon[key].append(name)
  return lexicon


def _team_names(team: Team) -> dict[str, _Name]:
  entity, names = team.entity, {}
  cities = (team.city, *_ALIASES.get(team.city, ()))
  nicknames = (team.name, *_ALIASES.get(team.name, ()))
  for city in cities:
    names[city] = _Name(entity, 'team', (TEAM_CITY,))
    for nickname in nicknames:
      both = (TEAM_CITY, TEAM_NAME)
      names[f'{city} {nickname}'] = _Name(entity, 'team', both)
  for nickname in nicknames:
    names[nickname] = _Name(entity, 'team', (TEAM_NAME,))
  return names


def _names(player: Player) -> dict[str, _Name]:
  def name(*types: str) -> _Name:
    return _Name(player.entity, 'player', types)

  first, second = player.first_name, player.second_name
  surnames = dict.fromkeys((second, _SUFFIX.sub('', second)))
  return {
    first: name(FIRST_NAME),
    **{surname: name(SECOND_NAME) for surname in surnames},
    **{
      f'{first} {surname}': name(FIRST_NAME, SECOND_NAME)
      for surname in surnames
    },
    player.entity: name(FIRST_NAME, SECOND_NAME),
  }
