"""The generic realizer: sentences of a plan, in plain English.

Whatever it writes is an entry of the plan, or follows from the table: a rank,
how many there are, who is compared. Values are written as the table writes
them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepwise._errors import InputError
from stepwise.tables._facts import Facts, Measure
from stepwise.tables._plans import Plan
from stepwise.tables._pools import Pools, is_whole, measure_of, role_of
from stepwise.tables._table import Entry, Relation, Table
from stepwise.tables._words import (
  capitalised,
  in_words,
  is_plural,
  listed,
  rank_word,
  singular,
)

# Said without an article, and in more or less: `the most rain`.
_MASS = frozenset(
  {
    *('rain', 'rainfall', 'snow', 'snowfall', 'sunshine', 'sun', 'production'),
    *('output', 'traffic', 'energy', 'waste', 'consumption', 'staff'),
  }
)
# Said without an article, but higher or lower.
_BARE = frozenset(
  {
    *('revenue', 'income', 'unemployment', 'turnover', 'inflation', 'wind'),
    *('attendance', 'humidity', 'demand', 'capacity', 'spending', 'debt'),
    *('growth', 'profit', 'GDP', 'employment', 'pressure'),
  }
)
_SIZES = frozenset({'area', 'population', 'size', 'budget', 'share'})
_LENGTHS = frozenset({'time', 'times', 'duration', 'length', 'delay'})
# Headers that are verbs: `has won 19`.
_VERBS = frozenset(
  {
    *('won', 'lost', 'drawn', 'played', 'scored', 'conceded', 'sold', 'made'),
    *('built', 'served', 'delivered', 'completed', 'failed', 'passed'),
  }
)
_VOWELS, _SPELT = 'aeiou', 'aefhilmnorsx'
# Entries of one clause; with more it is a list.
_MOST_AT_ONCE = 6
_ROLES = ('value', 'total', 'mean', 'share', 'change', 'growth')


def write_sentences(plan: Plan, table: Table) -> tuple[str, ...]:
  """One text for every sentence of a plan of the table's own entries."""
  writer = _Writer(table)
  return tuple(writer.sentence(writer.find(sentence)) for sentence in plan)


@dataclass(frozen=True)
class _Said:
  """Entries of one entity about one measure, by role."""

  entity: str
  measure: Measure
  roles: Mapping[str, Entry]

  @property
  def main(self) -> Entry:
    """What the clause is built on."""
    return next(self.roles[role] for role in _ROLES if role in self.roles)

  @property
  def role(self) -> str:
    return role_of(self.main)

  @property
  def value(self) -> str:
    return self.main.relation.value

  @property
  def is_amount(self) -> bool:
    return self.role in ('value', 'total', 'mean')

  @property
  def label(self) -> str:
    mean = 'mean ' if self.role == 'mean' else ''
    return mean + self.measure.label


class _Writer:
  """Writes sentence after sentence; remembers what was said."""

  def __init__(self, table: Table):
    self._table = table
    self._pools = Pools(table)
    # Kinds whose number of entities was told, and the time that was, last.
    self._counted: set[str] = set()
    self._now: dict[str, str] = {}
    # From when to when the last movement of a clause was, and its rank.
    self._moved = self._alone = ''

  def find(self, sentence: Sequence[Relation]) -> list[Entry]:
    entries = []
    for entity, value, type in sentence:
      place = self._table.index.get((entity, type))
      if place is None or self._table.entries[place].relation.value != value:
        raise InputError(
          f'the table has no entry {type!r} of {entity!r} that is {value!r}.'
        )
      entries.append(self._table.entries[place])
    return entries

  def sentence(self, entries: Sequence[Entry]) -> str:
    texts = [entry.relation for entry in entries if role_of(entry) == 'text']
    numbers = [entry for entry in entries if role_of(entry) != 'text']
    clauses = list(self._clauses(numbers)) if numbers else []
    clauses += [f'{_possessive(r.entity)} {r.type} is {r.value}' for r in texts]
    return ' '.join(f'{capitalised(clause)}.' for clause in clauses)

  def _clauses(self, entries: Sequence[Entry]) -> Iterator[str]:
    whole = [entry for entry in entries if is_whole(entry)]
    for group in _by_kind(whole):
      yield from self._whole(group)
    for group in _by_kind([e for e in entries if not is_whole(e)]):
      if self._are_peaks(group):
        yield self._peaks(group)
      elif len({entry.relation.entity for entry in group}) > 1:
        yield from self._comparison(group)
      else:
        yield from self._entity(group)

  def _facts(self, entry: Entry) -> Facts:
    return self._pools.facts[entry.kind]

  def _has(self, entry: Entry) -> str:
    return 'had' if self._facts(entry).periods else 'has'

  def _once(self, kind: str, time: str) -> str:
    """The time of a clause, where it is not that of the one before."""
    if self._now.get(kind) == time:
      return ''
    self._now[kind] = time
    return time

  def _time(self, said: _Said) -> str:
    facts = self._facts(said.main)
    single = said.role in ('value', 'share')
    time = _in(said.main) if single else _span(facts)
    return self._once(facts.kind, time)

  # All together.

  def _whole(self, entries: Sequence[Entry]) -> Iterator[str]:
    facts = self._facts(entries[0])
    who = _number_of(facts, len(facts.entities))
    self._counted.add(facts.kind)
    have, be = ('had', 'was') if facts.periods else ('have', 'is')
    for said in _by_measure(entries):
      roles, measure = said.roles, said.measure
      if 'value' in roles:
        when = self._once(facts.kind, _in(roles['value'])).strip()
        opening = f'{when}, {who}' if when else who
        amount = _amount(measure, roles['value'])
        remarks = _joined(self._remarks(said))
        yield f'{opening} {have} {amount} together{remarks}'
      if 'total' in roles:
        amount = _amount(measure, roles['total'])
        span = self._once(facts.kind, _span(facts))
        yield f'together, {who} {have} {amount}{span}'
      if 'mean' in roles:
        mean = roles['mean'].relation.value
        span = self._once(facts.kind, _span(facts))
        known = {entity for entity, _ in facts.numbers[measure.name]}
        of = _number_of(facts, len(known))
        yield f'the mean {measure.label} of {of} {be} {mean}{span}'
      if 'change' in roles and 'value' not in roles:
        yield f'for all together, {self._movement(said, measure.label)}'

  # One entity.

  def _entity(self, entries: Sequence[Entry]) -> Iterator[str]:
    for part in _in_breaths(_by_measure(entries)):
      yield self._breath(part)

  def _breath(self, part: Sequence[_Said]) -> str:
    first, *others = part
    self._moved = self._alone = ''
    clause = self._clause(first)
    has = self._has(first.main)
    # After a movement, whose subject is the measure, the entity is named again.
    also, and_ = ', and also', ', and'
    if not first.is_amount and first.role != 'share':
      also = and_ = f'; {first.entity}'
    amounts = [said for said in others if said.is_amount]
    extremes = [said for said in amounts if self._is_extreme(said)]
    plain = [said for said in amounts if said not in extremes]
    if plain:
      named = [
        f'{_short(said)}{self._time(said)}{self._aside(said)}' for said in plain
      ]
      clause += f'; {first.entity} {has}' if and_[0] == ';' else ', with'
      clause += f' {listed(named)}'
    nouns = [said for said in extremes if said.measure.label not in _VERBS]
    verbs = [said for said in extremes if said.measure.label in _VERBS]
    if nouns:
      named = [
        f'the {self._rank(s)} {s.label}{self._time(s)}{self._aside(s, s.value)}'
        for s in nouns
      ]
      clause += f'{also} {has} {listed(named)}'
    if verbs:
      named = [
        f'{s.label} the {self._rank(s)}{self._time(s)}{self._aside(s, s.value)}'
        for s in verbs
      ]
      clause += f'{and_} {has} {listed(named)}'
    for said in others:
      if said.role == 'share':
        when = self._time(said)
        clause += f', and {has} {said.value} of all {said.measure.label}{when}'
      elif not said.is_amount:
        clause += f'; {self._movement(said, said.measure.label)}'
    return clause

  def _aside(self, said: _Said, *parts: str) -> str:
    remarks = [*parts, *self._remarks(said)]
    return f' ({", ".join(remarks)})' if remarks else ''

  def _clause(self, said: _Said) -> str:
    if said.role in ('change', 'growth'):
      owner = f'{_possessive(said.entity)} ' if said.entity else ''
      return self._movement(said, owner + said.measure.label)
    has = self._has(said.main)
    when = self._time(said)
    remarks = self._remarks(said)
    if said.role == 'share':
      share = f'{said.value} of all {said.measure.label}'
      return f'{said.entity} {has} {share}{when}{_joined(remarks)}'
    rank = self._rank(said)
    others = self._others(said.main)
    say = said.measure.column.say
    if said.entity and self._pools.place(said.main).count == 2:
      remarks = [*self._beside(said), *remarks]
    if say and said.role != 'mean':
      text = f'{said.entity} {say.format(value=said.value)}{when}'
      if said.measure.additive:
        # `sold $9, the most`.
        rank = rank.replace('highest', 'most').replace('lowest', 'least')
      remarks = [f'the {rank}{self._of(said)}', *remarks] if rank else remarks
    elif rank and len(others) == 1 and self._pools.place(said.main).count > 2:
      text = f'{said.entity} {has} {_short(said)}{when}'
      remarks = [f'the {rank} together with {others[0]}', *remarks]
    elif rank and said.measure.label not in _VERBS:
      text = f'{said.entity} {has} the {rank} {said.label}{self._of(said)}'
      text += f'{when}, {said.value}'
    elif said.entity:
      text = f'{said.entity} {has} {_short(said)}{when}'
      remarks = [f'the {rank}{self._of(said)}', *remarks] if rank else remarks
    else:
      text = f'{_existence(said)}{when}'
    return text + _joined(remarks)

  def _beside(self, said: _Said) -> list[str]:
    """`more than South`, where there are only two."""
    entry = said.main
    [other] = [
      e
      for e in self._table.entries
      if (e.kind, e.relation.type) == (entry.kind, entry.relation.type)
      and e.relation.entity != entry.relation.entity
      and not is_whole(e)
    ]
    if other.number == entry.number:
      much = 'many' if said.measure.counted else 'much'
      return [f'as {much} as {other.relation.entity}']
    more, less = _comparatives(said.measure)
    word = more if (entry.number or 0.0) > (other.number or 0.0) else less
    return [f'{word} than {other.relation.entity}']

  def _of(self, said: _Said) -> str:
    """Among how many, where that was not told."""
    facts, known = self._facts(said.main), self._pools.place(said.main).count
    key = facts.kind if known == len(facts.entities) else said.main.relation[2]
    if key in self._counted:
      return ''
    self._counted.add(key)
    return f' of {_number_of(facts, known)}'

  def _others(self, entry: Entry) -> list[str]:
    """Entities that have the same number."""
    if not self._pools.place(entry).ties:
      return []
    return [
      other.relation.entity
      for other in self._table.entries
      if other.kind == entry.kind
      and other.relation.type == entry.relation.type
      and other.number == entry.number
      and other.relation.entity != entry.relation.entity
      and not is_whole(other)
    ]

  def _is_extreme(self, said: _Said) -> bool:
    place = self._pools.place(said.main)
    return not place.ties and place.count > 2 and 1 in (place.top, place.bottom)

  def _rank(self, said: _Said) -> str:
    """`highest`, `second highest`, `lowest`; nothing in between."""
    place = self._pools.place(said.main)
    high, low = _superlatives(said.measure)
    if place.count < 3 or place.ties > 1 or place.ties == place.count - 1:
      return ''
    if place.top == 1:
      return high
    if place.bottom == 1:
      return low
    best, _ = self._pools.standing(said.main)
    if best in (2, 3) and place.count > 4 and not place.ties:
      return f'{rank_word(best)} {high if best == place.top else low}'
    return ''

  def _remarks(self, said: _Said) -> list[str]:
    """What a value is beside the total, the time before and the first time."""
    if said.role not in ('value', 'share'):
      return []
    remarks = []
    if 'share' in said.roles and said.role != 'share':
      remarks.append(f'{said.roles["share"].relation.value} of the total')
    more, less = _comparatives(said.measure)
    for role in ('change', 'growth'):
      entry = said.roles.get(role)
      about = entry.about if entry else None
      if entry is None or about is None or about.since is None:
        continue
      if _is_nothing(entry):
        much = 'many' if said.measure.counted else 'much'
        remarks.append(f'as {much} as {about.since.phrase}')
      else:
        word = more if (entry.number or 0) > 0 else less
        remarks.append(f'{_size(entry)} {word} than {about.since.phrase}')
    return remarks

  def _movement(self, said: _Said, subject: str) -> str:
    """`West's sales rose by 21% from Q3 to Q4, the largest rise`."""
    role = 'change' if 'change' in said.roles else 'growth'
    entry = said.roles[role]
    about, number = entry.about, entry.number or 0.0
    assert about is not None and about.since and about.period, 'a change'
    span = f' from {about.since.text} to {about.period.text}'
    span, self._moved = '' if span == self._moved else span, span
    if _is_nothing(entry):
      text = f'{subject} did not change{span}'
    else:
      verb = 'rose' if number > 0 else 'fell'
      only = '' if about.whole else self._only(entry)
      again, self._alone = bool(only) and only == self._alone, only
      only = only.replace(', the', ', also the') if again else only
      text = f'{subject} {verb} by {_size(entry)}{span}{only}'
    growth = said.roles.get('growth')
    if role == 'change' and growth is not None and not _is_nothing(growth):
      way = 'up' if (growth.number or 0) > 0 else 'down'
      joint = 'but' if (growth.number or 0) * number < 0 else 'and'
      since = growth.about and growth.about.since
      assert since, 'a change'
      text += f' ({joint} {way} {_size(growth)} since {since.text})'
    return text

  def _only(self, entry: Entry) -> str:
    """Whether it is the only fall, the largest or the smallest."""
    pool, number = self._pools.of(entry), entry.number or 0.0
    place = pool.place(number)
    if place.count < 3 or place.ties:
      return ''
    noun = 'rise' if number > 0 else 'fall'
    alike = pool.rises if number > 0 else pool.falls
    first, last = place.top, place.bottom
    if number < 0:
      first, last = last, first
    if alike == 1:
      return f', the only {noun}'
    if first == 1:
      return f', the largest {noun}'
    return f', the smallest {noun}' if last == 1 else ''

  # Several entities.

  def _comparison(self, entries: Sequence[Entry]) -> Iterator[str]:
    """Single entries of several entities; of others one after another."""
    groups = _by_measure(entries)
    alike = len({said.main.relation.type for said in groups}) == 1
    if alike and groups[0].is_amount and len(groups) == len(entries):
      yield self._ranking(groups)
      return
    for _, said in _grouped(entries, lambda entry: entry.relation.entity):
      yield from self._entity(said)

  def _ranking(self, groups: Sequence[_Said]) -> str:
    first, *rest = groups
    if self._pools.place(first.main).count == 2:
      # `more than Quay (4)`.
      return f'{self._clause(first)} ({rest[0].value})'
    tops = [self._pools.standing(said.main)[0] for said in groups]
    shown = listed([f'{said.entity} ({said.value})' for said in rest])
    if tops == list(range(tops[0], tops[0] + len(tops))):
      return f'{self._clause(first)}, followed by {shown}'
    has = self._has(first.main)
    named = [f'{said.entity} {self._named_rank(said)}' for said in rest]
    named[0] = f'{rest[0].entity} {has} {self._named_rank(rest[0])}'
    return f'{self._clause(first)}; {listed(named)}'

  def _named_rank(self, said: _Said) -> str:
    """`the lowest, 12 °C`, or the number alone."""
    extreme = self._is_extreme(said)
    return f'the {self._rank(said)}, {said.value}' if extreme else said.value

  # Extremes of all times.

  def _are_peaks(self, entries: Sequence[Entry]) -> bool:
    facts = self._facts(entries[0])
    daily = bool(facts.periods) and (
      len(facts.entities) == 1
      or facts.periods[0].kind in ('date', 'weekday', 'counted')
    )
    peaks = all(self._pools.is_peak(entry) for entry in entries)
    return daily and peaks and len({measure_of(e) for e in entries}) == 1

  def _peaks(self, entries: Sequence[Entry]) -> str:
    """`The highest temperature was 24.1 °C (Vane, Saturday), the lowest`."""
    clauses = []
    for entry in entries:
      about = entry.about
      assert about is not None and about.measure and about.period, 'a peak'
      high, low = _superlatives(about.measure)
      word = high if self._pools.is_peak(entry) > 0 else low
      where = ', '.join(
        filter(None, [entry.relation.entity, about.period.text])
      )
      be = 'were' if is_plural(about.measure.label) else 'was'
      label = '' if clauses else f' {about.measure.label} {be}'
      clauses.append(f'the {word}{label} {entry.relation.value} ({where})')
    return ', '.join(clauses)


def _grouped(
  entries: Sequence[Entry], key: Callable[[Entry], str]
) -> list[tuple[str, list[Entry]]]:
  groups: dict[str, list[Entry]] = {}
  for entry in entries:
    groups.setdefault(key(entry), []).append(entry)
  return list(groups.items())


def _by_kind(entries: Sequence[Entry]) -> list[list[Entry]]:
  return [group for _, group in _grouped(entries, lambda entry: entry.kind)]


def _in_breaths(said: Sequence[_Said]) -> list[list[_Said]]:
  """Parts of about the same size, none of which says too much at once."""
  sizes = [len(each.roles) for each in said]
  parts = -(-sum(sizes) // _MOST_AT_ONCE)
  breaths: list[list[_Said]] = [[] for _ in range(parts)]
  done = 0
  for each, size in zip(said, sizes, strict=True):
    middle = done + size / 2
    breaths[min(int(middle * parts / sum(sizes)), parts - 1)].append(each)
    done += size
  return [breath for breath in breaths if breath]


def _number_of(facts: Facts, known: int) -> str:
  """`the five regions`, or how many of them have a value."""
  some = '' if known == len(facts.entities) else ' with a value'
  noun = facts.noun if known == 1 else facts.plural
  return f'the {in_words(known)} {noun}{some}'


def _by_measure(entries: Sequence[Entry]) -> list[_Said]:
  """Amounts, each with what explains it; changes of no amount by themselves."""
  groups: dict[tuple[str, ...], _Said] = {}
  amounts = [e for e in entries if role_of(e) in ('value', 'total', 'mean')]
  others = [e for e in entries if e not in amounts]
  for entry in (*amounts, *others):
    about = entry.about
    if about is None or about.measure is None:
      raise InputError(
        f'entry {entry.relation.type!r} was not read from a sheet: this '
        'realizer cannot write of it.'
      )
    owner = entry.relation.entity, about.measure.name
    when = about.period.text if about.period else ''
    key = *owner, about.role, when
    if entry in others:
      value = *owner, 'value', when
      rest = 'share' if about.role == 'share' else 'movement'
      key = value if value in groups else (*owner, rest)
    roles = dict(groups[key].roles) if key in groups else {}
    groups[key] = _Said(owner[0], about.measure, {**roles, about.role: entry})
  places = {id(entry): place for place, entry in enumerate(entries)}
  return sorted(groups.values(), key=lambda said: places[id(said.main)])


def _in(entry: Entry) -> str:
  about = entry.about
  return f' {about.period.phrase}' if about and about.period else ''


def _span(facts: Facts) -> str:
  if len(facts.periods) < 2:
    return ''
  return f' from {facts.periods[0].text} to {facts.periods[-1].text}'


def _joined(remarks: Sequence[str]) -> str:
  return f', {listed(remarks)}' if remarks else ''


def _amount(measure: Measure, entry: Entry) -> str:
  """`61 points`, `sales of $3`, `a temperature of 12 °C`, `3 mm of rain`."""
  value, label, role = entry.relation.value, measure.label, role_of(entry)
  words = label.split()
  if role == 'mean':
    return f'a mean {label} of {value}'
  if measure.counted:
    one = ' '.join([singular(words[0]), *words[1:]])
    return f'{value} {one if value == "1" else label}'
  if {*words} & _MASS and measure.style.suffix:
    return f'{value} of {label}'
  if any(map(is_plural, words)) or {*words} & (_MASS | _BARE):
    return f'{label} of {value}'
  return f'{_article(label)} {label} of {value}'


def _article(label: str) -> str:
  """
  >>> _article('area'), _article('price'), _article('m3'), _article('x')
  ('an', 'a', 'an', 'an')
  """
  spelt = len(label) == 1 or label[1:2].isdigit()
  return 'an' if label[0].lower() in (_SPELT if spelt else _VOWELS) else 'a'


def _existence(said: _Said) -> str:
  """`there were 12 visits`, `the total income was $3`: nobody has them."""
  if said.measure.counted and said.role != 'mean':
    return f'there were {said.value} {said.measure.label}'
  total = 'total ' if said.role == 'total' else ''
  be = 'were' if is_plural(said.measure.label) else 'was'
  return f'the {total}{said.label} {be} {said.value}'


def _short(said: _Said) -> str:
  if said.measure.label in _VERBS:
    return f'{said.measure.label} {said.value}'
  return _amount(said.measure, said.main)


def _size(entry: Entry) -> str:
  """The size of a change, without its sign."""
  value = entry.relation.value.lstrip('+-')
  measure = entry.about.measure if entry.about else None
  if measure is not None and measure.style.percent:
    number = value.rstrip('%').rstrip()
    return f'{number} percentage point{"" if number == "1" else "s"}'
  return value


def _is_nothing(entry: Entry) -> bool:
  """Whether a change is none, as it is written."""
  return not any(c in '123456789' for c in entry.relation.value)


def _superlatives(measure: Measure) -> tuple[str, str]:
  if measure.counted:
    return 'most', 'fewest'
  if measure.label in _VERBS:
    return 'most', 'least' if measure.style.decimals else 'fewest'
  words = {*measure.label.split()}
  if words & _SIZES:
    return 'largest', 'smallest'
  if words & _LENGTHS:
    return 'longest', 'shortest'
  return ('most', 'least') if words & _MASS else ('highest', 'lowest')


def _comparatives(measure: Measure) -> tuple[str, str]:
  if measure.counted:
    return 'more', 'fewer'
  return ('more', 'less') if measure.additive else ('higher', 'lower')


def _possessive(name: str) -> str:
  """
  >>> _possessive('West'), _possessive('Kings')
  ("West's", "Kings'")
  """
  return f"{name}'" if name.endswith('s') else f"{name}'s"
