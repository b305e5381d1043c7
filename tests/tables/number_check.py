"""An independent twin of what reports may say: numbers that tables imply."""

import itertools
import re
from dataclasses import dataclass, field

import numpy as np

NAMES = (
  *('Arden', 'Bryn', 'Corran', 'Dunmore', 'Eskdale', 'Farrow', 'Glenholm'),
  *('Harwick', 'Inver', 'Kestrel'),
)
LABELS = ('sales', 'visitors', 'cost', 'price', 'score', 'income')
QUARTERS = ('Q1', 'Q2', 'Q3', 'Q4')
DAYS = tuple(f'2024-03-{day:02}' for day in range(4, 11))
WEEKDAYS = (
  *('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'),
  'Sunday',
)
_NUMERAL = re.compile(r'-?\$?\d[\d,]*(?:\.\d+)?')
_SUPERLATIVE = re.compile(
  r'(?P<who>[A-Z]\w+) (?:had|has) the (?P<nth>second |third )?'
  r'(?P<word>highest|lowest|most|fewest|least|largest|smallest) '
  r'(?P<mean>mean )?(?P<label>[a-z]+)(?P<rest>[^.;(]*?)(?:, | \()'
  r'(?P<value>-?\$?[\d,.]*\d)'
)
_HIGH = ('highest', 'most', 'largest')


@dataclass
class Drawn:
  """A table by its numbers: label -> entity -> period -> number."""

  rows: list[dict]
  cells: dict[str, dict[str, list[float]]]
  periods: list[str]
  style: dict[str, str] = field(default_factory=dict)


def draw_table(seed, gaps=False):
  """A table of a few entities, measures and times, with units.

  With gaps some cells are missing: nan among the numbers.
  """
  rng = np.random.default_rng(seed)
  names = list(rng.permutation(NAMES)[: rng.integers(1, 9)])
  labels = list(rng.permutation(LABELS)[: rng.integers(1, 4)])
  times = [[], list(QUARTERS), list(DAYS), ['2021', '2022']][rng.integers(4)]
  style = {label: '$' if rng.random() < 0.3 else '' for label in labels}
  cells, rows = {}, {}
  for label in labels:
    decimals = int(rng.integers(0, 3))
    scale = 10.0 ** rng.integers(1, 6)
    low = -0.3 if rng.random() < 0.2 else 0.1
    cells[label] = {}
    for name in names:
      drawn = rng.uniform(low, 1.0, max(len(times), 1)) * scale
      drawn = drawn.round(decimals)
      if rng.random() < 0.2:
        drawn[:] = drawn[0]
      cells[label][name] = drawn.tolist()
      for at, number in enumerate(drawn):
        row = rows.setdefault((name, at), {'town': name})
        if times:
          row['date' if times[0] == DAYS[0] else 'time'] = times[at]
        text = f'{style[label]}{abs(number):,.{decimals}f}'
        row[label] = f'-{text}' if number < 0 else text
  if times and times[0] == '2021':
    for row in rows.values():
      row['year'] = row.pop('time')
  elif times == list(QUARTERS):
    for row in rows.values():
      row['quarter'] = row.pop('time')
  if gaps:
    _blank(rows, cells, np.random.default_rng(seed))
  shown = list(WEEKDAYS) if times == list(DAYS) else times
  return Drawn(list(rows.values()), cells, shown, style)


def _blank(rows, cells, rng):
  """Cells that nobody filled in."""
  for (name, at), row in rows.items():
    for label, by_entity in cells.items():
      if rng.random() < 0.15:
        row[label] = None
        by_entity[name][at] = np.nan


def implied_numbers(table, entities):
  """All numbers that may be said of some entities and of all together."""
  allowed = set(range(1, 13)) | {len(next(iter(table.cells.values())))}
  for by_entity in table.cells.values():
    columns = np.array(list(by_entity.values()))
    whole = columns.sum(axis=0)
    known = columns[~np.isnan(columns)]
    allowed |= {*whole.tolist(), whole.sum(), known.mean() if known.size else 0}
    allowed |= set(_changes(whole.tolist()))
    for entity in entities:
      own = by_entity[entity]
      allowed |= {*own, sum(own), sum(own) / len(own), *_changes(own)}
      allowed |= {100 * n / w for n, w in zip(own, whole, strict=True) if w}
  # Of what is missing nothing follows.
  return sorted(number for number in allowed if not np.isnan(number))


def _changes(numbers):
  for before, after in itertools.combinations(numbers, 2):
    yield abs(after - before)
    if before:
      yield abs(100 * (after - before) / before)


def unsupported(text, table):
  """Numerals of a sentence that nothing in the table gives."""
  known = next(iter(table.cells.values()))
  named = [name for name in known if name in text]
  numbers = np.array(implied_numbers(table, named))
  rest = text
  for period in (*table.periods, *known):
    rest = rest.replace(str(period), '')
  wrong = []
  for numeral in _NUMERAL.findall(rest):
    digits = numeral.replace('$', '').replace(',', '')
    places = len(digits.partition('.')[2])
    error = np.abs(numbers - float(digits)).min()
    # Half a unit of the last digit, and what binary fractions add to it.
    if error > 0.5 * 10.0**-places * (1 + 1e-6) + 1e-9:
      wrong.append(numeral)
  return wrong


def false_superlatives(text, table):
  """Claims of a rank that the numbers do not bear out."""
  wrong = []
  for claim in _SUPERLATIVE.finditer(text):
    by_entity = table.cells[claim['label']]
    said = float(claim['value'].replace('$', '').replace(',', ''))
    near = 0.51 * 10.0 ** -len(claim['value'].partition('.')[2])
    nth = {'second ': 2, 'third ': 3}.get(claim['nth'], 1)
    sign = -1 if claim['word'] in _HIGH else 1
    holds = []
    for statistic in (lambda own: own[-1], sum, np.mean):
      numbers = {name: statistic(own) for name, own in by_entity.items()}
      numbers = {name: n for name, n in numbers.items() if not np.isnan(n)}
      if claim['who'] not in numbers:
        continue
      if abs(numbers[claim['who']] - said) <= near:
        place = sorted(sign * n for n in numbers.values())[nth - 1]
        holds.append(place == sign * numbers[claim['who']])
    if not any(holds):
      wrong.append(claim[0])
  return wrong
