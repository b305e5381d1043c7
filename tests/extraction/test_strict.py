"""Scores as the field's public script gives them, on a small case by hand.

The script itself, run on the same relations, gives the same numbers.
"""

import pytest

from stepwise.extraction import strict_scores
from stepwise.tables import Relation


def relations(*lines):
  return [Relation(*line.split('|')) for line in lines]


REFERENCE = relations(
  'Boston Celtics|110|TEAM-PTS',
  'Miles Ray|five|PLAYER-REB',
  'Miles Ray|20|PLAYER-PTS',
  'Jo Ames|7|PLAYER-AST',
)


@pytest.mark.parametrize(
  ('prediction', 'digits', 'strings'),
  [
    # Part of a name, a city for its team, `five` for 5: all four, in order.
    (
      relations(
        'Boston|110|TEAM-PTS',
        'Ray|5|PLAYER-REB',
        'Ray|20|PLAYER-PTS',
        'Jo Ames|7|PLAYER-AST',
      ),
      (100, 100, 100),
      (75, 75, 75),
    ),
    # What is said again under another name counts once.
    (
      relations(
        'Celtics|110|TEAM-PTS', 'Boston|110|TEAM-PTS', 'Ames|7|PLAYER-AST'
      ),
      (100, 50, 50),
      (100, 50, 50),
    ),
    # Neighbours exchanged cost one; a wrong name two places.
    (
      relations(
        'Miles Ray|20|PLAYER-PTS',
        'Miles Ray|five|PLAYER-REB',
        'Al Bern|7|PLAYER-AST',
      ),
      (100 * 2 / 3, 50, 25),
      (100 * 2 / 3, 50, 25),
    ),
    ([], (0, 0, 0), (0, 0, 0)),
  ],
)
def test_precision_recall_and_order(prediction, digits, strings):
  for wanted, as_digits in ((digits, True), (strings, False)):
    found = strict_scores([prediction], [REFERENCE], words_as_digits=as_digits)
    scores = found.cs.precision, found.cs.recall, found.co
    assert scores == pytest.approx(wanted)


def test_a_match_may_depend_on_who_is_first():
  """A nickname knows its city; a longer name only contains one of them."""
  league = relations('Lakers|100|TEAM-PTS')
  longer = relations('Los Angeles Lakers of old|100|TEAM-PTS')
  assert strict_scores([league], [longer]).cs.f1 == 0
  assert strict_scores([longer], [league]).cs.f1 == 100


def test_scores_are_of_all_games_together():
  nothing = relations()
  both = strict_scores([REFERENCE, nothing], [REFERENCE, nothing])
  assert (both.cs.f1, both.co) == (100, 100)
  half = strict_scores([REFERENCE, nothing], [REFERENCE, REFERENCE])
  assert (half.cs.precision, half.cs.recall, half.co) == (100, 50, 50)
