"""Which statistic a number is."""

import pytest

from stepwise.extraction import find_numbers, tokenize
from stepwise.extraction._cues import (
  cued_statistics,
  implied_statistic,
  is_aggregate,
  quarter_cue,
  shooting_scope,
)


def first_number(text):
  tokens = text.split()
  number, *later = find_numbers(tokens)
  return tokens, number, later[0] if later else None


@pytest.mark.parametrize(
  ('text', 'statistics'),
  [
    ('had 20 points , five rebounds', ('PTS',)),
    ('a 20 - point night', ('PTS',)),
    ('took 9 boards', ('REB',)),
    ('took 9 offensive rebounds', ('OREB',)),
    ('took nine defensive boards', ('DREB',)),
    ('gave 8 assists', ('AST',)),
    ('with 2 steals', ('STL',)),
    ('with 2 blocked shots', ('BLK',)),
    ('blocked four shots', ('BLK',)),
    ('made 5 turnovers', ('TO',)),
    ('in 31 minutes', ('MIN',)),
    ('hit 4 three - pointers', ('FG3M', 'FG3A')),
    ('hit 4 free throws', ('FTM', 'FTA')),
    ('on 9 field goal attempts', ('FGA', 'FGM')),
    ('shot 41 percent from the field', ('FG_PCT', 'FG3_PCT', 'FT_PCT')),
    ('shot 41 % from deep', ('FG3_PCT', 'FG_PCT', 'FT_PCT')),
    ('shot 41 percent at the line', ('FT_PCT', 'FG_PCT', 'FG3_PCT')),
    ('had 30 points in the first quarter', ('PTS_QTR1',)),
    ('a 20 - point lead', ()),
    ('had 20 points per game', ()),
    ('won 5 straight games', ()),
    ('scored 20 , and all the rebounds', ()),
  ],
)
def test_cues(text, statistics):
  assert cued_statistics(*first_number(text)) == statistics


@pytest.mark.parametrize(
  ('text', 'statistic'),
  [
    ('Hill led with 31 .', 'PTS'),
    ('Hill and Orr had 12 each .', 'PTS'),
    ('Hill scored 9 and left .', 'PTS'),
    ('Hill grabbed 9 , and left .', 'REB'),
    ('Hill dished out 7 .', 'AST'),
    ('Hill won 5 straight games .', None),
  ],
)
def test_numbers_that_stand_alone(text, statistic):
  assert implied_statistic(*first_number(text)) == statistic


def test_sentences_of_sums_and_averages():
  assert is_aggregate(tokenize('He is Averaging 20 points'))
  assert is_aggregate(tokenize('They combined for 40 points'))
  assert is_aggregate(tokenize('in his last five games'))
  assert not is_aggregate(tokenize('Lastly , he had 20 points'))


def test_scopes_and_quarters():
  assert shooting_scope(tokenize('from beyond the arc')) == 'FG3'
  assert shooting_scope(tokenize('at the free throw line')) == 'FT'
  assert shooting_scope(tokenize('from the floor and deep')) == 'FG'
  assert shooting_scope([]) == 'FG'
  assert quarter_cue(tokenize('of the fourth - quarter')) == 'PTS_QTR4'
  assert quarter_cue(tokenize('their second win , a quarter away')) is None
