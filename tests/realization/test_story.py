"""How games went, from quarters and cells that are set for it."""

import pytest

from stepwise.realization import TemplateRealizer
from stepwise.realization._course import Course
from stepwise.realization._naming import Naming
from stepwise.realization._story import Story
from stepwise.realization._turns import Turns
from stepwise.rotowire import game_table, parse_game
from tests.rotowire.games import game_fields

SKIPS = range(4)


def texts_of(home, visitor, types=('TEAM-PTS',), **others):
  """Reports of the result of a game with these points by quarter."""
  fields = game_fields()
  for line, quarters in (('home_line', home), ('vis_line', visitor)):
    for number, points in enumerate(quarters, 1):
      fields[line][f'TEAM-PTS_QTR{number}'] = str(points)
    fields[line].update({f'TEAM-{k}': v for k, v in others.items()})
  game = parse_game(fields)
  entries = game_table(game, max_units=None).relations
  plan = (tuple(r for r in entries if r.type in types),)
  return [
    TemplateRealizer(skip=skip).realize([game], [plan])[0][0] for skip in SKIPS
  ]


def story(fields, skip=0):
  game = parse_game(fields)
  return Story(Course(game), Naming(game), Turns(game, skip))


@pytest.mark.parametrize(
  ('home', 'visitor', 'words'),
  [
    ((30, 25, 21, 28), (20, 24, 20, 28), 'at the end of every quarter'),
    ((20, 20, 20, 44), (25, 25, 25, 17), 'in the f'),
    ((20, 20, 40, 24), (25, 25, 15, 27), 'the third quarter and held on'),
    ((20, 40, 20, 24), (25, 20, 20, 27), 'trailed'),
    ((25, 25, 25, 29), (25, 25, 25, 17), 'trail'),
    ((20, 20, 20, 30), (20, 20, 20, 30), 'needed overtime'),
  ],
)
def test_the_flow_of_a_game(home, visitor, words):
  texts = texts_of(home, visitor)
  assert all(words in text for text in texts), texts
  assert len(set(texts)) > 1


def test_the_best_quarter():
  # Of all four, and the one that was told of already.
  best = texts_of((30, 25, 21, 38), (20, 24, 20, 28 - 8))
  assert all('in the fourth quarter, as they outscored' in t for t in best)
  same = texts_of((20, 20, 20, 44), (25, 25, 25, 17))
  assert all('They won no other quarter by as much.' in t for t in same)
  # Two quarters were won by ten.
  two = texts_of((30, 30, 20, 24), (20, 20, 25, 27))
  assert not any('biggest margin' in text for text in two)


def test_only_what_differs_is_compared():
  same = {'FG_PCT': '45', 'FG3_PCT': '33', 'REB': '40', 'AST': '20', 'TOV': '9'}
  texts = texts_of((30, 25, 21, 28), (20, 24, 20, 28), **same)
  assert not any('better' in text for text in texts)


def test_what_numbers_tell_is_not_compared():
  quarters = (30, 25, 21, 28), (20, 24, 20, 28)
  for types in (('TEAM-PTS',), ('TEAM-PTS', 'TEAM-FG_PCT')):
    told = len(types) > 1
    for text in texts_of(*quarters, types):
      assert ('better from the field' in text) != told
      assert ('percent from the field' in text) == told


def test_cells_that_are_missing_are_left_alone():
  for text in texts_of(('N/A',) * 4, ('N/A',) * 4):
    assert 'quarter' not in text and 'defeated' in text


def test_whose_bench_scored_more():
  fields = game_fields()
  assert story(fields).benches() == ''
  # Abara of the Comets did not start.
  fields['box_score']['START_POSITION']['1'] = 'N/A'
  for skip in SKIPS:
    text = story(fields, skip).benches()
    assert text.startswith('The Port Vale Comets ')
    assert text.endswith(' reserves outscored those of the Easton Herons.')


def test_who_led_in_rebounds_and_assists():
  fields = game_fields()
  for skip in SKIPS:
    first, _, second = story(fields, skip).leaders().partition(', while ')
    assert first.startswith('Aron Vey Jr. ') and 'rebounds' in first
    assert second.startswith('J.T. Lund ') and 'assists' in second
  fields['box_score']['REB']['0'] = '13'
  assert story(fields).leaders() == ''


def test_who_won_where():
  for skip in SKIPS:
    text = story(game_fields(), skip).closing()
    assert text.index('at home') < text.index('on the road')
    assert text.index('Herons') < text.index('Comets')
  fields = game_fields()
  fields['vis_line']['TEAM-PTS'] = '104'
  assert story(fields).closing() == ''
