"""Lines of numbers, in the order of the plan."""

from stepwise.realization._lines import predicate, stat_line

SHOTS = {'FGM': '11', 'FGA': '20'}


def test_shots_are_where_they_are_planned():
  early = stat_line({'PTS': '31', **SHOTS, 'REB': '4', 'AST': '12'})
  late = stat_line({'PTS': '31', 'REB': '4', 'AST': '12', **SHOTS, 'MIN': '9'})
  assert early.plain() == (
    '31 points on 11-of-20 shooting, four rebounds and 12 assists'
  )
  assert late.plain() == (
    '31 points, four rebounds and 12 assists on 11-of-20 shooting in nine '
    'minutes'
  )


def test_points_come_first_and_may_stand_apart():
  line = stat_line({'AST': '12', 'REB': '1', 'PTS': '31'})
  assert line.counts == ('31 points', '12 assists', 'one rebound')
  assert line.apart() == (
    '31 points, to go along with 12 assists and one rebound'
  )
  # Not from one count alone, and not without points.
  assert stat_line({'PTS': '9', 'REB': '2'}).apart() == (
    'nine points and two rebounds'
  )
  assert stat_line({'AST': '3', 'REB': '2'}).apart() == (
    'three assists and two rebounds'
  )


def test_several_kinds_of_shots_are_in_brackets():
  facts = {'PTS': '31', **SHOTS, 'FTM': '4', 'FTA': '4', 'STL': '2'}
  assert stat_line(facts).plain() == (
    '31 points (11-20 FG, 4-4 FT) and two steals'
  )


def test_shots_of_which_one_number_is_known_are_counted():
  assert stat_line({'PTS': '9', 'FG3M': '3', 'FGA': '7'}).plain() == (
    'nine points, seven field-goal attempts and three three-pointers'
  )


def test_what_a_team_did():
  facts = {'REB': '44', 'PTS_QTR1': '30', 'FG_PCT': '47'}
  assert predicate(facts) == (
    'had 44 rebounds, scored 30 points in the first quarter and shot 47 '
    'percent from the field'
  )
