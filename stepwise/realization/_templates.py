"""The template realizer: plain sentences that say what a plan says.

It invents nothing: every number is an entry of the plan, and what it adds in
words, who plays for whom, who led and how the game went, the table tells. Which
words are added was chosen on training games, by BLEU.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepwise.realization._course import Course, capital, listed
from stepwise.realization._realizer import Sentences, check_plans
from stepwise.realization._words import DIGITS
from stepwise.rotowire import (
  DATE,
  NAME_TYPES,
  PLAYER_TEAM,
  START_POSITION,
  Game,
  Team,
)
from stepwise.tables import Plan, Relation, weekday

# What follows the value, for one and for more.
_COUNTS = {
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
_SHOTS = {
  'FG': ('field goal', 'from the field', 'FG'),
  'FG3': ('three-pointer', 'from the three-point line', '3Pt'),
  'FT': ('free throw', 'from the free-throw line', 'FT'),
}
_QUARTERS = {
  f'PTS_QTR{number}': f'in the {name} quarter'
  for number, name in enumerate(('first', 'second', 'third', 'fourth'), 1)
}
_POSITIONS = {'G': 'guard', 'F': 'forward', 'C': 'center'}
_SIDES = {'home': 'at home', 'away': 'on the road'}
# Counts that make a double-double.
_DOUBLES = ('PTS', 'REB', 'AST', 'STL', 'BLK')
_DOUBLE_NAMES = {2: 'a double-double', 3: 'a triple-double'}
# One after another, so that neighbours differ.
_VERBS = (
  *('finished with', 'added', 'chipped in', 'contributed', 'tallied'),
  'posted',
)
# Statistics of both teams that are compared in one clause.
_DUELS = {
  'TEAM-REB': ('out-rebounded', ''),
  **{
    f'TEAM-{quarter}': ('outscored', f' {when}')
    for quarter, when in _QUARTERS.items()
  },
}
# Plans of so few sentences get no more than they ask for at their end.
_SHORT = 3


@dataclass(frozen=True)
class TemplateRealizer:
  """Writes without a model; the same plan always gives the same text."""

  name: str = 'template'

  def realize(
    self, games: Sequence[Game], plans: Sequence[Plan]
  ) -> list[Sentences]:
    check_plans(games, plans)
    pairs = zip(games, plans, strict=True)
    return [_Report(game).write(plan) for game, plan in pairs]


def finish_report(
  game: Game, plan: Plan, texts: Sequence[str | None]
) -> Sentences:
  """A report of which somebody else wrote some sentences, None = not this."""
  return _Report(game).write(plan, texts)


Said = Mapping[str, Mapping[str, str]]


class _Report:
  """A report while it is written: remembers who was named, and how."""

  def __init__(self, game: Game):
    self._game = game
    self._course = Course(game)
    self._teams = {team.entity: team for team in game.teams}
    self._players = {player.entity: player for player in game.players}
    self._named: set[str] = set()
    self._led: set[str] = set()
    self._last_team = ''
    self._verb = self._lists = 0
    self._told = False

  def write(self, plan: Plan, given: Sequence[str | None] = ()) -> Sentences:
    """Texts, empty where one would only repeat what was written.

    How the game went follows its result, or else ends a long report. Where a
    text is `given` for a sentence, it is taken.
    """
    written: list[str] = []
    others = given or [None] * len(plan)
    for sentence, other in zip(plan, others, strict=True):
      text = self._sentence(sentence)
      if text or other:
        text = f'{other or text}{self._after(sentence)}'
      written.append('' if text in written else text)
    places = [place for place, text in enumerate(written) if text]
    if len(places) > _SHORT:
      parts = self._others(), self._closing()
      written[places[-1]] += f'{self._course_of_game()}{"".join(parts)}'
    return tuple(written)

  def _others(self) -> str:
    """Who stood out besides, and whose bench."""
    rebounds, assists = map(self._course.first, ('PLAYER-REB', 'PLAYER-AST'))
    parts = [self._course.benches()]
    if rebounds and assists and rebounds != assists:
      names = [self._player_name(p.entity) for p in (rebounds, assists)]
      parts.append(
        f'{names[0]} led all players in rebounds, while {names[1]} handed out '
        'the most assists of the game.'
      )
    return ''.join(f' {part}' for part in parts if part)

  def _sentence(self, sentence: Sequence[Relation]) -> str:
    said, clauses = _by_entity(sentence), []
    if any(relation.type == DATE for relation in sentence):
      day = f'on {weekday(self._game.date)}'
      silent = all(map(_is_silent, said.values()))
      clauses = [] if silent else list(self._clauses(said))
      clauses[:1] = [f'{clauses[0] if clauses else self._meeting()} {day}']
    clauses = clauses or list(self._clauses(said))
    result = clauses[:1] if self._is_result(said) else []
    texts = [_join_clauses(part) for part in (result, clauses[len(result) :])]
    return ' '.join(f'{capital(text)}.' for text in texts if text)

  def _after(self, sentence: Sequence[Relation]) -> str:
    """What follows a sentence: after the result, how the game went."""
    is_result = self._is_result(_by_entity(sentence))
    return self._course_of_game() if is_result else ''

  def _course_of_game(self) -> str:
    """How the game went, once."""
    if self._told:
      return ''
    self._told = True
    parts = (self._course.flow(), self._course.contests())
    return ''.join(f' {part}' for part in parts if part)

  def _closing(self) -> str:
    winner, loser = self._course.winner, self._course.loser
    if winner is None or loser is None:
      return ''
    won, lost = (_SIDES[team.values['TEAM-SIDE']] for team in (winner, loser))
    return (
      f' The victory came {won} for the {winner.name}, while the {loser.name} '
      f'took the loss {lost}.'
    )

  def _clauses(self, said: Said) -> Iterator[str]:
    """A clause for every entity, in the order they are first spoken of."""
    teams = [entity for entity in said if entity in self._teams]
    result = self._result(said) if self._is_result(said) else ''
    silent = [entity for entity in teams if _is_silent(said[entity])]
    if result:
      yield result
    elif len(silent) == len(said) == 2:
      yield self._meeting()
      return
    spoken = {'TEAM-PTS', 'TEAM-WINS', 'TEAM-LOSSES'} if result else set()
    for type, clause in self._duels(said):
      spoken.add(type)
      yield clause
    together = self._together(said)
    if together:
      yield together
    for entity, values in said.items():
      left = {t: v for t, v in values.items() if t not in spoken}
      facts = _facts(left)
      if _is_silent(left) and len(said) > 1 and self._is_known(entity, said):
        continue
      if entity in self._players:
        if not together:
          yield self._player(entity, left, facts)
      elif facts:
        yield f'{self._team(entity, left)} {_team_predicate(facts)}'
      else:
        yield self._place(entity, left)

  def _is_known(self, entity: str, said: Said) -> bool:
    """Whether the name alone says nothing new."""
    of_players = {self._players[e].team for e in said if e in self._players}
    return entity in self._named or entity in of_players

  def _is_result(self, said: Said) -> bool:
    return all('TEAM-PTS' in said.get(team, {}) for team in self._teams)

  def _result(self, said: Said) -> str:
    """`The Herons (12-3) defeated the Comets (6-9) 104-92`."""
    teams = [self._teams[e] for e in said if e in self._teams]
    winner, loser = sorted(teams, key=_points, reverse=True)
    names = [
      self._team(team.entity, said[team.entity], record=True)
      for team in (winner, loser)
    ]
    scores = [team.values['TEAM-PTS'] for team in (winner, loser)]
    verb = 'tied with' if len(set(scores)) == 1 else 'defeated'
    return f'{names[0]} {verb} {names[1]} {"-".join(scores)}'

  def _duels(self, said: Said) -> Iterator[tuple[str, str]]:
    """Statistics that both teams have in a sentence, as one comparison."""
    for type, (verb, when) in _DUELS.items():
      cells = {
        team: said[team][type]
        for team in self._teams
        if type in said.get(team, {})
      }
      numbers = [int(v) for v in cells.values() if v.isdecimal()]
      if len(numbers) == 2 and numbers[0] != numbers[1]:
        better, other = sorted(cells, key=lambda t: -int(cells[t]))
        names = self._team(better, {}), self._team(other, {})
        score = f'{cells[better]}-{cells[other]}'
        yield type, f'{names[0]} {verb} {names[1]} {score}{when}'

  def _together(self, said: Said) -> str:
    """`Vey and Abara scored 11 points apiece`: the same points and no more."""
    players = [entity for entity in said if entity in self._players]
    facts = [_facts(said[entity]) for entity in players]
    if len(players) < 2 or any(f != facts[0] for f in facts):
      return ''
    if facts[0].keys() != {'PTS'} or facts[0]['PTS'] == '0':
      return ''
    names = listed([self._player_name(entity) for entity in players])
    return f'{names} scored {_count("PTS", facts[0]["PTS"])} apiece'

  def _meeting(self) -> str:
    home, visitor = (self._team(team.entity, {}) for team in self._game.teams)
    return f'{home} hosted {visitor}'

  def _place(self, entity: str, values: Mapping[str, str]) -> str:
    side = _SIDES[self._teams[entity].values['TEAM-SIDE']]
    return f'{self._team(entity, values)} played {side}'

  def _team(
    self, entity: str, values: Mapping[str, str], record: bool = False
  ) -> str:
    team = self._teams[entity]
    name = f'the {entity if entity not in self._named else team.name}'
    self._named.add(entity)
    wins, losses = values.get('TEAM-WINS'), values.get('TEAM-LOSSES')
    if wins and losses:
      name += f' ({wins}-{losses})'
    elif record and (wins or losses):
      counted = 'WINS' if wins else 'LOSSES'
      name += f' ({_count(counted, wins or losses or "")})'
    return name

  def _player(
    self, entity: str, values: Mapping[str, str], facts: Mapping[str, str]
  ) -> str:
    player = self._players[entity]
    name = self._player_name(entity)
    position = _POSITIONS.get(values.get(START_POSITION, ''))
    if not facts:
      role = f'the starting {position}' if position else 'a player'
      return f'{name} is {role} of {self._team(player.team, {})}'
    if position:
      name = f'starting {position} {name}'
    if PLAYER_TEAM in values:
      name += f' of {self._team(player.team, {})}'
    return self._performance(entity, name, facts, PLAYER_TEAM in values)

  def _performance(
    self, entity: str, name: str, facts: Mapping[str, str], has_team: bool
  ) -> str:
    """Who did what for whom; the leader of a team is called so."""
    player = self._players[entity]
    bench = ' off the bench' if self._course.from_bench(player) else ''
    counts, shooting = _counts(facts), _shooting(facts)
    new_team = player.team != self._last_team
    self._last_team = player.team
    if not counts:
      return f'{name} {_team_predicate(facts)}{bench}'
    said = f'{self._list(counts, facts)}{shooting}{_minutes(facts)}{bench}'
    leads = 'PTS' in facts and self._course.leads_team(player)
    if leads and entity not in self._led and not has_team:
      self._led.add(entity)
      team = self._team(player.team, {})
      high = 'game' if self._course.leads_game(player) else 'team'
      effort = 'losing effort' if self._course.lost(player.team) else 'victory'
      return (
        f'{name} led the way for {team} with a {high}-high {said} in the '
        f'{effort}'
      )
    doubles = sum(_is_double(facts, statistic) for statistic in _DOUBLES)
    whom = '' if has_team or not new_team else self._for_whom(player.team)
    if doubles in _DOUBLE_NAMES:
      what = _DOUBLE_NAMES[doubles]
      return f'{name} recorded {what} with {said}{whom}'
    if 'PTS' in facts and self._course.leads_bench(player):
      said = said.removesuffix(bench)
      team = self._team(player.team, {})
      return f'{name} led the bench for {team} with {said}'
    verb = _VERBS[self._verb % len(_VERBS)]
    self._verb += 1
    return f'{name} {verb} {said}{whom}'

  def _list(self, counts: Sequence[str], facts: Mapping[str, str]) -> str:
    """Every other long list sets the points apart from the rest."""
    self._lists += len(counts) > 2
    if len(counts) > 2 and self._lists % 2 and 'PTS' in facts:
      return f'{counts[0]}, to go along with {listed(counts[1:])}'
    return listed(counts)

  def _for_whom(self, team: str) -> str:
    return f' for {self._team(team, {})}'

  def _player_name(self, entity: str) -> str:
    player = self._players[entity]
    first_time = entity not in self._named
    self._named.add(entity)
    # A surname may be missing, or a name of somebody else as well.
    others = (p for p in self._players.values() if p.entity != entity)
    shared = {name for p in others for name in (p.first_name, p.second_name)}
    if first_time or player.second_name in {'N/A', *shared}:
      return entity
    return player.second_name


def _by_entity(
  sentence: Sequence[Relation],
) -> dict[str, dict[str, str]]:
  """Values by entity and type, without the date; what is repeated, once."""
  said: dict[str, dict[str, str]] = {}
  for entity, value, type in sentence:
    if type != DATE:
      said.setdefault(entity, {})[type] = value
  return said


# Said with the name, not in the predicate.
_ROLES = frozenset({START_POSITION, PLAYER_TEAM})


def _is_silent(values: Mapping[str, str]) -> bool:
  """Whether an entity is only named."""
  return values.keys() <= NAME_TYPES


def _facts(values: Mapping[str, str]) -> dict[str, str]:
  """What a predicate is made of, by statistic; a whole record is a name's.

  Nobody is told what somebody has none of, unless there is nothing else.
  """
  facts = {t: v for t, v in values.items() if t not in NAME_TYPES | _ROLES}
  if {'TEAM-WINS', 'TEAM-LOSSES'} <= facts.keys():
    del facts['TEAM-WINS'], facts['TEAM-LOSSES']
  named = {type.partition('-')[2]: value for type, value in facts.items()}
  worthwhile = {s: v for s, v in named.items() if s not in _COUNTS or v != '0'}
  return worthwhile or named


def _team_predicate(facts: Mapping[str, str]) -> str:
  """`had 44 rebounds, shot 47 percent from the field and scored ...`."""
  counts = _counts(facts)
  quarters = [
    f'{_count("PTS", facts[statistic])} {when}'
    for statistic, when in _QUARTERS.items()
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
    parts[-1] += f' {_SIDES[facts["SIDE"]]}'
  return listed(parts)


def _counts(facts: Mapping[str, str]) -> list[str]:
  """`31 points`, `four rebounds`; points first, then as planned."""
  order = sorted(facts, key=lambda statistic: statistic != 'PTS')
  counts = [_count(s, facts[s]) for s in order if s in _COUNTS]
  for shot, (noun, *_) in _SHOTS.items():
    made, tried = facts.get(f'{shot}M'), facts.get(f'{shot}A')
    if made is not None and tried is None:
      counts.append(f'{_word(made)} {noun}{"" if made == "1" else "s"}')
    elif tried is not None and made is None:
      attempts = 'attempt' if tried == '1' else 'attempts'
      counts.append(f'{_word(tried)} {noun.replace(" ", "-")} {attempts}')
  return counts


def _pairs(facts: Mapping[str, str]) -> list[tuple[str, str, str]]:
  """Shots of which both numbers are known: kind, made, tried."""
  return [
    (shot, facts[f'{shot}M'], facts[f'{shot}A'])
    for shot in _SHOTS
    if {f'{shot}M', f'{shot}A'} <= facts.keys()
  ]


def _rates(facts: Mapping[str, str]) -> list[str]:
  rates = [f'{m}-of-{t} {_SHOTS[shot][1]}' for shot, m, t in _pairs(facts)]
  rates += [
    f'{facts[f"{shot}_PCT"]} percent {where}'
    for shot, (_, where, _) in _SHOTS.items()
    if f'{shot}_PCT' in facts
  ]
  return rates


def _shooting(facts: Mapping[str, str]) -> str:
  """After counts: `on 11-of-20 shooting`, `(11-20 FG, 5-8 3Pt, 4-4 FT)`."""
  pairs = _pairs(facts)
  percents = [rate for rate in _rates(facts) if 'percent' in rate]
  tail = f', shooting {listed(percents)},' if percents else ''
  if not pairs:
    return tail.removesuffix(',') if 'MIN' not in facts else tail
  if len(pairs) == 1 and pairs[0][0] == 'FG':
    return f' on {pairs[0][1]}-of-{pairs[0][2]} shooting{tail}'
  shots = ', '.join(f'{m}-{t} {_SHOTS[shot][2]}' for shot, m, t in pairs)
  return f' ({shots}){tail}'


def _minutes(facts: Mapping[str, str]) -> str:
  if 'MIN' not in facts:
    return ''
  noun = 'minute' if facts['MIN'] == '1' else 'minutes'
  return f' in {_word(facts["MIN"])} {noun}'


def _is_double(facts: Mapping[str, str], statistic: str) -> bool:
  value = facts.get(statistic, '')
  return value.isdecimal() and int(value) >= 10


def _count(statistic: str, value: str) -> str:
  return f'{_word(value)} {_COUNTS[statistic][value != "1"]}'


def _word(value: str) -> str:
  """Small numbers as words, as people write them; none as a digit."""
  if value.isdecimal() and 0 < int(value) < len(DIGITS):
    return DIGITS[int(value)]
  return value


def _join_clauses(clauses: Sequence[str]) -> str:
  if len(clauses) == 2:
    return ', while '.join(clauses)
  return '; '.join(clauses)


def _points(team: Team) -> int:
  return int(team.values['TEAM-PTS'])
