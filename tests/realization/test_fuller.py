"""Plans with more of the table, nothing of it twice and all of it true."""

import pytest

from stepwise.extraction import oracle_plan
from stepwise.realization import check_plan, fuller_plan, known_entries
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

LUND, VEY, QUIST = 'J.T. Lund', 'Aron Vey Jr.', 'Milo Quist'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def points(entity, value):
  return Relation(entity, value, 'PLAYER-PTS')


def test_what_is_planned_stays_in_its_order(game):
  plan = known_entries(oracle_plan(game), game)
  fuller = fuller_plan(plan, game)
  check_plan(fuller, game)
  flat = [relation for sentence in plan for relation in sentence]
  rest = iter(relation for sentence in fuller for relation in sentence)
  assert all(relation in rest for relation in flat)
  # Whoever is named there gets no sentence of his own.
  assert len(fuller) == len(plan)


def test_scorers_get_their_other_counts(game):
  assists = Relation(LUND, '12', 'PLAYER-AST')
  [first, *_] = fuller_plan(((points(LUND, '31'),),), game)
  # One steal is too few.
  assert first == (
    points(LUND, '31'),
    Relation(LUND, '4', 'PLAYER-REB'),
    assists,
  )
  # What is said elsewhere is not said again.
  [one, two, *_] = fuller_plan(((points(LUND, '31'),), (assists,)), game)
  assert assists not in one
  assert two == (assists,)


def test_the_best_of_the_others_follow_their_team(game):
  fuller = fuller_plan(((points(LUND, '31'),), (points(QUIST, '26'),)), game)
  names = [sentence[0].entity for sentence in fuller]
  assert names == [LUND, VEY, QUIST, 'Deon Abara']
  assert fuller[1] == (
    Relation(VEY, 'Aron', 'PLAYER-FIRST_NAME'),
    Relation(VEY, 'Vey', 'PLAYER-SECOND_NAME'),
    points(VEY, '11'),
  )


def test_teams_alone_get_players(game):
  plan = ((Relation('Easton Herons', '104', 'TEAM-PTS'),),)
  fuller = fuller_plan(plan, game)
  assert [sentence[-1] for sentence in fuller] == [
    plan[0][0],
    points(LUND, '31'),
    points(QUIST, '26'),
  ]
