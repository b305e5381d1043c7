"""Oracle plans, and plans as units of a record."""

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.decoding import Constraints
from stepwise.decoding._constraints import allowed_units
from stepwise.rotowire import (
  Relation,
  game_table,
  oracle_plan,
  parse_game,
  plan_example,
  plan_from_units,
  plan_masks,
  plan_units,
  planned_relations,
  planned_sentences,
  stated_relations,
  table_record,
)
from tests.rotowire.games import game_fields

HERONS, COMETS, LUND = 'Easton Herons', 'Port Vale Comets', 'J.T. Lund'


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


def test_plans_and_units_are_two_forms_of_the_same(game):
  table, plan = game_table(game), oracle_plan(game)
  units = plan_units(plan, table)
  # An EOS after each of five sentences, and EOT.
  assert len(units) == sum(map(len, plan)) + 5 + 1
  assert (np.sum(units == 0), np.sum(units == 1)) == (5, 1)
  assert units[-2:].tolist() == [0, 1]
  assert plan_from_units(units, table) == plan


def test_units_after_the_end_are_not_read(game):
  table = game_table(game)
  first = table.entries[0].relation
  units = [2, 3, 0, 0, 3, 1, 4]
  assert plan_from_units(units, table) == ((first,), (first,))
  assert plan_from_units([3, -1, 4], table) == ((first,),)
  with pytest.raises(InputError, match='units has 999; the units of table'):
    plan_from_units([999], table)


def test_entries_without_room_are_left_out(game):
  table = game_table(game, max_units=3 + 17)  # The date and the home team.
  plan = plan_from_units(plan_units(oracle_plan(game), table), table)
  assert short(plan) == [
    [
      *('Herons CITY', 'Herons NAME', 'Herons WINS', 'Herons LOSSES'),
      *('Herons PTS', 'match DATE'),
    ]
  ]


def test_records_and_examples(game):
  table, plan = game_table(game), oracle_plan(game)
  tokenizer = wordpiece()
  record = table_record(table, tokenizer)
  assert record.special_units == ('eos', 'eot', 'beg')
  assert record.num_units == 3 + len(table.entries)
  assert record.tokens[:3].tolist() == [
    *(tokenizer.eos, tokenizer.eot, tokenizer.beg)
  ]
  example = plan_example(record, plan, table)
  assert example['plan'].shape == (0,)
  assert example['targets'].tolist() == plan_units(plan, table).tolist()
  small = table_record(table, tokenizer, max_units=20)
  targets = plan_example(small, plan, table)['targets']
  assert targets.max() < small.num_units
  assert targets[-1] == 1


def test_masks_are_the_paper_s_rule_of_repeats(game):
  table = game_table(game)
  masks = plan_masks(table)
  repeatable = np.flatnonzero(masks.repeatable).tolist()
  named = [
    3 + table.index[team, type]
    for team in (HERONS, COMETS)
    for type in ('TEAM-NAME', 'TEAM-CITY')
  ]
  assert repeatable == [0, *named]
  # After a date, a city and a break, only the date may not come again.
  date, city = 3, named[1]
  allowed = allowed_units(
    jnp.array([date, city, 0, -1]),
    jnp.ones(len(masks.repeatable), bool),
    Constraints(repeatable=jnp.array(masks.repeatable)),
    4,
  )
  assert np.flatnonzero(~np.asarray(allowed)).tolist() == [date]
  assert np.flatnonzero(masks.breaks).tolist() == [0, 2]
