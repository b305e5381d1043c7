"""What a report gets wrong that every reader would notice.

The final score, records, names and days, looked for in the text and compared
with the table; other claims are the extractors' affair.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from stepwise.extraction import AnnotatedSentence, read_sentences
from stepwise.realization._words import COMMON
from stepwise.rotowire import Game
from stepwise.tables import WEEKDAYS, weekday

KINDS = ('score', 'record', 'name', 'day')
# Less may be a lead, a quarter or a record.
_LEAST_SCORE = 60
_DAYS = frozenset(WEEKDAYS)
_NAME = re.compile(r"[A-Z][\w'\u2019.-]*$")


class Mistake(NamedTuple):
  """What a text says that the table does not.

  Attributes:
    kind: one of `KINDS`.
    words: of the text.
    sentence: they are in.
  """

  kind: str
  words: str
  sentence: str


def check_text(text: str, game: Game) -> list[Mistake]:
  """Mistakes of a text about a game, in its order."""
  day = weekday(game.date)
  known = _known_words(game)
  return [
    Mistake(kind, words, ' '.join(sentence.tokens))
    for sentence in read_sentences(text, game)
    for kind, words in (
      *_wrong_pairs(sentence, game),
      *_strange_names(sentence, known),
      *(('day', t) for t in sentence.tokens if t in _DAYS and t != day),
    )
  ]


def _wrong_pairs(
  sentence: AnnotatedSentence, game: Game
) -> Iterator[tuple[str, str]]:
  """`104 - 92` that is no final score, `( 12 - 3 )` that is no record."""
  tokens = sentence.tokens
  points = sorted(int(team.values['TEAM-PTS']) for team in game.teams)
  records = {
    team.entity: (team.values['TEAM-WINS'], team.values['TEAM-LOSSES'])
    for team in game.teams
  }
  for first, second in zip(
    sentence.numbers, sentence.numbers[1:], strict=False
  ):
    words = tokens[first.start : second.end]
    if tokens[first.end : second.start] != ('-',):
      continue
    pair = first.value, second.value
    if min(pair) >= _LEAST_SCORE and sorted(pair) != points:
      yield 'score', ' '.join(words)
    team = next(
      (m for m in sentence.mentions if m.end == first.start - 1), None
    )
    in_brackets = tokens[first.start - 1 : first.start] == ('(',)
    wanted = records.get(team.entity) if team and in_brackets else None
    if wanted and tuple(map(str, pair)) != wanted:
      yield 'record', ' '.join(words)


def _strange_names(
  sentence: AnnotatedSentence, known: frozenset[str]
) -> Iterator[tuple[str, str]]:
  """Words with a capital letter inside a sentence that the table lacks."""
  named = {
    place
    for mention in sentence.mentions
    for place in range(mention.start, mention.end)
  }
  fine = known | _DAYS | COMMON
  for place, token in enumerate(sentence.tokens):
    is_name = place and place not in named and _NAME.match(token)
    if is_name and token not in fine:
      yield 'name', token


def _known_words(game: Game) -> frozenset[str]:
  names: Sequence[str] = (
    *(team.entity for team in game.teams),
    *(player.entity for player in game.players),
  )
  words = {word for name in names for word in re.split(r'[ -]', name)}
  return frozenset(words | {word.rstrip('.') for word in words})
