"""Plans as units of a record, and as JSON."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.decoding import Constraints
from stepwise.decoding._constraints import allowed_units
from stepwise.extraction import oracle_plan
from stepwise.rotowire import game_table, parse_game
from stepwise.tables import (
  parse_plan,
  plan_from_units,
  plan_to_json,
  plan_units,
  repeatable_units,
  table_record,
)
from tests.rotowire.games import game_fields

HERONS, COMETS = 'Easton Herons', 'Port Vale Comets'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def test_plans_and_json_are_two_forms_of_the_same(game):
  plan = oracle_plan(game)
  row = json.loads(plan_to_json(plan, 'a'))
  assert row['id'] == 'a'
  assert parse_plan(row) == plan
  with pytest.raises(InputError, match="'plan' must be a list of sentences"):
    parse_plan({'plan': [['points']]})


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
  assert [[r.type for r in s] for s in plan] == [
    [
      *('TEAM-CITY', 'TEAM-NAME', 'TEAM-WINS', 'TEAM-LOSSES'),
      *('TEAM-PTS', 'MATCH-DATE'),
    ]
  ]


def test_once_leaves_out_what_was_said_before(game):
  table = game_table(game)
  name, points = (
    next(e.relation for e in table.entries if e.relation.type == type)
    for type in ('TEAM-NAME', 'TEAM-PTS')
  )
  plan = ((name, points, points), (points,), (name,))
  assert plan_from_units(plan_units(plan, table), table) == plan
  once = plan_units(plan, table, once=True)
  assert plan_from_units(once, table) == ((name, points),)
  assert once.tolist() == plan_units(((name, points),), table).tolist()


def test_records_have_the_special_units_first(game):
  table = game_table(game)
  tokenizer = wordpiece()
  record = table_record(table, tokenizer)
  assert record.special_units == ('eos', 'eot', 'beg')
  assert record.num_units == 3 + len(table.entries)
  assert record.tokens[:3].tolist() == [
    *(tokenizer.eos, tokenizer.eot, tokenizer.beg)
  ]
  small = table_record(table, tokenizer, max_units=20)
  assert small.num_units == 20


def test_masks_are_the_paper_s_rule_of_repeats(game):
  table = game_table(game)
  masks = repeatable_units(table)
  repeatable = np.flatnonzero(masks).tolist()
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
    jnp.ones(len(masks), bool),
    Constraints(repeatable=jnp.array(masks)),
    4,
  )
  assert np.flatnonzero(~np.asarray(allowed)).tolist() == [date]
