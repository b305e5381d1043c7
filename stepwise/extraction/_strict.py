"""Content selection and ordering as the field's public script has them.

Relations are compared as the strings that a text has. A name is equal to
another that it is part of, and a team's city to its nickname; equality depends
on which comes first, and is not transitive. Two readings exist of amounts:
number words as digits, and the strings as they are, where `five` is not `5`.

The script takes a blank line at the top of a file for a game of which both
sides say nothing, which adds 100 to what it averages for ordering. Here only
games count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from stepwise._extras import needs
from stepwise.evaluation import ContentSelection
from stepwise.extraction._text import parse_number
from stepwise.tables import Relation

# Cities and nicknames of the league, which the script knows.
_LEAGUE = (
  *('Atlanta Hawks', 'Boston Celtics', 'Brooklyn Nets', 'Charlotte Hornets'),
  *('Chicago Bulls', 'Cleveland Cavaliers', 'Dallas Mavericks'),
  *('Denver Nuggets', 'Detroit Pistons', 'Golden State Warriors'),
  *('Houston Rockets', 'Indiana Pacers', 'Los Angeles Clippers'),
  *('Los Angeles Lakers', 'Memphis Grizzlies', 'Miami Heat'),
  *('Milwaukee Bucks', 'Minnesota Timberwolves', 'New Orleans Pelicans'),
  *('New York Knicks', 'Oklahoma City Thunder', 'Orlando Magic'),
  *('Philadelphia 76ers', 'Phoenix Suns', 'Portland Trail Blazers'),
  *('Sacramento Kings', 'San Antonio Spurs', 'Toronto Raptors', 'Utah Jazz'),
  'Washington Wizards',
)
_TWO_WORD_NICKNAMES = frozenset({'Trail Blazers'})


@dataclass(frozen=True)
class Matched:
  """Content selection and ordering, in percent, by one way of matching."""

  cs: ContentSelection
  co: float


def strict_counts(
  predictions: Sequence[Sequence[Relation]],
  references: Sequence[Sequence[Relation]],
  *,
  words_as_digits: bool = True,
) -> Float[np.ndarray, 'games 4']:
  """What strict scores of any of the games are made of.

  Columns: relations that are in both, relations of the prediction, those of the
  reference, and the content ordering of the game in percent.
  """
  amount: Callable[[str], str] = _digits if words_as_digits else str
  texts, truths = (
    [_distinct(_with_amounts(relations, amount)) for relations in side]
    for side in (predictions, references)
  )
  rows = [
    (
      sum(any(_matches(r, other) for other in truth) for r in text),
      len(text),
      len(truth),
      _ordering(text, truth),
    )
    for text, truth in zip(texts, truths, strict=True)
  ]
  return np.array(rows, float).reshape(-1, 4)


def strict_scores(
  predictions: Sequence[Sequence[Relation]],
  references: Sequence[Sequence[Relation]],
  *,
  words_as_digits: bool = True,
) -> Matched:
  """Scores of relations as strings, one sequence a game on both sides."""
  counts = strict_counts(
    predictions, references, words_as_digits=words_as_digits
  )
  shared, stated, wanted, order = counts.sum(axis=0).tolist()
  precision = 100 * shared / max(stated, 1)
  recall = 100 * shared / max(wanted, 1)
  f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
  return Matched(
    ContentSelection(precision, recall, f1), order / max(len(counts), 1)
  )


def _with_amounts(
  relations: Sequence[Relation], amount: Callable[[str], str]
) -> list[Relation]:
  return [Relation(e, amount(value), type) for e, value, type in relations]


def _digits(value: str) -> str:
  number = parse_number(value)
  return value if number is None else str(number)


def _distinct(relations: Sequence[Relation]) -> list[Relation]:
  """Without those that match one before them, left out or not."""
  return [
    relation
    for place, relation in enumerate(relations)
    if not any(_matches(relation, before) for before in relations[:place])
  ]


def _ordering(text: Sequence[Relation], truth: Sequence[Relation]) -> float:
  """A relation of the truth is the first of the text that it matches."""
  with needs('metrics', 'content ordering'):
    from rapidfuzz.distance import OSA

  codes = [
    next(
      (i for i, other in enumerate(text) if _matches(relation, other)),
      len(text) + place,
    )
    for place, relation in enumerate(truth)
  ]
  return 100 * OSA.normalized_similarity(list(range(len(text))), codes)


def _matches(first: Relation, second: Relation) -> bool:
  return first[1:] == second[1:] and _same_name(first.entity, second.entity)


def _same_name(first: str, second: str) -> bool:
  if first in _PARTS:
    return first == second or any(
      first in team and second in team for team in _LEAGUE
    )
  return first in second or second in first


def _parts(team: str) -> tuple[str, str]:
  """City and nickname."""
  words = team.split()
  size = 2 if ' '.join(words[-2:]) in _TWO_WORD_NICKNAMES else 1
  return ' '.join(words[:-size]), ' '.join(words[-size:])


_PARTS = frozenset(part for team in _LEAGUE for part in _parts(team))
