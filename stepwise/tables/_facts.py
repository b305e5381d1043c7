"""Sheets as facts: who, which measure, when, how much."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stepwise._errors import InputError
from stepwise.tables._amounts import Style
from stepwise.tables._calendar import Period, parse_periods
from stepwise.tables._columns import ReadColumn, read_columns, split_unit
from stepwise.tables._schema import Column, Kind
from stepwise.tables._sheets import Sheet, make_sheet
from stepwise.tables._words import is_plural, plural, singular

_ATTRIBUTE_WORDS = frozenset(
  {
    *('attribute', 'variable', 'measure', 'metric', 'indicator', 'field'),
    *('property', 'statistic', 'item', 'series'),
  }
)
_VALUE_WORDS = frozenset({'value', 'amount', 'result', 'reading'})
_NOT_ADDED = frozenset(
  {
    *(
      'temperature',
      'temp',
      'temperatures',
      'price',
      'prices',
      'rate',
      'rates',
    ),
    *('average', 'avg', 'mean', 'median', 'index', 'ratio', 'share', 'percent'),
    *('percentage', 'pct', 'rating', 'ratings', 'humidity', 'pressure'),
    *('speed', 'density', 'age', 'height', 'grade', 'per', 'margin', 'growth'),
    *(
      'change',
      'difference',
      'max',
      'min',
      'maximum',
      'minimum',
      'high',
      'low',
    ),
    *('level', 'score', 'latency', 'wind', 'depth', 'duration', 'distance'),
    *('time', 'times'),
  }
)
_LOW_IS_BETTER = frozenset(
  {
    *('lost', 'loss', 'losses', 'errors', 'error', 'cost', 'costs', 'expenses'),
    *('complaints', 'conceded', 'against', 'defects', 'returns', 'churn'),
    *('unemployment', 'debt', 'delay', 'delays', 'accidents', 'latency'),
    *('turnovers', 'fouls', 'price', 'prices', 'bugs', 'faults', 'absences'),
    *('time', 'times', 'duration'),
  }
)
_SHARED = frozenset(
  {
    *('sales', 'revenue', 'revenues', 'turnover', 'votes', 'seats', 'output'),
    *('population', 'production', 'visitors', 'visits', 'budget', 'exports'),
    *('imports', 'spending', 'orders', 'customers', 'users', 'passengers'),
    *('income', 'profit', 'profits', 'people', 'inhabitants', 'emissions'),
  }
)
# Whole numbers of at least so many digits may be identifiers.
_ID_DIGITS = 4
_NAME_WORDS = frozenset({'name', 'entity', 'title', 'label', 'who'})
_NEUTRAL = frozenset(
  {
    *('temperature', 'temp', 'rain', 'rainfall', 'snow', 'wind', 'humidity'),
    *('pressure', 'age', 'population', 'area', 'played', 'games', 'max', 'min'),
    *('height', 'weight', 'depth', 'sun', 'sunshine', 'drawn', 'draws'),
  }
)


@dataclass(frozen=True)
class Measure:
  """A column of numbers, and how to speak of it.

  Attributes:
    name: of the column.
    column: what a template file says of it, or what is guessed.
    style: how its numbers are written.
    additive: whether a total of several makes sense.
    counted: whether it counts things: `the most wins`, not `the highest`.
    shared: whether the share of an entity in the total is worth a word.
  """

  name: str
  column: Column
  style: Style
  additive: bool
  counted: bool
  shared: bool

  @property
  def label(self) -> str:
    return self.column.label


@dataclass(frozen=True)
class About:
  """What an entry is an entry of.

  Attributes:
    measure: the column, None for a text.
    role: `value`, an aggregate of `AGGREGATES`, or `text`.
    period: when; the later one of a change.
    since: the earlier one of a change.
    whole: whether it is of all entities together.
  """

  measure: Measure | None
  role: str = 'value'
  period: Period | None = None
  since: Period | None = None
  whole: bool = False

  @property
  def measure_name(self) -> str:
    return self.measure.name if self.measure else ''


@dataclass(frozen=True, eq=False)
class Facts:
  """Everything that a sheet says.

  Attributes:
    kind: the name of the kind of its entities.
    noun, plural: what they are called.
    entities: by name, in their order; one without a name if rows are times.
    measures: the columns of numbers.
    periods: in their order; none if rows have no time.
    numbers: by measure, then entity and place of the period (0 without).
    texts: other columns by label, then entity.
    notes: what a reader may not expect, one sentence each.
    entity, period: the columns that name rows and times, if one does.
    owners: columns that say one thing of every entity, such as its region, by
      label, then entity.
  """

  kind: str
  noun: str
  plural: str
  entities: tuple[str, ...]
  measures: tuple[Measure, ...]
  periods: tuple[Period, ...]
  numbers: Mapping[str, Mapping[tuple[str, int], float]]
  texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
  notes: tuple[str, ...] = ()
  entity: str = ''
  period: str = ''
  owners: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_facts(sheet: Sheet, kind: str = '', given: Kind = Kind({})) -> Facts:
  """Finds out who the rows are about, when, and what is measured.

  Rows are entities (a column names them, each once), entities at times
  (`region, quarter, sales`), times alone, or single facts (`region, measure,
  value`); columns may be times, too (`region, Q1, Q2`).

  Args:
    sheet: the rows.
    kind: a name for the kind of its entities; default: what they are called.
    given: what a template file says; the rest is guessed.
  """
  sheet = _pivot(sheet, given)
  read = read_columns(sheet, given.columns)
  columns = [column for column in read if column.kind != 'empty']
  _check_names(sheet, columns, given)
  period = _period_column(columns, given)
  entity = _entity_columns(columns, period, given)
  if period is not None and entity and _is_unique(entity):
    period = None
  if not entity and period is None:
    raise InputError(_nameless(sheet, columns))
  names = _names(entity, len(sheet.rows))
  keys = [*entity, *([period] if period else [])]
  measured = [c for c in columns if c.kind == 'number' and c not in keys]
  if not measured:
    notes = [column.note for column in columns if column.note]
    raise InputError(
      f'no column of numbers in {sheet.name!r}: its columns are '
      f'{_described(columns)}{"; ".join(["", *notes]).rstrip(".")}.'
    )
  noun = given.noun or _noun(sheet, entity)
  texts = [c for c in columns if c.kind in ('text', 'period') and c not in keys]
  filled = _fill(sheet, names, period, measured, given)
  return Facts(
    kind or noun,
    noun,
    given.plural or plural(noun),
    tuple(dict.fromkeys(names)),
    *filled,
    texts={} if period else {c.label: _texts(names, c) for c in texts},
    notes=(
      *(column.note for column in columns if column.note),
      *_left_out(measured, filled[0], filled[1]),
    ),
    entity=entity[0].name if len(entity) == 1 else '',
    period=period.name if period else '',
    owners=_owners(names, [c for c in texts if c.kind == 'text']),
  )


def _owners(
  names: Sequence[str], columns: Sequence[ReadColumn]
) -> dict[str, dict[str, str]]:
  found = {}
  for column in columns:
    pairs = set(zip(names, column.cells, strict=True))
    if None not in column.cells and len(pairs) == len(set(names)):
      found[column.label] = _texts(names, column)
  return found


def add_totals(
  facts: Sequence[Facts], kinds: Mapping[str, Kind]
) -> list[Facts]:
  """Gives owners the totals of what they own: regions those of their shops.

  A column owns if all its values are entities of another table, of which both
  tables speak at the same times.
  """
  added = list(facts)
  for place, parent in enumerate(facts):
    for child in facts:
      for owner in child.owners.values():
        known = set(owner.values()) <= {*parent.entities}
        several = len(set(owner.values())) < len(owner)
        if child is parent or not known or not several:
          continue
        if child.periods == parent.periods:
          given = kinds.get(parent.kind, Kind({}))
          added[place] = _with_totals(added[place], child, owner, given)
          break
  return added


def _with_totals(
  parent: Facts, child: Facts, owner: Mapping[str, str], given: Kind
) -> Facts:
  measures, numbers = list(parent.measures), dict(parent.numbers)
  for measure in child.measures:
    name = f'{child.noun} {measure.name}'
    cells = child.numbers[measure.name]
    whole = len(cells) == len(child.entities) * max(len(child.periods), 1)
    if name in numbers or not measure.additive or not whole:
      continue
    totals: dict[tuple[str, int], float] = {}
    for (entity, at), number in cells.items():
      key = owner[entity], at
      totals[key] = totals.get(key, 0.0) + number
    label = f'{child.noun} {measure.label}'
    measures.append(_measure(name, label, measure.style, given))
    numbers[name] = totals
  return replace(parent, measures=tuple(measures), numbers=numbers)


def _fill(
  sheet: Sheet,
  names: Sequence[str],
  period: ReadColumn | None,
  measured: Sequence[ReadColumn],
  given: Kind,
) -> tuple[
  tuple[Measure, ...],
  tuple[Period, ...],
  dict[str, dict[tuple[str, int], float]],
]:
  wide = {} if period else _wide_periods(measured, sheet.name)
  if period is not None:
    found = [p for p in period.periods if p is not None]
    periods = tuple(sorted(set(found)))
    place = {p: i for i, p in enumerate(periods)}
    places = [-1 if p is None else place[p] for p in period.periods]
  else:
    times = next(iter(wide.values()), {})
    periods, places = tuple(sorted(times.values())), [0] * len(names)
  _check_keys(sheet, names, places, periods)
  measures, numbers = [], {}
  for column in measured:
    owner = next((m for m, t in wide.items() if column.name in t), None)
    if owner is None:
      if wide:
        continue
      measures.append(_measure(column.name, column.label, column.style, given))
      rows = zip(names, places, column.numbers, strict=True)
      numbers[column.name] = {
        (name, at): n for name, at, n in rows if n is not None and at >= 0
      }
      continue
    if owner not in numbers:
      label, unit = split_unit(owner)
      style = column.style.with_unit(unit) if unit else column.style
      measures.append(_measure(owner, label, style, given))
      numbers[owner] = {}
    at = periods.index(wide[owner][column.name])
    for name, number in zip(names, column.numbers, strict=True):
      if number is not None:
        numbers[owner][name, at] = number
  return tuple(measures), periods, numbers


def _measure(name: str, label: str, style: Style, given: Kind) -> Measure:
  said = given.columns.get(name, Column())
  if said.unit:
    style = style.with_unit(said.unit)
  words = set((said.label or label).lower().split())
  rate = bool(words & _NOT_ADDED) or style.percent or '°' in style.suffix
  whole = not (style.decimals or style.prefix or style.suffix)
  counted = whole and not rate and any(map(is_plural, words))
  better = said.better
  if not better and words & _LOW_IS_BETTER:
    better = 'low'
  elif not better:
    better = 'none' if words & _NEUTRAL else 'high'
  column = Column(
    label=said.label or label,
    say=said.say,
    unit=said.unit,
    better=better,
    aggregates=said.aggregates,
    group=said.group,
    main=said.main,
  )
  additive = not rate
  if said.aggregates is not None:
    additive = bool({'total', 'share'} & set(said.aggregates))
  shared = additive and bool(style.prefix or words & _SHARED)
  if said.aggregates is not None:
    shared = 'share' in said.aggregates
  return Measure(name, column, style, additive, counted, shared)


def _left_out(
  measured: Sequence[ReadColumn],
  measures: Sequence[Measure],
  periods: Sequence[Period],
) -> Iterator[str]:
  """Beside columns that are times, a column of no time has no place."""
  if periods and len(measures) < len(measured):
    for column in measured:
      split = [parse_periods([time]) for _, time in _split_time(column.name)]
      if not any(split):
        yield (
          f'column {column.name!r} is left out: the others are times, and it '
          'is of none.'
        )


def _texts(names: Sequence[str], column: ReadColumn) -> dict[str, str]:
  pairs = zip(names, column.cells, strict=True)
  return {name: cell for name, cell in pairs if cell is not None}


def _pivot(sheet: Sheet, given: Kind) -> Sheet:
  """A long table as a wide one: attributes become columns."""
  words = {
    name: set(split_unit(name)[0].lower().split()) for name in sheet.header
  }
  attribute = [n for n, w in words.items() if w & _ATTRIBUTE_WORDS]
  value = [n for n, w in words.items() if w & _VALUE_WORDS]
  if len(attribute) != 1 or len(value) != 1 or len(sheet.header) < 3:
    return sheet
  if not 2 < len(sheet.header) < 5 or given.columns.keys() & {*value}:
    return sheet
  kept = [n for n in sheet.header if n not in (*attribute, *value)]
  attributes, values = sheet.column(attribute[0]), sheet.column(value[0])
  keys = list(zip(*(sheet.column(n) for n in kept), strict=True))
  columns = list(dict.fromkeys(a for a in attributes if a is not None))
  cells: dict[tuple[str | None, ...], dict[str, str | None]] = {}
  for row, (key, name, cell) in enumerate(
    zip(keys, attributes, values, strict=True), 1
  ):
    at = cells.setdefault(key, {})
    if name is None:
      raise InputError(f'row {row} of {sheet.name!r} has no {attribute[0]!r}.')
    if name in at:
      said = ', '.join(part or '?' for part in key)
      raise InputError(
        f'row {row} of {sheet.name!r}: {name!r} of {said} again.'
      )
    at[name] = cell
  rows = [[*key, *map(at.get, columns)] for key, at in cells.items()]
  return make_sheet(sheet.name, [*kept, *columns], rows)


def _check_names(
  sheet: Sheet, columns: Sequence[ReadColumn], given: Kind
) -> None:
  known = {column.name for column in columns}
  for option in ('entity', 'period'):
    name = getattr(given, option)
    if name and name not in known:
      raise InputError(
        f'{option} is {name!r}; {sheet.name!r} has {_described(columns)}.'
      )


def _period_column(
  columns: Sequence[ReadColumn], given: Kind
) -> ReadColumn | None:
  if given.period:
    column = next(c for c in columns if c.name == given.period)
    if column.kind == 'period':
      return column
    cells = [cell for cell in column.cells if cell is not None]
    order = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    found = [
      None if cell is None else Period((order[cell],), 'counted', cell)
      for cell in column.cells
    ]
    return ReadColumn(
      column.name, column.label, 'period', column.cells, periods=found
    )
  found = (c for c in columns if c.kind == 'period' and c.name != given.entity)
  several = (c for c in found if len({*c.periods} - {None}) > 1)
  return next(several, None)


def _entity_columns(
  columns: Sequence[ReadColumn], period: ReadColumn | None, given: Kind
) -> list[ReadColumn]:
  """The column that names rows, or two that do together."""
  if given.entity:
    return [c for c in columns if c.name == given.entity]
  text = [c for c in columns if c.kind == 'text']
  ids = [c for c in columns if c.kind == 'id']
  with_time = [period] if period else []
  for column in (*text, *ids):
    if None not in column.cells and _is_unique([column, *with_time]):
      return [column]
  if period is not None and _is_unique([period]):
    return []
  for i, first in enumerate(text):
    for second in text[i + 1 :]:
      if _is_unique([first, second, *with_time]):
        return [first, second]
  return text[:1] or ids[:1] or _numbered(columns, with_time)


def _numbered(
  columns: Sequence[ReadColumn], with_time: Sequence[ReadColumn]
) -> list[ReadColumn]:
  """A first column of distinct whole numbers of one length: identifiers."""
  first = columns[0]
  cells = [cell for cell in first.cells if cell is not None]
  lengths = {len(cell) for cell in cells if cell.isdecimal()}
  fits = (
    len(columns) > 1
    and len(cells) == len(first.cells) > 1
    and all(cell.isdecimal() for cell in cells)
    and len(lengths) == 1
    and min(lengths) >= _ID_DIGITS
    and not is_plural(first.label)
    and _is_unique([first, *with_time])
  )
  return [first] if fits else []


def _is_unique(columns: Sequence[ReadColumn]) -> bool:
  rows = list(zip(*(c.periods or c.cells for c in columns), strict=True))
  return len(set(rows)) == len(rows)


def _names(entity: Sequence[ReadColumn], rows: int) -> list[str]:
  if not entity:
    return [''] * rows
  cells = zip(*(column.cells for column in entity), strict=True)
  names = [', '.join(part for part in parts if part) for parts in cells]
  if len(entity) == 1 and entity[0].kind in ('id', 'number'):
    # A number alone is no name: `customer 10457`.
    names = [name and f'{entity[0].label} {name}' for name in names]
  for row, name in enumerate(names, 1):
    if not name:
      raise InputError(f'row {row} has no name in column {entity[0].name!r}.')
  return names


def _check_keys(
  sheet: Sheet,
  names: Sequence[str],
  places: Sequence[int],
  periods: Sequence[Period],
) -> None:
  counts = Counter(zip(names, places, strict=True))
  (name, at), most = counts.most_common(1)[0]
  if most == 1 or at < 0:
    return
  rows = [
    i
    for i, key in enumerate(zip(names, places, strict=True), 1)
    if key == (name, at)
  ]
  when = f' {periods[at].phrase}' if periods else ''
  raise InputError(
    f'rows {rows[0]} and {rows[1]} of {sheet.name!r} are both '
    f'{name or "of one time"!r}{when}; name the column that tells them apart.'
  )


def _wide_periods(
  columns: Sequence[ReadColumn], table: str
) -> dict[str, dict[str, Period]]:
  """Columns that are times, by measure: `Q1` or `sales Q1`."""
  found: dict[str, list[tuple[str, str]]] = {}
  for column in columns:
    for measure, time in _split_time(column.name):
      if parse_periods([time]) is not None:
        found.setdefault(measure, []).append((column.name, time))
        break
  wide = {}
  for measure, pairs in found.items():
    periods = parse_periods([time for _, time in pairs])
    if periods is not None and len(set(periods)) == len(pairs) > 1:
      names = [name for name, _ in pairs]
      owner = measure or ('value' if table == 'table' else table)
      wide[owner] = dict(zip(names, periods, strict=True))
  sets = {tuple(sorted(times.values())) for times in wide.values()}
  return wide if len(sets) == 1 else {}


def _split_time(name: str) -> Iterator[tuple[str, str]]:
  words = name.replace('_', ' ').split()
  yield '', name
  for size in (1, 2):
    if len(words) > size:
      yield ' '.join(words[:-size]), ' '.join(words[-size:])
      yield ' '.join(words[size:]), ' '.join(words[:size])


def _noun(sheet: Sheet, entity: Sequence[ReadColumn]) -> str:
  label = entity[0].label if len(entity) == 1 else ''
  if label and not set(label.split()) & _NAME_WORDS:
    return label
  name = split_unit(sheet.name)[0]
  return 'entry' if name == 'table' else singular(name)


def _nameless(sheet: Sheet, columns: Sequence[ReadColumn]) -> str:
  return (
    f'no column of {sheet.name!r} names its rows: it has '
    f'{_described(columns)}, and a column of names or times is needed.'
  )


def _described(columns: Sequence[ReadColumn]) -> str:
  shown = [f'{c.name!r} ({c.kind})' for c in columns[:12]]
  more = len(columns) - len(shown)
  return ', '.join(shown) + (f' and {more} more' if more else '')
