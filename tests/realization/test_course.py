"""How games went, from quarters and cells that are set for it."""

import pytest

from stepwise.realization import TemplateRealizer
from stepwise.realization._course import Course
from stepwise.rotowire import game_table, parse_game
from tests.rotowire.games import game_fields


def text_of(home, visitor, **others):
  """A report of the result of a game with these points by quarter."""
  fields = game_fields()
  for line, quarters in (('home_line', home), ('vis_line', visitor)):
    for number, points in enumerate(quarters, 1):
      fields[line][f'TEAM-PTS_QTR{number}'] = str(points)
    fields[line].update({f'TEAM-{k}': v for k, v in others.items()})
  game = parse_game(fields)
  entries = game_table(game, max_units=None).relations
  plan = (tuple(r for r in entries if r.type == 'TEAM-PTS'),)
  [[text]] = TemplateRealizer().realize([game], [plan])
  return text


@pytest.mark.parametrize(
  ('home', 'visitor', 'words'),
  [
    ((30, 25, 21, 28), (20, 24, 20, 28), 'led at the end of every quarter'),
    ((20, 20, 20, 44), (25, 25, 25, 17), 'trailed going into the fourth'),
    ((20, 20, 40, 24), (25, 25, 15, 27), 'trailed at halftime, but outscored'),
    ((20, 40, 20, 24), (25, 20, 20, 27), 'trailed after the first quarter'),
    ((25, 25, 25, 29), (25, 25, 25, 17), 'never trailed at the end of a'),
    ((20, 20, 20, 30), (20, 20, 20, 30), 'It took overtime for the Herons'),
  ],
)
def test_the_flow_of_a_game(home, visitor, words):
  assert words in text_of(home, visitor)


def test_only_what_differs_is_compared():
  same = {'FG_PCT': '45', 'FG3_PCT': '33', 'REB': '40', 'AST': '20', 'TOV': '9'}
  assert 'better' not in text_of((30, 25, 21, 28), (20, 24, 20, 28), **same)


def test_cells_that_are_missing_are_left_alone():
  text = text_of(('N/A',) * 4, ('N/A',) * 4)
  assert 'quarter' not in text and 'defeated' in text


def test_whose_bench_scored_more():
  fields = game_fields()
  assert Course(parse_game(fields)).benches() == ''
  # Abara of the Comets did not start.
  fields['box_score']['START_POSITION']['1'] = 'N/A'
  assert Course(parse_game(fields)).benches() == (
    'The Comets got more scoring from the bench, as their reserves outscored '
    'those of the Herons.'
  )


def test_the_first_of_a_column_is_alone():
  fields = game_fields()
  first = Course(parse_game(fields)).first
  assert first('PLAYER-REB').entity == 'Aron Vey Jr.'
  assert first('PLAYER-FG3A').entity == 'J.T. Lund'
  fields['box_score']['REB']['0'] = '13'
  assert Course(parse_game(fields)).first('PLAYER-REB') is None
