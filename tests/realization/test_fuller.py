"""Plans with more of the table, nothing of it twice and all of it true."""

from itertools import pairwise

import pytest

from stepwise.extraction import oracle_plan
from stepwise.realization import check_plan, fuller_plan, known_entries
from stepwise.realization._course import Course
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.realization.full_games import full_game
from tests.realization.usual_plans import plan_game
from tests.rotowire.games import game_fields

LUND, VEY, QUIST = 'J.T. Lund', 'Aron Vey Jr.', 'Milo Quist'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def points(entity, value):
  return Relation(entity, value, 'PLAYER-PTS')


def test_all_that_is_planned_is_told_once(game):
  plan = known_entries(oracle_plan(game), game)
  fuller = fuller_plan(plan, game)
  check_plan(fuller, game)
  flat = [relation for sentence in fuller for relation in sentence]
  numbers = [relation for relation in flat if relation.value.isdecimal()]
  assert len(numbers) == len(set(numbers))
  assert {relation for sentence in plan for relation in sentence} <= set(flat)


def test_scorers_get_their_other_counts(game):
  assists = Relation(LUND, '12', 'PLAYER-AST')
  counted = (points(LUND, '31'), Relation(LUND, '4', 'PLAYER-REB'), assists)
  # One steal is too few. What is planned in two sentences is told in one.
  for plan in (((points(LUND, '31'),),), ((points(LUND, '31'),), (assists,))):
    assert fuller_plan(plan, game)[0] == counted


def test_few_points_stay_alone():
  fields = game_fields()
  fields['box_score']['PTS']['4'] = '9'
  plan = ((points(VEY, '9'),),)
  assert plan[0] in fuller_plan(plan, parse_game(fields))


def test_shots_follow_the_points(game):
  others = ('REB', '4'), ('FGM', '11'), ('FGA', '20'), ('PTS', '31')
  plan = (tuple(Relation(LUND, v, f'PLAYER-{t}') for t, v in others),)
  [first, *_] = fuller_plan(plan, game)
  types = [relation.type.removeprefix('PLAYER-') for relation in first]
  assert types == ['PTS', 'FGM', 'FGA', 'REB', 'AST']


def test_players_are_told_team_by_team():
  game = full_game(1)
  players = {player.entity: player for player in game.players}
  plan = plan_game(game)
  # Every other sentence is of the other team, as planners may have it.
  result, *rest = plan
  mixed = (result, *rest[::2], *rest[1::2])
  fuller = fuller_plan(mixed, game)
  assert not {r.entity for r in fuller[0]} & players.keys()
  told = list(dict.fromkeys(r.entity for s in fuller[1:] for r in s))
  teams = [players[entity].team for entity in told]
  assert sum(a != b for a, b in pairwise(teams)) == 1
  assert teams[0] == players[rest[0][0].entity].team
  course = Course(game)
  for team in dict.fromkeys(teams):
    mates = [players[e] for e in told if players[e].team == team]
    if course.leads_team(mates[0]):
      mates = mates[1:]
    order = [
      (course.from_bench(p), -int(p.values['PLAYER-PTS'])) for p in mates
    ]
    assert order == sorted(order)


def test_two_of_whom_there_is_little_to_say_share_a_sentence(game):
  plan = ((points(LUND, '31'),), (points(VEY, '11'),))
  fuller = fuller_plan(plan, game)
  # The leader of a team has his own, and so have players of two teams.
  assert [list(dict.fromkeys(r.entity for r in s)) for s in fuller] == [
    *([LUND], [VEY]),
    *([QUIST], ['Deon Abara']),
  ]
  big = full_game(1)
  _, *rest = fuller_plan(plan_game(big), big)
  assert max(len({r.entity for r in sentence}) for sentence in rest) == 2


def test_records_are_whole_beside_a_score(game):
  score = Relation('Easton Herons', '104', 'TEAM-PTS')
  wins, losses = (
    Relation('Easton Herons', value, f'TEAM-{type}')
    for value, type in (('12', 'WINS'), ('3', 'LOSSES'))
  )
  [first, *_] = fuller_plan(((score, wins),), game)
  assert first == (score, wins, losses)
  # What is planned elsewhere stays there.
  assert fuller_plan(((score,), (wins, losses)), game)[:2] == (
    (score,),
    (wins, losses),
  )
