"""From tokens to text that people read: spaces and capital letters."""

import re
from collections.abc import Iterable, Mapping, Sequence

from stepwise.data import Tokenizer
from stepwise.rotowire import Game

_WORDS = (
  *('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'),
  *('Sunday', 'January', 'February', 'April', 'June', 'July', 'August'),
  *('September', 'October', 'November', 'December', 'Christmas', 'NBA', 'MVP'),
  *('Eastern Conference', 'Western Conference', 'All - Star', 'I'),
)
# Written as tokens with single spaces between them.
_SPACING = (
  (re.compile(r"(\w) n ' t\b"), r"\1n't"),
  (re.compile(r"(\w)n ' t\b"), r"\1n't"),
  (re.compile(r" ' ?(s|re|ve|ll|d)\b"), r"'\1"),
  (re.compile(r"(\ws) '(?= )"), r"\1'"),
  (re.compile(r'(\d) \. (\d)'), r'\1.\2'),
  (re.compile(r' ([,.;:!?%)])'), r'\1'),
  (re.compile(r'\( '), '('),
  (re.compile(r' - '), '-'),
)

Spellings = Mapping[tuple[str, ...], str]


def join_tokens(text: str) -> str:
  """Removes the spaces that only part tokens.

  >>> join_tokens("The Herons ' lead ( 12 - 3 ) , Lund 's best .")
  "The Herons' lead (12-3), Lund's best."
  """
  for pattern, replacement in _SPACING:
    text = pattern.sub(replacement, text)
  return text


def name_spellings(
  game: Game, named: Iterable[str], tokenizer: Tokenizer
) -> Spellings:
  """How names are written, by their tokens in lower case.

  Cities, teams and full names of all players; surnames and first names only of
  the entities that were `named`, for some of them are words.
  """
  active, names = set(named), list(_WORDS)
  for team in game.teams:
    names += [team.city, team.name, team.entity]
  for player in game.players:
    names += [player.entity, f'{player.first_name} {player.second_name}']
    if player.entity in active:
      names += [player.first_name, player.second_name]
  encoded = tokenizer.encode_units(names)
  return {
    tuple(tokenizer.decode(ids).split()): name.replace(' - ', '-')
    for ids, name in zip(encoded, names, strict=True)
  }


def restore_case(text: str, spellings: Spellings) -> str:
  """`respell`, and a capital letter at the beginning."""
  restored = respell(text, spellings)
  return restored[:1].upper() + restored[1:]


def respell(text: str, spellings: Spellings) -> str:
  """Spells names as given, longest first.

  Args:
    text: tokens in lower case with single spaces between them.
    spellings: of names, see `name_spellings`.
  """
  tokens, written, position = text.split(), [], 0
  longest = max(map(len, spellings), default=1)
  while position < len(tokens):
    length, word = _longest(tokens[position : position + longest], spellings)
    written.append(word)
    position += length
  return ' '.join(written)


def _longest(tokens: Sequence[str], spellings: Spellings) -> tuple[int, str]:
  for length in range(len(tokens), 0, -1):
    name = spellings.get(tuple(tokens[:length]))
    if name is not None:
      return length, name
  return 1, tokens[0]
