"""Cues: what the table tells of people, without their names."""

import pytest

from stepwise.data import report_words
from stepwise.realization._cues import Cues, count_doubles, cue_words
from stepwise.rotowire import game_table, parse_game
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

HERONS, LUND, VEY = 'Easton Herons', 'J.T. Lund', 'Aron Vey Jr.'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


@pytest.fixture(scope='module')
def cues(game):
  return Cues(game)


def test_whose_points_were_the_most(cues):
  texts = cues.texts(
    [
      Relation(LUND, 'Lund', 'PLAYER-SECOND_NAME'),
      Relation(LUND, '31', 'PLAYER-PTS'),
      Relation(VEY, '13', 'PLAYER-REB'),
      Relation(VEY, '3', 'PLAYER-BLK'),
    ]
  )
  assert texts == [
    '[PLAYER-SECOND_NAME] [PLAYER0] [WINNER] [LEADER] [DOUBLE]',
    '[PLAYER-PTS] [PLAYER0] [30] [MOST]',
    '[PLAYER-REB] [PLAYER1] [WINNER] [DOUBLE] [10] [MOST]',
    '[PLAYER-BLK] [PLAYER1] [3] [MOST]',
  ]


def test_teams_are_winners_and_losers(cues):
  relation = Relation(HERONS, '104', 'TEAM-PTS')
  assert cues.texts([relation]) == ['[TEAM-PTS] [WINNER] [HOME] [100]']
  # The names of both teams may be said as well.
  context = cues.context((relation,))
  assert [r.value for r in context] == [
    *('Easton', 'Herons', 'Port Vale', 'Comets')
  ]


def test_names_of_teams_need_not_be_said(cues):
  name = Relation(HERONS, 'Herons', 'TEAM-NAME')
  points = Relation(LUND, '31', 'PLAYER-PTS')
  team_points = Relation(HERONS, '104', 'TEAM-PTS')
  assert cues.entries((name, points, points)) == (points,)
  assert name in cues.context((name, points))
  assert cues.entries((name, team_points)) == (name, team_points)
  assert name not in cues.context((name, team_points))


def test_the_list_of_words_has_every_cue(game, cues):
  known = set(report_words().pieces())
  assert set(cue_words()) <= known
  relations = game_table(game, max_units=None).relations
  texts = cues.texts(sorted(relations))
  assert {cue for text in texts for cue in text.split()} <= known


def test_doubles_are_counted(game):
  assert count_doubles(game.values[LUND]) == 2
  assert count_doubles(game.values['Milo Quist']) == 1
  assert count_doubles({'PLAYER-PTS': 'N/A'}) == 0
