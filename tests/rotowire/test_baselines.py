"""Plans by habit: frequent entries, and the most similar game's plan."""

import pytest

from stepwise._errors import InputError
from stepwise.rotowire import (
  frequent_entry_plans,
  nearest_game_plans,
  parse_game,
)
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

HERONS, COMETS = 'Easton Herons', 'Port Vale Comets'
DATE = Relation('match', '2016-03-11', 'MATCH-DATE')


def relation(entity, value, type):
  return Relation(entity, value, type)


def game_won_by_visitors():
  fields = game_fields()
  fields['home_line']['TEAM-PTS'], fields['vis_line']['TEAM-PTS'] = '92', '104'
  return parse_game(fields)


@pytest.fixture(scope='module')
def home_win():
  return parse_game(game_fields())


@pytest.fixture(scope='module')
def away_win():
  return game_won_by_visitors()


# The home team won: its name and best scorer, then the losers' points.
PLAN = (
  (
    relation(HERONS, 'Herons', 'TEAM-NAME'),
    relation('J.T. Lund', '31', 'PLAYER-PTS'),
  ),
  (relation(COMETS, '92', 'TEAM-PTS'),),
)


@pytest.mark.parametrize('planner', [frequent_entry_plans, nearest_game_plans])
def test_roles_carry_plans_between_games(planner, home_win, away_win):
  by_result, by_table = (
    planner([home_win, away_win], [home_win], [PLAN], roles=roles)
    for roles in ('result', 'table')
  )
  assert by_result[0] == by_table[0] == PLAN
  # By result the winners are the Comets, whose best scorer is Quist.
  assert by_result[1] == (
    (
      relation(COMETS, 'Comets', 'TEAM-NAME'),
      relation('Milo Quist', '26', 'PLAYER-PTS'),
    ),
    (relation(HERONS, '92', 'TEAM-PTS'),),
  )
  # By table it is still the home team, and the first of its rows.
  assert by_table[1] == (PLAN[0], (relation(COMETS, '104', 'TEAM-PTS'),))


def test_frequent_entries_in_their_usual_order(home_win):
  name, points = PLAN[0]
  losers = PLAN[1][0]
  plans = [
    # Entries on average: (3 + 2 + 4) / 3 = 3; sentences (2 + 1 + 3) / 3 = 2.
    ((name, points), (losers,)),
    ((name, losers),),
    ((name,), (points, name), (losers, DATE)),
  ]
  [plan] = frequent_entry_plans([home_win], [home_win] * 3, plans)
  # The date, in one plan only, is left out. Sentences, as mean shares: name
  # 0, points (0 + 1/3) / 2 = 1/6, losers (1/2 + 0 + 2/3) / 3 = 0.39: all in
  # the first half, in this order.
  assert plan == ((name, points, losers),)


def test_the_nearest_game_decides(home_win, away_win):
  other = ((DATE,),)
  training = [away_win, home_win]
  assert nearest_game_plans(training, training, [other, PLAN]) == [other, PLAN]


def test_entries_that_a_game_lacks_are_left_out(home_win):
  position = relation('J.T. Lund', 'G', 'PLAYER-START_POSITION')
  fields = game_fields()
  fields['box_score']['START_POSITION']['3'] = 'N/A'
  plan = ((position,), PLAN[1])
  [copied] = nearest_game_plans([parse_game(fields)], [home_win], [plan])
  assert copied == (PLAN[1],)


@pytest.mark.parametrize('planner', [frequent_entry_plans, nearest_game_plans])
def test_training_data_must_fit(planner, home_win):
  with pytest.raises(InputError, match='1 training games and 0 plans'):
    planner([home_win], [home_win], [])
