"""The plan behind a text: which entries of a table its sentences say.

The generic core of an extractor: numbers of a text are looked for among the
entries of whoever is named beside them; words of the column, of the time and
of what was done with the number (a share, a mean, a rise) tell them apart.
"""

import bisect
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from stepwise.documents import split_sentences
from stepwise.tables._amounts import Style
from stepwise.tables._numerals import (
  DOWN,
  MEANS,
  SHARES,
  TOTALS,
  UP,
  WORD,
  Numeral,
  Window,
  find_numerals,
  stem,
)
from stepwise.tables._plans import Plan
from stepwise.tables._pools import (
  Pools,
  is_whole,
  measure_of,
  period_of,
  role_of,
)
from stepwise.tables._table import Entry, Relation, Table

# Times and names after these are the other ones of a comparison.
_BESIDE = re.compile(r'(?:than|since|from|to|as|with)(?: in| on)? $')
# How far behind a number its time may be, in characters.
_RIGHT_BEHIND = 30
# What a candidate needs: somebody who is named, and a word for the number.
_ENOUGH = 4.0
# An amount that is said with fewer digits than this is not a rounded one.
_ROUNDED_DIGITS = 2


class _Named(NamedTuple):
  """An entity in a sentence; `beside` another in a comparison."""

  start: int
  end: int
  entity: str
  beside: bool


def aligned_plan(table: Table, text: str) -> Plan:
  """The entries that a text says, sentence by sentence, in its order.

  What the table does not say has no entry; a sentence without any is left out.

  Args:
    table: any, of sheets or of templates.
    text: about the table.
  """
  aligner = _Aligner(table)
  sentences = (text[start:end] for start, end in split_sentences(text))
  found = (tuple(aligner.read(sentence)) for sentence in sentences)
  return tuple(sentence for sentence in found if sentence)


class _Aligner:
  """Reads sentence after sentence; remembers whom they were about."""

  def __init__(self, table: Table):
    self._table = table
    self._pools = Pools(table)
    self._said: set[int] = set()
    # Who the last sentence was about that named somebody.
    self._subjects: list[str] = []
    self._measure = ''
    self._now = ''

  def read(self, sentence: str) -> Iterator[Relation]:
    named = self._find_names(sentence)
    numerals = find_numerals(
      sentence, lambda at: any(n.start <= at < n.end for n in named)
    )
    found: list[tuple[int, int]] = []
    for numeral in numerals:
      self._now = self._time(numeral, sentence) or self._now
      place = self._best(numeral, sentence, named)
      if place is not None:
        found.append((numeral.start, place))
        entry = self._table.entries[place]
        self._measure = measure_of(entry)
        if not entry.repeatable:
          self._said.add(place)
    found += self._texts(sentence, named)
    for _, place in sorted(found):
      yield self._table.entries[place].relation
    if named:
      self._subjects = [name.entity for name in named]

  @cached_property
  def _names(self) -> tuple[re.Pattern[str], dict[str, str]]:
    """Names of entities, and words for all of a kind."""
    names: dict[str, str] = {}
    for facts in self._table.facts:
      whole = f'all {facts.plural}'
      names |= {f'all {facts.plural}': whole, facts.plural: whole}
    for entry in self._table.entries:
      name = entry.relation.entity
      if name and not is_whole(entry):
        names |= {name: name, name[:1].upper() + name[1:]: name}
    names |= _short_names(names)
    longest = sorted(filter(None, names), key=len, reverse=True)
    pattern = '|'.join(map(re.escape, longest)) or r'(?!)'
    return re.compile(rf'(?<!\w)(?:{pattern})(?!\w)'), names

  def _find_names(self, sentence: str) -> list[_Named]:
    pattern, names = self._names
    return [
      _Named(
        match.start(),
        match.end(),
        names[match[0]],
        bool(_BESIDE.search(sentence[: match.start()])),
      )
      for match in pattern.finditer(sentence)
    ]

  @cached_property
  def _numbers(self) -> dict[str, tuple[list[float], list[int]]]:
    """Sizes of all entries, in their order, by how they are written."""
    found: dict[str, list[tuple[float, int]]] = {'.': [], ',': []}
    for place, entry in enumerate(self._table.entries):
      if entry.number is not None:
        about = entry.about
        point = about.measure.style.point if about and about.measure else '.'
        found[point].append((abs(entry.number), place))
    return {
      point: ([n for n, _ in sorted(pairs)], [p for _, p in sorted(pairs)])
      for point, pairs in found.items()
    }

  def _fitting(self, numeral: Numeral) -> Iterator[tuple[int, bool]]:
    """Entries of that size, and whether it is written out in full."""
    for point, (numbers, places) in self._numbers.items():
      said = numeral.value(point)
      if said is None:
        continue
      value, half = said
      near = half * (1 + 1e-6) + 1e-9
      first = bisect.bisect_left(numbers, value - near)
      last = bisect.bisect_right(numbers, value + near)
      for place in places[first:last]:
        entry = self._table.entries[place]
        if _is_percent(entry) != numeral.percent:
          continue
        written = re.sub(r'[^\d.,]', '', entry.relation.value)
        exact = re.sub(r'\D', '', written) == re.sub(r'\D', '', numeral.digits)
        digits = len(re.sub(r'\D', '', numeral.digits).lstrip('0'))
        rounded = digits >= _ROUNDED_DIGITS or numeral.percent
        if exact or (rounded and not numeral.word):
          yield place, exact

  def _best(
    self, numeral: Numeral, sentence: str, named: Sequence[_Named]
  ) -> int | None:
    window = Window(sentence, numeral)
    scored = [
      (self._score(place, exact, numeral, window, named), -place)
      for place, exact in self._fitting(numeral)
      if place not in self._said
    ]
    best, place = max(scored, default=(0.0, 0))
    return -place if best >= _ENOUGH else None

  def _score(
    self,
    place: int,
    exact: bool,
    numeral: Numeral,
    window: Window,
    named: Sequence[_Named],
  ) -> float:
    entry = self._table.entries[place]
    whose = self._whose(entry, numeral, window, named)
    what = self._what(entry, window)
    if not whose or (numeral.word and what < 1.5):
      return 0.0
    return (
      whose
      + what
      + self._when(entry)
      + _how(entry, window)
      + exact
      + self._unit(entry, numeral, window)
    )

  def _whose(
    self,
    entry: Entry,
    numeral: Numeral,
    window: Window,
    named: Sequence[_Named],
  ) -> float:
    """Whoever was named last before a number is the one; then who is after."""
    entity = entry.relation.entity
    if not entity:
      return 2.0
    before = [n for n in named if n.end <= numeral.start]
    after = [n for n in named if n.start >= numeral.end]
    if (
      after and window.opens_aside(after[0].start) and after[0].entity == entity
    ):
      return 3.5
    if not before and (not after or after[0].entity != entity):
      # Nobody is named yet: whoever was before, or all together.
      if entity in self._subjects:
        return 2.2 if entity == self._subjects[0] else 1.8
      return 2.0 if is_whole(entry) else 0.0
    subjects = [n for n in before if not n.beside] or before
    if subjects and subjects[-1].entity == entity:
      return 3.0
    if after and after[0].entity == entity:
      return 1.0
    return 1.0 if entity in (n.entity for n in before) else 0.0

  def _what(self, entry: Entry, window: Window) -> float:
    """Words of the column; the one before, if there are none."""
    words = _label(entry)
    if not words:
      return 0.0
    near = sum(word in window.near for word in words) / len(words)
    somewhere = sum(word in window.all for word in words) / len(words)
    found = max(2.0 * near, 1.2 * somewhere)
    return found or (1.0 if measure_of(entry) == self._measure else 0.0)

  @cached_property
  def _times(self) -> re.Pattern[str]:
    texts = {p.text for facts in self._table.facts for p in facts.periods}
    longest = sorted(texts, key=len, reverse=True)
    pattern = '|'.join(map(re.escape, longest)) or r'(?!)'
    return re.compile(rf'(?<!\w)(?:{pattern})(?!\w)')

  def _time(self, numeral: Numeral, sentence: str) -> str:
    """When a number was: the time before it, or right behind it."""
    times = [
      match
      for match in self._times.finditer(sentence)
      if not _BESIDE.search(sentence[: match.start()])
    ]
    behind = [m for m in times if 0 <= m.start() - numeral.end < _RIGHT_BEHIND]
    before = [m[0] for m in times if m.end() <= numeral.start]
    if behind and '.' not in sentence[numeral.end : behind[0].start()]:
      aside = sentence[numeral.end : behind[0].start()].startswith(' (')
      if aside or not before:
        return behind[0][0]
    return before[-1] if before else ''

  def _when(self, entry: Entry) -> float:
    period = period_of(entry)
    if not period or role_of(entry) != 'value':
      return 0.0
    if self._now:
      return 1.5 if period == self._now else -1.0
    return 0.7 if self._pools.is_last(entry) else -1.0

  @cached_property
  def _units(self) -> set[str]:
    measures = [m for facts in self._table.facts for m in facts.measures]
    return {m.style.suffix.strip() for m in measures} - {'', '%'}

  def _unit(self, entry: Entry, numeral: Numeral, window: Window) -> float:
    """Whether the unit beside is its own, or that of another column."""
    about = entry.about
    style = about.measure.style if about and about.measure else Style()
    following = next(filter(window.follows, self._units), '')
    beside = numeral.money or following
    if not beside:
      return 0.0
    own = style.prefix if numeral.money else style.suffix.strip()
    return 0.5 if beside == own else -2.0

  def _texts(
    self, sentence: str, named: Sequence[_Named]
  ) -> Iterator[tuple[int, int]]:
    """Cells of words that stand beside the word for their column."""
    for name in named:
      for place in self._text_places.get(name.entity, ()):
        entry = self._table.entries[place]
        at = sentence.find(entry.relation.value)
        words = {stem(word) for word in WORD.findall(sentence)}
        if at >= 0 and words >= set(_label(entry)) and place not in self._said:
          self._said.add(place)
          yield at, place

  @cached_property
  def _text_places(self) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, entry in enumerate(self._table.entries):
      if role_of(entry) == 'text':
        found.setdefault(entry.relation.entity, []).append(place)
    return found


def _how(entry: Entry, window: Window) -> float:
  """Whether the words around tell that it is a share, a mean, a change."""
  role, about = role_of(entry), entry.about
  after, before = set(window.just_after), set(window.just_before)
  if role in ('change', 'growth') and about and about.since:
    cue = window.movement
    if not cue:
      return -1.5
    right = (cue in UP) == ((entry.number or 0.0) > 0)
    since = about.since.text in window.after
    return (1.0 if right else -2.0) + (1.5 if since else 0.0)
  if role == 'share':
    return 1.5 if len(after & SHARES) > 1 or 'share' in before else -1.0
  if role == 'mean':
    return 1.5 if MEANS & (before | window.all) else -2.0
  if role == 'total':
    spans = 'from' in after or TOTALS & (before | after | window.all)
    return 0.8 if spans else -0.2
  if before & MEANS:
    return -1.0
  compared = bool(after & (UP | DOWN)) and 'than' in after
  return -1.0 if compared and _is_percent(entry) else 0.3


def _is_percent(entry: Entry) -> bool:
  return entry.relation.value.endswith('%')


def _label(entry: Entry) -> tuple[str, ...]:
  about = entry.about
  words = about.measure.label if about and about.measure else ''
  if about and about.measure and about.measure.column.say:
    words += f' {about.measure.column.say.partition("{")[0]}'
  words = words or re.sub(r'^[A-Z]+-|_', ' ', entry.relation.type)
  return tuple(map(stem, WORD.findall(words)))


def _short_names(names: dict[str, str]) -> dict[str, str]:
  """First and last words of names that are those of one entity alone."""
  owners: dict[str, set[str]] = {}
  for name, entity in names.items():
    words = name.split()
    for word in {words[0], words[-1]} if len(words) > 1 else ():
      if len(word) > 2 and word[0].isupper() and word.isalpha():
        owners.setdefault(word, set()).add(entity)
  return {
    word: next(iter(entities))
    for word, entities in owners.items()
    if len(entities) == 1 and word not in names and word != 'The'
  }
