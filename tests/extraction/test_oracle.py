"""Oracle plans: what summaries state."""

import pytest

from stepwise.extraction import (
  oracle_plan,
  planned_sentences,
  stated_relations,
  stated_strings,
)
from stepwise.rotowire import parse_game, planned_relations
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

LUND = 'J.T. Lund'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def short(plan):
  """Entities by their last word, types without prefix."""
  return [
    [f'{r.entity.split()[-1]} {r.type.partition("-")[2]}' for r in sentence]
    for sentence in plan
  ]


def test_the_plan_behind_the_summary(game):
  assert short(oracle_plan(game)) == [
    [
      *('Herons CITY', 'Herons NAME', 'Herons WINS', 'Herons LOSSES'),
      *('Comets CITY', 'Comets NAME', 'Comets WINS', 'Comets LOSSES'),
      *('Herons PTS', 'Comets PTS', 'match DATE'),
    ],
    [
      *('Lund FIRST_NAME', 'Lund SECOND_NAME', 'Lund PTS', 'Lund AST'),
      # The name that `he` stands for.
      *('Lund REB', 'Lund SECOND_NAME', 'Lund FGM', 'Lund FGA'),
    ],
    # The sentence about the evening has no entries and is not here.
    [
      *('Jr. FIRST_NAME', 'Jr. SECOND_NAME'),
      *('Abara FIRST_NAME', 'Abara SECOND_NAME', 'Jr. PTS', 'Abara PTS'),
    ],
    ['Comets NAME', 'Comets FG_PCT', 'Comets NAME'],
    ['Quist SECOND_NAME', 'Quist PTS'],
  ]


def test_every_sentence_has_its_part_of_the_plan(game):
  planned = planned_sentences(game)
  assert len(planned) == 6
  assert [len(relations) for _, relations in planned] == [11, 8, 0, 6, 3, 2]
  assert planned[2][0].tokens[:2] == ('Fans', 'will')


def test_repeats_are_kept_and_wrong_claims_are_not(game):
  text = 'Lund had 31 points , yes , 31 points . Lund had 40 points .'
  assert short(oracle_plan(game, text=text)) == [
    ['Lund SECOND_NAME', 'Lund PTS', 'Lund PTS'],
    ['Lund SECOND_NAME'],
  ]
  assert stated_relations(text, game) == [
    *[Relation(LUND, '31', 'PLAYER-PTS')] * 2,
    Relation(LUND, '40', 'PLAYER-PTS'),
  ]


def test_an_extractor_can_be_given(game):
  plan = oracle_plan(game, lambda sentences, game: [])
  assert planned_relations(plan) == []
  assert len(plan) == 5


def test_planning_only_relations(game):
  relations = planned_relations(oracle_plan(game))
  assert relations == stated_relations(game.summary, game)
  assert len(relations) == 15


def test_scores_know_only_who_the_sentence_names():
  game = parse_game(game_fields())
  text = 'Lund left , but he had 31 points . He had 12 assists .'
  assert stated_strings(text, game) == [
    (
      Relation('J.T. Lund', '31', 'PLAYER-PTS'),
      Relation('J.T. Lund', '31', 'PLAYER-PTS'),
    )
  ]
  [(_, words)] = stated_strings('Vey had eleven points .', game)
  assert words == ('Vey', 'eleven', 'PLAYER-PTS')
