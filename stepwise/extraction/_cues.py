"""Which statistic a number is, by the words around it.

Statistics are entry types without their prefix: `PTS` of `PLAYER-PTS` and
`TEAM-PTS`.
"""

import re
from collections.abc import Sequence

from stepwise.extraction._text import Number, tokenize

_PHRASES = {
  'PTS': 'point points pts',
  'REB': 'rebound rebounds board boards reb',
  'AST': 'assist assists dime dimes ast',
  'STL': 'steal steals stl',
  'BLK': 'block blocks blk rejections swats blocked-shot blocked-shots',
  'TO': 'turnover turnovers giveaways',
  'PF': 'foul fouls',
  'MIN': 'minute minutes min',
  'WINS': 'win wins victories',
  'LOSSES': 'loss losses defeats',
  'PCT': 'percent percentage %',
  'FG3': 'three-pointer three-pointers 3-pointer 3-pointers three-point '
  '3-point threes treys triples 3Pt 3PT trey',
  'FT': 'free-throw free-throws FT FTs freebies foul-line free-throw-line',
  'FG': 'field-goal field-goals shots FG FGs shot buckets baskets shooting '
  'attempts field floor',
}
# Spellings as sequences of words, hyphens left out; longer ones first.
_CUES = {
  tuple(word for word in tokenize(text) if word != '-'): statistic
  for statistic, texts in _PHRASES.items()
  for text in texts.split()
}
_LONGEST = max(map(len, _CUES))
# A verb before a number, where nothing after it tells.
_VERBS = {
  'REB': 'grabbed grabbing pulled hauled snatched corralled',
  'AST': 'dished dishing handed',
  'BLK': 'blocked blocking',
}
_VERB_CUES = {
  verb: statistic
  for statistic, verbs in _VERBS.items()
  for verb in verbs.split()
}
# Words that end the phrase of a number.
_BOUNDS = frozenset({',', ';', ':', '(', ')', 'and', 'while', 'but', 'as'})
# After `22 - point`: a margin or a streak, not what somebody scored.
_MARGINS = frozenset(
  {
    *('lead', 'deficit', 'margin', 'advantage', 'cushion', 'edge', 'hole'),
    *('victory', 'win', 'loss', 'defeat', 'comeback', 'run', 'swing', 'range'),
    *('difference', 'favorite', 'underdog', 'guard', 'guards'),
  }
)
# In a sentence of averages and sums, numbers are of no single game or player.
_AGGREGATE = re.compile(
  r'\b(?:averag\w*|combin\w*|last|previous|past|history|respectively'
  r'|per game|prior to|followed up|following up|follow up)\b',
  re.I,
)
# Words before or after a number that is a bound, or of a part of the game.
_BOUNDING = frozenset({'than', 'least', 'most', 'another', 'straight', 'other'})
_PARTIAL = frozenset(
  {
    *('half', 'halftime', 'shy', 'short', 'more', 'fewer', 'less', 'plus'),
    *('stretch', 'period', 'overtime', 'straight', 'plateau', 'span'),
  }
)
_THREE = frozenset(
  {
    *('three', '3', 'threes', '3Pt', '3PT', 'beyond', 'arc', 'deep'),
    *('downtown', 'long', 'distance'),
  }
)
_FREE_THROW = frozenset({'free', 'line', 'stripe', 'charity', 'foul', 'FT'})
_QUARTERS = {
  word: f'PTS_QTR{quarter}'
  for quarter, words in enumerate(
    ('first 1st opening', 'second 2nd', 'third 3rd', 'fourth 4th final'), 1
  )
  for word in words.split()
}
# Right before a number of points, whatever follows.
_SCORED = tuple((verb,) for verb in ('scored', 'scoring', 'score', 'dropped'))
# After a number that stands alone.
_BARE = frozenset({'.', 'each', 'apiece', 'off', 'on', 'in', 'more'})
# Words after a number that may name its statistic.
_REACH = 7


def cued_statistics(
  tokens: Sequence[str], number: Number, following: Number | None
) -> tuple[str, ...]:
  """Statistics that the words beside a number name, the likeliest first.

  Words as far as the `following` number count. Empty if nothing tells.
  """
  after, phrase = _words_after(tokens, number, following)
  of_shots = phrase[:1] in (['shot'], ['shots'])
  if of_shots and _verb_before(tokens, number) == 'BLK':
    return ('BLK',)
  for position in range(len(phrase)):
    statistic = _cue_at(phrase, position)
    if statistic:
      return _refine(statistic, phrase, position, after)
  return ()


def implied_statistic(
  tokens: Sequence[str], number: Number, following: Number | None
) -> str | None:
  """What a number that stands alone is: points, unless a verb before tells.

  `Hill led all scorers with 31.` None if words after it make it no statistic.
  """
  _, phrase = _words_after(tokens, number, following)
  is_scored = tuple(tokens[number.start - 1 : number.start]) in _SCORED
  is_bare = not phrase or phrase[0] in _BARE or is_scored
  return (_verb_before(tokens, number) or 'PTS') if is_bare else None


def is_aggregate(tokens: Sequence[str]) -> bool:
  """Whether a sentence speaks of averages, sums or other games."""
  return _AGGREGATE.search(' '.join(tokens)) is not None


def is_summed(words: Sequence[str]) -> bool:
  """Whether words between a name and an amount make it an average or a sum."""
  return any(word.lower().startswith(('averag', 'combin')) for word in words)


def is_partial(
  tokens: Sequence[str], number: Number, following: Number | None
) -> bool:
  """Whether a number bounds an amount, or is of a part of the game."""
  after, _ = _words_after(tokens, number, following)
  before = tokens[max(number.start - 2, 0) : number.start]
  return bool(_BOUNDING.intersection(before) or _PARTIAL.intersection(after))


def shooting_scope(words: Sequence[str]) -> str:
  """Whether words about shooting speak of `FG3`, `FT` or plainly `FG`."""
  for word in words:
    if word in _THREE:
      return 'FG3'
    if word in _FREE_THROW:
      return 'FT'
    if word in ('field', 'floor', 'shooting', 'overall', 'FG', ';'):
      return 'FG'
  return 'FG'


def quarter_cue(words: Sequence[str]) -> str | None:
  """`PTS_QTR1` if the words have `first quarter`, and so on."""
  for position, word in enumerate(words[:-1]):
    rest = [w for w in words[position + 1 : position + 3] if w != '-']
    if word in _QUARTERS and rest[:1] in (['quarter'], ['period']):
      return _QUARTERS[word]
  return None


def _words_after(
  tokens: Sequence[str], number: Number, following: Number | None
) -> tuple[list[str], list[str]]:
  """Words as far as the next number, and those of the number's own phrase."""
  stop = following.start if following else len(tokens)
  after = [token for token in tokens[number.end : stop] if token != '-']
  return after, _until_bound(after)


def _until_bound(words: Sequence[str]) -> list[str]:
  phrase = []
  for word in words[:_REACH]:
    if word in _BOUNDS:
      break
    phrase.append(word)
  return phrase


def _cue_at(words: Sequence[str], start: int) -> str | None:
  for end in range(min(start + _LONGEST, len(words)), start, -1):
    statistic = _CUES.get(tuple(words[start:end]))
    if statistic:
      return statistic
  return None


def _refine(
  statistic: str, phrase: list[str], position: int, after: list[str]
) -> tuple[str, ...]:
  if statistic == 'PCT':
    scope = shooting_scope(after[position + 1 : position + 9])
    others = [s for s in ('FG', 'FG3', 'FT') if s != scope]
    return (f'{scope}_PCT', *(f'{other}_PCT' for other in others))
  if statistic in ('FG', 'FG3', 'FT'):
    made = f'{statistic}M', f'{statistic}A'
    return made[::-1] if 'attempts' in phrase else made
  if statistic == 'REB' and position:
    prefix = {'offensive': ('OREB',), 'defensive': ('DREB',)}
    return prefix.get(phrase[position - 1].lower(), ('REB',))
  if statistic == 'PTS':
    return _refine_points(phrase, position, after)
  return (statistic,)


def _refine_points(
  phrase: list[str], position: int, after: list[str]
) -> tuple[str, ...]:
  following = phrase[position + 1 : position + 2]
  is_margin = phrase[position] == 'point' and _MARGINS.intersection(following)
  if is_margin or following == ['per']:
    return ()
  return (quarter_cue(after[:_REACH]) or 'PTS',)


def _verb_before(tokens: Sequence[str], number: Number) -> str | None:
  for word in reversed(tokens[max(number.start - 3, 0) : number.start]):
    if word in _VERB_CUES:
      return _VERB_CUES[word]
    if word in _BOUNDS:
      break
  return None
