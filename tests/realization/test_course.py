"""Who won, led and stood out, from cells that are set for it."""

from stepwise.realization._course import Course
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields


def course(**cells):
  """Of the game, with other cells of Deon Abara."""
  fields = game_fields()
  for name, value in cells.items():
    fields['box_score'][name]['1'] = value
  return Course(parse_game(fields))


def player(found, name):
  return next(p for p in found._game.players if p.entity == name)


def test_gains_by_quarter():
  assert course().gains() == [10, 1, -10, 11]
  fields = game_fields()
  fields['home_line']['TEAM-PTS_QTR2'] = 'N/A'
  assert Course(parse_game(fields)).gains() == []
  fields = game_fields()
  fields['vis_line']['TEAM-PTS'] = '104'
  assert Course(parse_game(fields)).gains() == []


def test_who_is_better_at_what():
  found = course()
  home, visitor = found._game.teams
  types = ('TEAM-REB', 'TEAM-TOV')
  assert found.better(home, visitor, types) == types
  assert found.better(visitor, home, types) == ()


def test_benches():
  assert course().by_bench() == []
  teams = course(START_POSITION='N/A').by_bench()
  assert [team.name for team in teams] == ['Comets', 'Herons']


def test_the_first_of_a_column_is_alone():
  first = course().first
  assert first('PLAYER-REB').entity == 'Aron Vey Jr.'
  assert first('PLAYER-FG3A').entity == 'J.T. Lund'
  assert course(REB='13').first('PLAYER-REB') is None


def test_the_second_of_a_team():
  found = course()
  assert found.is_second(player(found, 'Deon Abara'))
  assert not found.is_second(player(found, 'Milo Quist'))
  assert found.are_only_tens(player(found, 'Deon Abara'))
  # As many as Quist: nobody is second.
  found = course(PTS='26')
  assert not found.is_second(player(found, 'Deon Abara'))
  found = course(PTS='9')
  assert not found.are_only_tens(player(found, 'Deon Abara'))
