"""What somebody did, in numbers: `31 points on 11-of-20 shooting`."""

from collections.abc import Mapping
from dataclasses import dataclass

from stepwise.realization._course import listed
from stepwise.realization._words import DIGITS

# What follows the value, for one and for more.
COUNTS = {
  'PTS': ('point', 'points'),
  'REB': ('rebound', 'rebounds'),
  'AST': ('assist', 'assists'),
  'STL': ('steal', 'steals'),
  'BLK': ('block', 'blocks'),
  'OREB': ('offensive rebound', 'offensive rebounds'),
  'DREB': ('defensive rebound', 'defensive rebounds'),
  'TO': ('turnover', 'turnovers'),
  'TOV': ('turnover', 'turnovers'),
  'PF': ('foul', 'fouls'),
  'WINS': ('win', 'wins'),
  'LOSSES': ('loss', 'losses'),
}
QUARTERS = {
  f'PTS_QTR{number}': f'in the {name} quarter'
  for number, name in enumerate(('first', 'second', 'third', 'fourth'), 1)
}
SIDES = {'home': 'at home', 'away': 'on the road'}
_SHOTS = {
  'FG': ('field goal', 'from the field', 'FG'),
  'FG3': ('three-pointer', 'from the three-point line', '3Pt'),
  'FT': ('free throw', 'from the free-throw line', 'FT'),
}

Facts = Mapping[str, str]


@dataclass(frozen=True)
class Line:
  """The numbers of a player, in parts that wordings put together.

  Attributes:
    points: with the shots that they come from; empty if not told.
    rest: other counts.
    tail: shots that are told after the counts, and minutes.
  """

  points: str
  rest: tuple[str, ...]
  tail: str

  @property
  def counts(self) -> tuple[str, ...]:
    return (self.points, *self.rest) if self.points else self.rest

  def plain(self) -> str:
    """`31 points, 12 assists and four rebounds in 36 minutes`."""
    return f'{listed(self.counts)}{self.tail}'

  def apart(self) -> str:
    """`31 points, to go along with 12 assists and four rebounds`."""
    if not self.points or len(self.rest) < 2:
      return self.plain()
    return f'{self.points}, to go along with {listed(self.rest)}{self.tail}'


def stat_line(facts: Facts) -> Line:
  """Points first, the rest as planned; shots where they are planned."""
  shooting = _shooting(facts)
  early = 'PTS' in facts and bool(shooting) and _shots_come_first(facts)
  points = count('PTS', facts['PTS']) if 'PTS' in facts else ''
  return Line(
    f'{points}{shooting}' if early else points,
    tuple(_counts({s: v for s, v in facts.items() if s != 'PTS'})),
    f'{"" if early else shooting}{_minutes(facts)}',
  )


def _shots_come_first(facts: Facts) -> bool:
  """Whether no other count but points is planned before the shots."""
  if _percents(facts):
    return False
  others = [statistic for statistic in facts if statistic != 'PTS']
  return others[0] not in COUNTS and others[0] != 'MIN'


def predicate(facts: Facts) -> str:
  """`had 44 rebounds, shot 47 percent from the field and scored ...`."""
  counts = _counts(facts)
  quarters = [
    f'{count("PTS", facts[statistic])} {when}'
    for statistic, when in QUARTERS.items()
    if statistic in facts
  ]
  rates = _rates(facts)
  parts = []
  if counts:
    parts.append(f'had {listed(counts)}')
  if quarters:
    parts.append(f'scored {listed(quarters)}')
  if rates:
    parts.append(f'shot {listed(rates)}')
  if 'MIN' in facts:
    parts = parts or ['played']
    minutes = _minutes(facts)
    parts[0] += minutes if parts[0] != 'played' else minutes.removeprefix(' in')
  if 'SIDE' in facts:
    parts = parts or ['played']
    parts[-1] += f' {SIDES[facts["SIDE"]]}'
  return listed(parts)


def count(statistic: str, value: str) -> str:
  return f'{_word(value)} {COUNTS[statistic][value != "1"]}'


def _counts(facts: Facts) -> list[str]:
  """`31 points`, `four rebounds`; points first, then as planned."""
  order = sorted(facts, key=lambda statistic: statistic != 'PTS')
  counts = [count(s, facts[s]) for s in order if s in COUNTS]
  for shot, (noun, *_) in _SHOTS.items():
    made, tried = facts.get(f'{shot}M'), facts.get(f'{shot}A')
    if made is not None and tried is None:
      counts.append(f'{_word(made)} {noun}{"" if made == "1" else "s"}')
    elif tried is not None and made is None:
      attempts = 'attempt' if tried == '1' else 'attempts'
      counts.append(f'{_word(tried)} {noun.replace(" ", "-")} {attempts}')
  return counts


def _pairs(facts: Facts) -> list[tuple[str, str, str]]:
  """Shots of which both numbers are known: kind, made, tried."""
  return [
    (shot, facts[f'{shot}M'], facts[f'{shot}A'])
    for shot in _SHOTS
    if {f'{shot}M', f'{shot}A'} <= facts.keys()
  ]


def _percents(facts: Facts) -> list[str]:
  return [
    f'{facts[f"{shot}_PCT"]} percent {where}'
    for shot, (_, where, _) in _SHOTS.items()
    if f'{shot}_PCT' in facts
  ]


def _rates(facts: Facts) -> list[str]:
  rates = [f'{m}-of-{t} {_SHOTS[shot][1]}' for shot, m, t in _pairs(facts)]
  return rates + _percents(facts)


def _shooting(facts: Facts) -> str:
  """After counts: `on 11-of-20 shooting`, `(11-20 FG, 5-8 3Pt, 4-4 FT)`."""
  pairs, percents = _pairs(facts), _percents(facts)
  tail = f', shooting {listed(percents)},' if percents else ''
  if not pairs:
    return tail.removesuffix(',') if 'MIN' not in facts else tail
  if len(pairs) == 1 and pairs[0][0] == 'FG':
    return f' on {pairs[0][1]}-of-{pairs[0][2]} shooting{tail}'
  shots = ', '.join(f'{m}-{t} {_SHOTS[shot][2]}' for shot, m, t in pairs)
  return f' ({shots}){tail}'


def _minutes(facts: Facts) -> str:
  if 'MIN' not in facts:
    return ''
  noun = 'minute' if facts['MIN'] == '1' else 'minutes'
  return f' in {_word(facts["MIN"])} {noun}'


def _word(value: str) -> str:
  """Small numbers as words, as people write them; none as a digit."""
  if value.isdecimal() and 0 < int(value) < len(DIGITS):
    return DIGITS[int(value)]
  return value
