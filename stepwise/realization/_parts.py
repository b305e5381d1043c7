"""What can be learnt from sentences that say more than a table tells.

`in his best game of the season` is left out, `night` is a game, a title goes
from before a name, `he` at the beginning is whoever was spoken of. If the rest
still says what nobody could know, its clauses are tried one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from stepwise.extraction import AnnotatedSentence, Place
from stepwise.realization._words import COMMON
from stepwise.rotowire import DATE, NAME_TYPES, SECOND_NAME, TEAM_NAME

# Left out wherever they stand.
_DROPPED = (
  *(('on', 'the', 'season'), ('of', 'the', 'season'), ('this', 'season')),
  *(('on', 'the', 'year'), ('of', 'the', 'year'), ('on', 'the', 'campaign')),
  *(('once', 'again'), ('yet', 'again'), ('again',), ('tonight',)),
  *(('in', 'this', 'one'), ('in', 'this', 'game'), ('of', 'his', 'own')),
)
# `a season - high 31 points` is 31 points.
_RECORDS = frozenset({'season', 'career', 'year', 'franchise'})
_HIGHS = frozenset({'high', 'best', 'highs'})
_DETERMINERS = frozenset({'a', 'an', 'his', 'another', 'the'})
# Which time of the day it was no table tells; that there was a game it does.
_TIMES = {'night': 'game', 'evening': 'game', 'afternoon': 'game'}
_ON_TIMES = frozenset({('on', 'the'), ('on', 'this'), ('for', 'the')})
# Before a name.
_TITLES = frozenset(
  {
    *('rookie', 'veteran', 'star', 'superstar', 'sophomore', 'former', 'point'),
    *('shooting', 'power', 'small', 'guard', 'forward', 'center', 'big', 'man'),
    *('All', '-', 'Star', 'all', 'swingman', 'reigning', 'MVP', 'young'),
    *('starting', 'backup', 'fellow', 'teammate', 'teammates', 'newly'),
    *(
      'acquired',
      'wing',
      'wingman',
      'combo',
      'reserve',
      'stretch',
      'sharpshooter',
    ),
  }
)
_PEOPLE = frozenset(
  {
    *('guard', 'forward', 'center', 'rookie', 'man', 'Star', 'star', 'veteran'),
    *('teammate', 'swingman', 'MVP', 'superstar', 'sophomore', 'teammates'),
    *('wingman', 'sharpshooter', 'wing'),
  }
)
# Clauses are parted by these, if whoever does something follows.
_JOINTS = frozenset({'while', 'and', 'but', 'as', 'with'})
# A clause may end before these.
_ENDS = frozenset(
  {
    *(',', ';', 'which', 'as', 'after', 'since', 'before', 'despite', 'while'),
    *('including', 'because', 'during', 'giving', 'but', 'where', 'when'),
    *('although', 'though', 'marking', 'and'),
  }
)
# What no clause ends with.
_DANGLING = frozenset(
  {
    *('the', 'a', 'an', 'and', 'of', 'to', 'with', 'for', 'by', 'in', 'on'),
    *('from', 'at', 'his', 'their', 'its', 'as', 'was', 'were', 'but', 'that'),
    *('while', 'who', 'which', '-', '(', ',', ';', 'also', 'just', 'only'),
    *('had', 'led', 'saw', 'got', 'over', 'not', 'both', 'another', 'is'),
  }
)
_RELATIVE = frozenset({'who', 'which', 'that', 'as', 'he', 'where', 'when'})
# Without one of them words are no sentence.
FINITE = frozenset(
  {
    *('accrued', 'accumulated', 'added', 'amassed', 'beat', 'blew', 'came'),
    *('chipped', 'collected', 'committed', 'compiled', 'contributed'),
    *('defeated', 'delivered', 'dished', 'dominated', 'downed', 'dropped'),
    *('edged', 'ended', 'erupted', 'exploded', 'fell', 'filled', 'finished'),
    *('followed', 'generated', 'got', 'grabbed', 'had', 'handed', 'hauled'),
    *('held', 'hit', 'knocked', 'led', 'logged', 'made', 'managed', 'matched'),
    *('netted', 'notched', 'outrebounded', 'outscored', 'paced', 'picked'),
    *('pitched', 'played', 'posted', 'poured', 'produced', 'provided'),
    *('pulled', 'put', 'racked', 'recorded', 'registered', 'ripped', 'routed'),
    *('sank', 'saw', 'scored', 'shot', 'snatched', 'spearheaded', 'stuffed'),
    *('supplied', 'swiped', 'tallied', 'tied', 'took', 'topped', 'totaled'),
    *('turned', 'was', 'went', 'were', 'won', 'lost', 'committed', 'tossed'),
  }
)

Words = list[tuple[int | None, str]]


class Part(NamedTuple):
  """A sentence, or what is left of it."""

  sentence: AnnotatedSentence
  places: list[Place]


def told_parts(part: Part, usable: Callable[[Part], bool]) -> list[Part]:
  """What may be learnt from a sentence: it, most of it, or clauses of it.

  Args:
    part: a sentence with its places.
    usable: whether nothing in a part is unknown to its table.
  """
  if usable(part):
    return [part]
  words = _without_untold(part)
  mended = _selected(part, words)
  if usable(mended):
    return [mended]
  return [
    found
    for clause in _clauses(part, words)
    for found in [_longest(part, clause, usable)]
    if found
  ]


def _longest(
  part: Part, clause: Words, usable: Callable[[Part], bool]
) -> Part | None:
  """The longest beginning of a clause that can be used."""
  for end in range(len(clause), 2, -1):
    is_end = end == len(clause) or clause[end][1] in _ENDS
    words = clause[:end]
    while words and words[-1][1] in (',', '.', 'and', ';'):
      words = words[:-1]
    if is_end and _is_clause(part, words):
      found = _selected(part, [*_listed(part, words), (None, '.')])
      if usable(found):
        return found
  return None


def _listed(part: Part, words: Words) -> Words:
  """With `and` before the last number of a list that lost its end."""
  numbers = {number.start for number in part.sentence.numbers}
  depth, comma = 0, None
  for place, (_, word) in enumerate(words):
    depth += (word == '(') - (word == ')')
    if word == ',' and not depth:
      follows = words[place + 1 : place + 2]
      comma = place if follows and follows[0][0] in numbers else None
    elif word == 'and':
      comma = None
  if comma is None:
    return words
  return [*words[:comma], (None, 'and'), *words[comma + 1 :]]


def _is_clause(part: Part, words: Words) -> bool:
  """Somebody, and later what he did."""
  names = {p.start for p in part.places if p.relation.type in NAME_TYPES}
  first = next((i for i, (at, _) in enumerate(words) if at in names), None)
  if first is None or words[-1][1].lower() in _DANGLING:
    return False
  texts = [word.lower() for _, word in words]
  return any(
    word in FINITE and texts[place - 1] not in _RELATIVE
    for place, word in enumerate(texts)
    if place > first
  )


def _clauses(part: Part, words: Words) -> Iterator[Words]:
  names = {
    p.start
    for p in part.places
    if p.relation.type in NAME_TYPES and p.relation.type != DATE
  }
  clause: Words = []
  for place, (at, word) in enumerate(words):
    following = [each for each, _ in words[place + 1 : place + 3]]
    article = words[place + 1 : place + 2]
    starts = following[:1] and (
      following[0] in names
      or (article[0][1].lower() == 'the' and following[-1] in names)
    )
    joint = word == ';' or (word in _JOINTS and starts)
    if joint and clause:
      yield clause
      clause = []
    elif clause or word not in (',', 'and'):
      clause.append((at, word))
  if clause:
    yield clause


def _without_untold(part: Part) -> Words:
  """Words with what is left out gone, and what is said otherwise so."""
  tokens = part.sentence.tokens
  told = {
    at for p in part.places if not p.pronoun for at in range(p.start, p.end)
  }
  dates = {p.end for p in part.places if p.relation.type == DATE}
  people = {p.start for p in part.places if p.relation.type in _OF_PEOPLE}
  words: Words = []
  place = 0
  while place < len(tokens):
    skipped = _skipped(tokens, place, told, people)
    if skipped:
      place += skipped
      continue
    word = tokens[place]
    if word in _TIMES and place not in dates and place not in told:
      word = _TIMES[word]
      before = tuple(text.lower() for _, text in words[-2:])
      if before in _ON_TIMES:
        words[-2:] = [(words[-2][0], 'in'), (words[-1][0], 'the')]
    words.append((place, word))
    place += 1
  return words


_OF_PEOPLE = frozenset({'PLAYER-FIRST_NAME', SECOND_NAME})


def _skipped(
  tokens: Sequence[str], place: int, told: set[int], people: set[int]
) -> int:
  """How many words from here on are left out."""
  if place in told:
    return 0
  lower = [token.lower() for token in tokens[place : place + 5]]
  for phrase in _DROPPED:
    if tuple(lower[: len(phrase)]) == phrase:
      return len(phrase)
  return (
    _of_record(lower)
    or _of_venue(tokens, place, told)
    or _of_title(tokens, place, told, people)
    or _of_brackets(tokens, place, told)
  )


def _of_record(lower: Sequence[str]) -> int:
  skip = int(lower[0] in _DETERMINERS)
  if (
    len(lower) > skip + 2
    and lower[skip] in _RECORDS
    and lower[skip + 1] == '-'
    and lower[skip + 2] in _HIGHS
  ):
    return skip + 3 + int(lower[skip + 3 : skip + 4] == ['of'])
  return 0


def _of_venue(tokens: Sequence[str], place: int, told: set[int]) -> int:
  """`at the Grand Hall`."""
  if tokens[place] not in ('at', 'inside'):
    return 0
  end = place + 1 + (tokens[place + 1 : place + 2] in (('the',), ['the']))
  start = end
  while end < len(tokens) and end not in told and _is_strange(tokens[end]):
    end += 1
  return end - place if end > start else 0


def _is_strange(word: str) -> bool:
  return word[:1].isupper() and word not in COMMON


def _of_title(
  tokens: Sequence[str], place: int, told: set[int], people: set[int]
) -> int:
  end = place
  while end < len(tokens) and end not in told and tokens[end] in _TITLES:
    end += 1
  title = tokens[place:end]
  is_title = end in people and bool(set(title) & _PEOPLE)
  return end - place if is_title else 0


def _of_brackets(tokens: Sequence[str], place: int, told: set[int]) -> int:
  if tokens[place] != '(':
    return 0
  inside = tokens[place : place + 6]
  if ')' not in inside:
    return 0
  end = place + inside.index(')') + 1
  return 0 if told & set(range(place, end)) else end - place


def _selected(part: Part, words: Words) -> Part:
  """A sentence of some of the words of another, in their order.

  `he` or `they` at its beginning is a name again.
  """
  sentence, places = part
  first = words[0][0] if words else None
  spoken = {
    place
    for place in places
    if place.pronoun
    and place.start == first
    and sentence.tokens[place.start].lower() in ('he', 'they')
  }
  if any(place.relation.type == TEAM_NAME for place in spoken):
    words = [(None, 'the'), *words]
  at = {old: new for new, (old, _) in enumerate(words) if old is not None}

  def moved(spans: Sequence[Any]) -> list[Any]:
    return [
      span._replace(start=at[span.start], end=at[span.end - 1] + 1)
      for span in spans
      if span.start in at and span.end - 1 in at
    ]

  return Part(
    AnnotatedSentence(
      tuple(word for _, word in words),
      tuple(moved(sentence.mentions)),
      tuple(moved(sentence.numbers)),
    ),
    moved([p._replace(pronoun=p.pronoun and p not in spoken) for p in places]),
  )
