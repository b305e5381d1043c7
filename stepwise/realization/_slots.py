"""Sentences whose values are slots: taken out of texts, and put in again."""

from collections.abc import Collection, Sequence
from itertools import groupby

from stepwise.data import Tokenizer
from stepwise.extraction import AnnotatedSentence, Place
from stepwise.realization._words import COMMON, DIGITS
from stepwise.rotowire import DATE, FIRST_NAME, SECOND_NAME, Game
from stepwise.tables import Relation, weekday

# Words, or the number of an entry of the input.
Piece = str | int
_TIMES = frozenset({'night', 'evening', 'afternoon'})
# A word that nobody reads or writes.
UNKNOWN = '[UNK]'
# Counts that `a` or `an` makes one of.
ONES = {
  'assist': 'PLAYER-AST',
  'rebound': 'PLAYER-REB',
  'board': 'PLAYER-REB',
  'steal': 'PLAYER-STL',
  'block': 'PLAYER-BLK',
  'turnover': 'PLAYER-TO',
}


def take_out(
  sentence: AnnotatedSentence,
  places: Sequence[Place],
  slots: Sequence[Relation],
) -> tuple[Piece, ...] | None:
  """A sentence with slots where it says entries, in lower case.

  Args:
    sentence: of a summary.
    places: of its entries.
    slots: what slots stand for, everything once.

  Returns:
    Pieces; None if the sentence has a name or a number that no slot has.
  """
  known = {relation: slot for slot, relation in enumerate(slots)}
  starts: dict[int, tuple[int, list[int]]] = {}
  for place in places:
    if place.pronoun:
      continue
    if place.relation not in known:
      return None
    _, said = starts.setdefault(place.start, (place.end, []))
    # A number that two entries have is said once.
    if not said or _is_name(place):
      said.append(known[place.relation])
  if any(number.start not in starts for number in sentence.numbers):
    return None
  dates = {p.end for p in places if p.relation.type == DATE}
  return _pieces(sentence.tokens, starts, dates)


def with_ones(
  sentence: AnnotatedSentence, places: Sequence[Place], game: Game
) -> list[Place]:
  """Places, and those of `an assist`, `a pair of steals` that the table has."""
  players = {player.entity for player in game.players}
  found = list(places)
  for start, word in enumerate(sentence.tokens[:-1]):
    noun = sentence.tokens[start + 1]
    before = [
      m for m in sentence.mentions if m.entity in players and m.end <= start
    ]
    pair = [*sentence.tokens[start + 1 : start + 4]]
    if pair[:2] == ['pair', 'of']:
      noun, count, end = pair[-1].removesuffix('s'), '2', start + 3
    else:
      count, end = '1', start + 1
    if word.lower() in ('a', 'an') and noun in ONES and before:
      entity, type = before[-1].entity, ONES[noun]
      if game.values[entity].get(type) == count:
        found.append(Place(start, 0, Relation(entity, count, type), end))
  return sorted(found)


def _is_name(place: Place) -> bool:
  return not place.relation.value.isdigit()


def _pieces(
  tokens: Sequence[str],
  starts: dict[int, tuple[int, list[int]]],
  dates: set[int],
) -> tuple[Piece, ...] | None:
  pieces: list[Piece] = []
  position = 0
  while position < len(tokens):
    if position in starts:
      position, slots = starts[position]
      pieces += slots
      continue
    word = tokens[position]
    if word[:1].isupper() and word not in COMMON and position:
      return None
    # When a game was played no table tells.
    if not (position in dates and word in _TIMES):
      word = word if word in COMMON else word.lower()
      if pieces and isinstance(pieces[-1], str):
        pieces[-1] += f' {word}'
      else:
        pieces.append(word)
    position += 1
  return tuple(pieces)


def with_unknown(
  pieces: Sequence[Piece], places: Collection[int]
) -> tuple[Piece, ...]:
  """Pieces of which some words are unknown, by place; slots are places, too."""
  hidden, place = [], 0
  for piece in pieces:
    if isinstance(piece, int):
      hidden.append(piece)
      place += 1
      continue
    words = piece.split()
    hidden.append(
      ' '.join(
        UNKNOWN if place + number in places else word
        for number, word in enumerate(words)
      )
    )
    place += len(words)
  return tuple(hidden)


def encode_pieces(
  texts: Sequence[Sequence[Piece]], tokenizer: Tokenizer
) -> list[list[int]]:
  """Ids of words, and those that are reserved for slots."""
  words = [piece for text in texts for piece in text if isinstance(piece, str)]
  ids = iter(tokenizer.encode_units(words))
  return [
    [
      index
      for piece in text
      for index in (
        next(ids) if isinstance(piece, str) else [tokenizer.slots[piece]]
      )
    ]
    for text in texts
  ]


def decode_pieces(
  ids: Sequence[int], tokenizer: Tokenizer
) -> tuple[Piece, ...]:
  """Words and slots of ids."""
  slots = tokenizer.slots
  pieces: list[Piece] = []
  for is_slot, group in groupby(ids, key=slots.__contains__):
    if is_slot:
      pieces += [slots.index(index) for index in group]
    else:
      pieces.append(tokenizer.decode(list(group)).strip())
  return tuple(pieces)


def put_in(
  pieces: Sequence[Piece],
  slots: Sequence[Relation],
  game: Game,
  named: Collection[str] = (),
) -> str:
  """Words with the values of slots in their places, with single spaces.

  Args:
    pieces: words and slots.
    slots: what slots stand for.
    game: tells the day of a date, and whose names others have too.
    named: who was named before; the others are named in full.
  """
  written, known = [], set(named)
  for index, piece in enumerate(pieces):
    if isinstance(piece, str):
      written.append(piece)
      continue
    before = pieces[index - 1] if index else ''
    after = pieces[index + 1] if index + 1 < len(pieces) else ''
    entry = slots[piece]
    if entry.type == SECOND_NAME:
      in_full = isinstance(before, int) and slots[before] == Relation(
        entry.entity, game.values[entry.entity][FIRST_NAME], FIRST_NAME
      )
      if in_full:
        # The first name was the whole one.
        continue
    written.append(_spelled(entry, before, after, game, known))
    if entry.type in (FIRST_NAME, SECOND_NAME):
      known.add(entry.entity)
  text = ' '.join(written)
  return text[:1].upper() + text[1:]


def _spelled(
  entry: Relation, before: Piece, after: Piece, game: Game, named: set[str]
) -> str:
  """A value as people write it: small amounts in words, scores in digits."""
  if entry.type == DATE:
    return weekday(game.date)
  if entry.type == FIRST_NAME:
    return entry.entity
  if entry.type == SECOND_NAME:
    return _surname(entry, game) if entry.entity in named else entry.entity
  if not entry.value.isdigit() or int(entry.value) >= len(DIGITS):
    return entry.value
  beside = isinstance(before, str) and before.endswith(('-', '(', '/'))
  follows = isinstance(after, str) and (
    after in ('-', '/')
    or after.startswith(('- of', '- for', '/', ')', 'percent', '%'))
  )
  return entry.value if beside or follows else DIGITS[int(entry.value)]


def _surname(entry: Relation, game: Game) -> str:
  """It may be missing, or a name of somebody else as well."""
  others = (p for p in game.players if p.entity != entry.entity)
  shared = {name for p in others for name in (p.first_name, p.second_name)}
  return entry.entity if entry.value in {'N/A', *shared} else entry.value
