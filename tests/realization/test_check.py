"""Mistakes that a checker finds in texts, and finds none in reports."""

import pytest

from stepwise.realization import (
  TemplateRealizer,
  check_text,
  known_entries,
)
from stepwise.rotowire import parse_game, salient_plan
from tests.rotowire.games import SUMMARY, game_fields
from tests.rotowire.season import season_game


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def test_a_true_text(game):
  assert check_text(SUMMARY, game) == []


@pytest.mark.parametrize(
  ('right', 'wrong', 'kind', 'words'),
  [
    ('104 - 92', '105 - 92', 'score', '105 - 92'),
    ('( 12 - 3 )', '( 12 - 4 )', 'record', '12 - 4'),
    ('Deon Abara', 'Deon Ames', 'name', 'Ames'),
    ('Friday', 'Sunday', 'day', 'Sunday'),
  ],
)
def test_a_mistake_is_found(game, right, wrong, kind, words):
  [mistake] = check_text(SUMMARY.replace(right, wrong), game)
  assert (mistake.kind, mistake.words) == (kind, words)
  assert words in mistake.sentence


@pytest.mark.parametrize(
  'games', [4, pytest.param(200, marks=pytest.mark.slow)]
)
def test_template_reports_have_none(games):
  for seed in range(games):
    game = season_game(seed)
    plan = known_entries(salient_plan(game), game)
    [texts] = TemplateRealizer().realize([game], [plan])
    assert check_text(' '.join(texts), game) == []
