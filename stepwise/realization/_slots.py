"""Sentences whose values are slots: taken out of texts, and put in again."""

from collections.abc import Callable, Sequence
from itertools import groupby

from stepwise.data import Tokenizer
from stepwise.extraction import AnnotatedSentence, Number, Place
from stepwise.realization._words import COMMON, DIGITS
from stepwise.rotowire import DATE, Game
from stepwise.tables import Relation, weekday

# Words, or the number of an entry of the input.
Piece = str | int


def take_out(
  sentence: AnnotatedSentence,
  places: Sequence[Place],
  others: Sequence[Relation] = (),
) -> tuple[Piece, ...] | None:
  """A sentence with slots where it says entries.

  Args:
    sentence: of a summary.
    places: of its entries; the number of a slot is the place's own.
    others: entries that follow, such as those of the context; numbers that no
      place has may be theirs.

  Returns:
    Pieces; None if the sentence has a name or a number that no entry has.
  """
  starts: dict[int, tuple[int, list[int]]] = {}
  for slot, place in enumerate(places):
    if not place.pronoun:
      _, slots = starts.setdefault(place.start, (place.end, []))
      # A number that two entries have is said once.
      if not slots or _is_name(place):
        slots.append(slot)
  for number in _free_numbers(sentence, starts):
    slot = _slot_of(number, others, len(places))
    if slot is None:
      return None
    starts[number.start] = number.end, [slot]
  named = {m.start for m in sentence.mentions if m.pronoun}
  return _pieces(sentence.tokens, starts, named)


def _is_name(place: Place) -> bool:
  return not place.relation.value.isdigit()


def _free_numbers(
  sentence: AnnotatedSentence, starts: dict[int, tuple[int, list[int]]]
) -> list[Number]:
  return [number for number in sentence.numbers if number.start not in starts]


def _slot_of(
  number: Number, others: Sequence[Relation], first: int
) -> int | None:
  for slot, relation in enumerate(others, start=first):
    if relation.value == str(number.value):
      return slot
  return None


def _pieces(
  tokens: Sequence[str],
  starts: dict[int, tuple[int, list[int]]],
  pronouns: set[int],
) -> tuple[Piece, ...] | None:
  pieces: list[Piece] = []
  position = 0
  while position < len(tokens):
    if position in starts:
      position, slots = starts[position]
      pieces += slots
      continue
    word = tokens[position]
    is_name = word[:1].isupper() and word not in COMMON
    if is_name and position and position not in pronouns:
      return None
    if pieces and isinstance(pieces[-1], str):
      pieces[-1] += f' {word}'
    else:
      pieces.append(word)
    position += 1
  return tuple(pieces)


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
  entries: Sequence[Relation],
  game: Game,
  restore: Callable[[str], str] = str,
) -> str:
  """Words with the values of slots in their places, with single spaces.

  Args:
    pieces: words and slots.
    entries: what slots stand for.
    game: tells the day of a date.
    restore: spells words, such as those without capital letters.
  """
  written = []
  for index, piece in enumerate(pieces):
    if isinstance(piece, str):
      written.append(restore(piece))
      continue
    before = pieces[index - 1] if index else ''
    after = pieces[index + 1] if index + 1 < len(pieces) else ''
    written.append(_spelled(entries[piece], before, after, game))
  text = ' '.join(written)
  return text[:1].upper() + text[1:]


def _spelled(entry: Relation, before: Piece, after: Piece, game: Game) -> str:
  """A value as people write it: small amounts in words, scores in digits."""
  if entry.type == DATE:
    return weekday(game.date)
  if not entry.value.isdigit() or int(entry.value) >= len(DIGITS):
    return entry.value
  beside = isinstance(before, str) and before.endswith(('-', '(', '/'))
  follows = isinstance(after, str) and (
    after in ('-', '/')
    or after.startswith(('- of', '- for', '/', ')', 'percent', '%'))
  )
  return entry.value if beside or follows else DIGITS[int(entry.value)]
