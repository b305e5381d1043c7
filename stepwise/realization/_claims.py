"""What words without numbers say of a game, checked against its table.

`led`, `off the bench`, `double - double`, `victory`: a sentence whose words the
table does not support is not written, and not learnt from. Words that no table
could support are not in the vocabulary at all.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from typing import NamedTuple

from stepwise.realization._cues import BOASTS, Cues, count_doubles
from stepwise.realization._slots import ONES, Piece
from stepwise.rotowire import (
  DATE,
  NAME_TYPES,
  TEAM_CITY,
  TEAM_NAME,
  Game,
  Player,
)
from stepwise.tables import Relation

# When a game was played no table tells.
_UNTOLD = frozenset({'night', 'evening'})
_ORDINALS = ('first', 'second', 'third', 'fourth')
# Whoever is spoken of won, or lost.
_WON = frozenset({'victory', 'win', 'winning', 'won'})
_LOST = frozenset({'loss', 'defeat', 'losing', 'lost', 'fell'})
# What the winner did to the loser, who is named next.
_BEAT = frozenset(
  {
    *('defeated', 'beat', 'edged', 'topped', 'downed', 'routed', 'dominated'),
    'beating',
  }
)
_BEAT_PAIRS = frozenset(
  {('took', 'down'), ('knocked', 'off'), ('held', 'off'), ('blew', 'out')}
)
# Of two numbers that follow, the first is that of whoever is spoken of.
_SURPASSED = frozenset({'outscored', 'rebounded', 'outrebounded'})
_LED = frozenset(
  {'led', 'lead', 'leading', 'paced', 'pacing', 'spearheaded', 'scorer'}
)
_BENCH = frozenset({'bench', 'reserve', 'reserves', 'unit'})
_FIGURES = frozenset({'figures', 'digits'})
_STARTED = frozenset({'starting', 'starter', 'started', 'start'})
_SIDES = {
  **dict.fromkeys(('host', 'home', 'hosts'), 'home'),
  **dict.fromkeys(('visiting', 'visitors', 'road'), 'away'),
}
# What only a number may stand before.
_COUNTED = frozenset(
  {
    *ONES,
    *(f'{noun}s' for noun in ONES),
    *('points', 'minutes', 'percent', 'boards', 'dimes', 'blocked'),
  }
)
# From so many on nobody has `just` these.
_MANY = {
  'PLAYER-PTS': 15,
  'PLAYER-REB': 8,
  'PLAYER-AST': 8,
  'TEAM-FG_PCT': 44,
  'TEAM-FG3_PCT': 34,
}
# Said of whoever has ten of something.
_PRAISE = frozenset(
  {
    *('well', 'nice', 'solid', 'great', 'good', 'impressive', 'huge', 'strong'),
    *('productive', 'fantastic', 'stellar', 'big', 'excellent', 'outstanding'),
    *('tremendous', 'monster', 'whopping', 'spark'),
  }
)
_AFTER_NAMES = frozenset(
  {
    *(',', '.', ')', '(', 'with', 'in', 'on', 'shot', 'had', 'was', 'were'),
    *('scored', 'won', 'lost', 'fell', 'defeated', 'as', 'and', 'by', 'off'),
  }
)
_HE = frozenset({'he', 'his', 'him', 'himself'})
_THEY = frozenset({'they', 'their', 'them', 'it', 'its'})


class _Word(NamedTuple):
  """A word, or the entry of a slot."""

  text: str
  entry: Relation | None


class Claims:
  """Checks sentences about one game."""

  def __init__(self, game: Game):
    self._game = game
    self._cues = Cues(game)
    self._course = self._cues.course
    self._teams = {team.entity: team for team in game.teams}
    self._players = {player.entity: player for player in game.players}

  def support(self, pieces: Sequence[Piece], slots: Sequence[Relation]) -> bool:
    """Whether the table supports the words of a sentence.

    Args:
      pieces: words and slots.
      slots: what slots stand for.
    """
    unsupported = self.unsupported(pieces, slots)
    return unsupported is not None and not unsupported

  def unsupported(
    self, pieces: Sequence[Piece], slots: Sequence[Relation]
  ) -> list[int] | None:
    """Which words, slots among them, the table does not support.

    None if it is not a matter of words: a place or brackets are wrong, or
    nobody won.
    """
    if self._course.winner is None:
      return None
    reading = _Reading(_words(pieces, slots))
    if not (self._places(reading) and _is_well_formed(reading)):
      return None
    return [
      place
      for place, word in enumerate(reading.words)
      if word.entry is None
      and not all(check(reading, place) for check in self._checks(word.text))
    ]

  def impossible(self, sentence: Sequence[Relation]) -> frozenset[str]:
    """Words that the table supports of nobody whom a sentence speaks of.

    A search that knows them finds more sentences that may be written.

    Args:
      sentence: entries to say.
    """
    types = {relation.type for relation in sentence}
    spoken = {r.entity for r in sentence if r.type not in NAME_TYPES}
    players = [self._players[e] for e in spoken if e in self._players]
    course, is_most = self._course, self._cues.is_most
    boasts = [
      (player, type)
      for player in players
      for type in BOASTS
      if Relation(player.entity, player.values.get(type, ''), type) in sentence
    ]
    doubles = max((count_doubles(p.values) for p in players), default=0)
    leads = [p for p in players if course.leads_team(p)]
    bench = any(course.from_bench(p) for p in players)
    second = [p for p in players if course.is_second(p)]
    sides = {course.lost(self._team_of(e)) for e in spoken if e in self._known}
    quarters = {
      word: f'TEAM-PTS_QTR{number}' in types
      for number, word in enumerate(_ORDINALS, 1)
    }
    possible = {
      **dict.fromkeys(_UNTOLD, False),
      **quarters,
      'second': quarters['second'] or bench or bool(second),
      'double': doubles > 1 or any(_scored_ten(p) for p in players),
      'triple': doubles > 2,
      **dict.fromkeys(_BENCH, bench),
      **dict.fromkeys(_STARTED, any(not course.from_bench(p) for p in players)),
      **dict.fromkeys(
        _LED,
        'PLAYER-PTS' in types
        and (bool(leads) or any(course.leads_bench(p) for p in players)),
      ),
      'high': bool(leads)
      or any(is_most(p, type, self._cues.mates(p)) for p, type in boasts),
      'player': any(course.are_only_tens(p) for p in second),
      'players': any(course.leads_game(p) for p in players),
      'overtime': course.went_on,
      **dict.fromkeys(
        _PRAISE, not players or any(count_doubles(p.values) for p in players)
      ),
      **dict.fromkeys(_WON, sides != {True}),
      **dict.fromkeys(_LOST, sides != {False}),
      # `11 - of - 20` needs both.
      '-': ('PLAYER-FGM' in types) == ('PLAYER-FGA' in types),
    }
    return frozenset(word for word, can_be in possible.items() if not can_be)

  def _checks(self, word: str) -> Iterator[Callable[['_Reading', int], bool]]:
    if word in _UNTOLD:
      yield lambda *_: False
    if word in ('double', 'triple'):
      yield self._double
    if word in _BENCH:
      yield self._from_bench
    if word in _STARTED:
      yield self._starts
    if word in _LED:
      yield self._leads
    if word == 'high':
      yield self._high
    if word in _WON or word in _LOST:
      yield self._outcome
    if word in _BEAT or word in {first for first, _ in _BEAT_PAIRS}:
      yield self._beats
    if word in _SURPASSED:
      yield self._surpasses
    if word in _SIDES:
      yield self._side
    if word in _ORDINALS:
      yield self._quarter
    if word == 'only':
      yield _is_just
    if word in ('only', 'just'):
      yield _is_little
    if word in ('other', 'player'):
      yield self._only_other
    if word == 'all':
      yield self._of_all
    if word in ('players', 'around'):
      yield lambda r, i: 'all' in r.texts(i - 2, 2)
    if word == 'able':
      yield lambda r, i: all(r.texts(i + 1, 2)) and r.texts(i + 1, 1) == ['to']
    if word == 'for':
      yield self._plays_for
    if word == 'overtime':
      yield lambda *_: self._course.went_on
    if word in ('a', 'an'):
      yield _is_no_count
    if word == 'three':
      yield lambda r, i: r.texts(i + 1, 2)[:1] == ['-']
    if word in _HE:
      yield lambda r, i: r.before(i, self._players) is not None
    if word in _THEY:
      yield lambda r, i: r.before(i, self._teams) is not None

  def _double(self, reading: '_Reading', place: int) -> bool:
    """`double - double`, `triple - double`, `double figures`."""
    player = self._subject(reading, place)
    if player is None:
      return False
    follows = reading.texts(place + 1, 2)
    before = reading.texts(place - 2, 2)
    if before[-1:] == ['-'] and before[:1] in (['double'], ['triple']):
      return True
    if follows == ['-', 'double']:
      least = 2 if reading.words[place].text == 'double' else 3
      told = _tens_before(reading, place)
      return count_doubles(player.values) >= least and (
        told is None or told >= least
      )
    figures = follows[-1] if follows[:1] == ['-'] else ''.join(follows[:1])
    return figures in _FIGURES and _scored_ten(player)

  def _from_bench(self, reading: '_Reading', place: int) -> bool:
    player = self._subject(reading, place)
    return player is not None and self._course.from_bench(player)

  def _starts(self, reading: '_Reading', place: int) -> bool:
    player = self._subject(reading, place)
    return player is not None and not self._course.from_bench(player)

  def _leads(self, reading: '_Reading', place: int) -> bool:
    """Nobody of the team scored as many, or none who came from the bench."""
    by = reading.texts(place + 1, 1) == ['by']
    named = reading.after if by else reading.before
    entity = named(place, self._players) or reading.after(place, self._players)
    if entity is None:
      return False
    told = {w.entry.type for w in reading.words if w.entry}
    if 'PLAYER-PTS' not in told:
      return False
    player = self._players[entity]
    if set(reading.texts(place + 1, 4)) & _BENCH:
      return self._course.leads_bench(player)
    return self._course.leads_team(player)

  def _high(self, reading: '_Reading', place: int) -> bool:
    """`a game - high 31`, `a team - high 31`; `the high - point man`."""
    before, follows = reading.texts(place - 2, 2), reading.texts(place + 1, 2)
    if follows == ['-', 'point']:
      player = self._subject(reading, place)
      return player is not None and self._course.leads_team(player)
    number = reading.number(place)
    if number is None or before[-1:] != ['-'] or number.type not in BOASTS:
      return False
    player = self._players[number.entity]
    if before[:1] == ['game']:
      return self._cues.is_most(player, number.type, self._game.players)
    mates = self._cues.mates(player)
    return before[:1] == ['team'] and self._cues.is_most(
      player, number.type, mates
    )

  def _outcome(self, reading: '_Reading', place: int) -> bool:
    entity = reading.before(place) or reading.after(place)
    if reading.words[place].text == 'winning':
      # `the Herons beat the Comets , winning`: whoever the sentence is about.
      entity = reading.after(0)
    if entity is None:
      return False
    lost = self._course.lost(self._team_of(entity))
    return lost == (reading.words[place].text in _LOST)

  def _beats(self, reading: '_Reading', place: int) -> bool:
    word = reading.words[place].text
    pairs = [pair for pair in _BEAT_PAIRS if pair[0] == word]
    if pairs and (word, *reading.texts(place + 1, 1)) not in pairs:
      # `knocked down shots` is another matter.
      return word == 'knocked'
    team = reading.before(place, self._teams)
    other = reading.after(place, self._teams)
    if team is None or other is None:
      return False
    return self._course.lost(other) and not self._course.lost(team)

  def _surpasses(self, reading: '_Reading', place: int) -> bool:
    team = reading.before(place, self._teams)
    entries = [
      word.entry
      for word in reading.words[place:]
      if word.entry and word.entry.type not in NAME_TYPES
    ][:2]
    if team is None or len(entries) < 2:
      return False
    own, other = entries
    return (
      own.entity == team != other.entity
      and own.type == other.type
      and int(own.value) > int(other.value)
    )

  def _side(self, reading: '_Reading', place: int) -> bool:
    after = reading.words[place + 1 : place + 2]
    entity = after[0].entry.entity if after and after[0].entry else None
    entity = entity or reading.before(place) or reading.after(place)
    if entity is None or entity not in self._known:
      return False
    side = self._teams[self._team_of(entity)].values['TEAM-SIDE']
    return side == _SIDES[reading.words[place].text]

  def _quarter(self, reading: '_Reading', place: int) -> bool:
    word, follows = reading.words[place].text, reading.texts(place + 1, 1)
    if follows == ['unit'] and word == 'second':
      return True
    if word == 'second' and reading.texts(place + 1, 3) == [
      'on',
      'the',
      'team',
    ]:
      player = self._subject(reading, place)
      return player is not None and self._course.is_second(player)
    number = _ORDINALS.index(word) + 1
    told = {w.entry.type for w in reading.words if w.entry}
    return follows == ['quarter'] and f'TEAM-PTS_QTR{number}' in told

  def _only_other(self, reading: '_Reading', place: int) -> bool:
    """`the only other player in double figures`; `on the other side`."""
    before, follows = reading.texts(place - 2, 2), reading.texts(place + 1, 1)
    if reading.words[place].text == 'player':
      return before == ['only', 'other']
    if before[-1:] == ['only'] and follows == ['player']:
      player = self._subject(reading, place)
      return (
        player is not None
        and 'double' in reading.texts(place + 1, 6)
        and self._course.is_second(player)
        and self._course.are_only_tens(player)
      )
    return before == ['on', 'the'] and follows[0] in ('side', 'hand', 'end')

  def _plays_for(self, reading: '_Reading', place: int) -> bool:
    """`led the way for the Herons`: whoever is named last before, or next."""
    the = reading.texts(place + 1, 1) == ['the']
    following = reading.words[place + 1 + the : place + 2 + the]
    entry = following[0].entry if following else None
    if entry is None or entry.type not in (TEAM_CITY, TEAM_NAME):
      return True
    if entry.type == TEAM_NAME and not the:
      return False
    player = self._subject(reading, place)
    return player is None or player.team == entry.entity

  def _of_all(self, reading: '_Reading', place: int) -> bool:
    """`led all scorers`, `an all - around effort`."""
    follows = reading.texts(place + 1, 2)
    if follows == ['-', 'around']:
      return True
    player = self._subject(reading, place)
    return (
      follows[:1] in (['scorers'], ['players'])
      and player is not None
      and self._course.leads_game(player)
    )

  def _places(self, reading: '_Reading') -> bool:
    """`in Boston`: where the home team is, and only there."""
    for place, word in enumerate(reading.words):
      entry = word.entry
      if entry and entry.type == TEAM_CITY and place:
        at = reading.words[place - 1].text in ('in', 'at')
        if at and self._teams[entry.entity].values['TEAM-SIDE'] != 'home':
          return False
    return True

  def _subject(self, reading: '_Reading', place: int) -> Player | None:
    """The player whom words speak of: named last before, or else next."""
    found = reading.before(place, self._players)
    found = found or reading.after(place, self._players)
    return self._players[found] if found else None

  @property
  def _known(self) -> set[str]:
    return {*self._teams, *self._players}

  def _team_of(self, entity: str) -> str:
    player = self._players.get(entity)
    return player.team if player else entity


class _Reading:
  """The words of a sentence, and who was named where."""

  def __init__(self, words: Sequence[_Word]):
    self.words = words

  def texts(self, start: int, count: int) -> list[str]:
    start = max(start, 0)
    return [word.text for word in self.words[start : start + count]]

  def before(
    self, place: int, among: Container[str] | None = None
  ) -> str | None:
    return self._first(reversed(self.words[:place]), among)

  def after(
    self, place: int, among: Container[str] | None = None
  ) -> str | None:
    return self._first(iter(self.words[place:]), among)

  def number(self, place: int) -> Relation | None:
    """The entry right after a word, or after its `of`."""
    of = self.texts(place + 1, 1) == ['of']
    following = self.words[place + 1 + of : place + 2 + of]
    return following[0].entry if following else None

  def _first(
    self, words: Iterator[_Word], among: Container[str] | None
  ) -> str | None:
    for word in words:
      entry = word.entry
      if entry is None or entry.type not in NAME_TYPES - {DATE}:
        continue
      if among is None or entry.entity in among:
        return entry.entity
    return None


def _words(pieces: Sequence[Piece], slots: Sequence[Relation]) -> list[_Word]:
  words = []
  for piece in pieces:
    if isinstance(piece, int):
      words.append(_Word('', slots[piece]))
    else:
      words += [_Word(text, None) for text in piece.split()]
  return words


def _scored_ten(player: Player) -> bool:
  points = player.values.get('PLAYER-PTS', '')
  return points.isdecimal() and int(points) > 9


def _tens_before(reading: _Reading, place: int) -> int | None:
  """How many of `an 11 - point , 13 - rebound double - double` have two digits.

  None if no number stands right before.
  """
  if not set(reading.texts(place - 1, 1)) & {*ONES, 'point'}:
    return None
  words = reading.words[max(place - 11, 0) : place]
  entries = [w.entry for w in words if w.entry and w.entry.type in BOASTS]
  return sum(int(entry.value) > 9 for entry in entries)


def _is_well_formed(reading: _Reading) -> bool:
  """No name where a number should be, brackets in pairs, one bench."""
  texts = [word.text for word in reading.words if word.text in ('(', ')')]
  if texts != ['(', ')'] * (len(texts) // 2):
    return False
  pairs = zip(reading.words, reading.words[1:], strict=False)
  names = (
    (_is_name(word) and (following.text in _COUNTED or following.text == '-'))
    or (word.text == '-' and _is_name(following))
    for word, following in pairs
  )
  benches = sum(word.text in _BENCH for word in reading.words)
  triples = zip(
    reading.words, reading.words[1:], reading.words[2:], strict=False
  )
  # `the Port Vale , with`: a city has no article.
  cities = (
    word.text == 'the'
    and city.entry is not None
    and city.entry.type == TEAM_CITY
    and after.text in _AFTER_NAMES
    for word, city, after in triples
  )
  as_teams = sum(
    reading.texts(place, 3) == ['as', 'a', 'team']
    for place in range(len(reading.words))
  )
  return not any((*names, *cities)) and benches < 2 and as_teams < 2


def _is_name(word: _Word) -> bool:
  return word.entry is not None and word.entry.type in NAME_TYPES


def _is_little(reading: _Reading, place: int) -> bool:
  """`just 31 points` are not."""
  number = reading.number(place)
  many = _MANY.get(number.type) if number else None
  return many is None or number is None or int(number.value) < many


def _is_just(reading: _Reading, place: int) -> bool:
  """`only four points`; who did what as the only one is another matter."""
  the_only = reading.texts(place - 1, 1) == ['the'] and place > 0
  return not the_only or reading.texts(place + 1, 1) == ['other']


def _is_no_count(reading: _Reading, place: int) -> bool:
  """`an assist` is a number that is no slot."""
  following = reading.texts(place + 1, 2)
  return not any(word in ONES or word == 'blocked' for word in following)
