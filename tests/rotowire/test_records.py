import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import (
  load_records,
  save_records,
  stepwise_examples,
  wordpiece,
)
from stepwise.extraction import oracle_plan
from stepwise.rotowire import (
  PlanRecordOptions,
  count_shared,
  plan_records,
  planned_relations,
  read_table,
  with_names,
)
from stepwise.tables import (
  PlanRecordReport,
  plan_from_units,
  plan_units,
)
from tests.rotowire.season import season_game

GAMES = [season_game(seed) for seed in range(3)]
PLANS = [oracle_plan(game) for game in GAMES]


def records(options=PlanRecordOptions(), **arguments):
  report = PlanRecordReport()
  found = list(
    plan_records(GAMES, PLANS, wordpiece(), options, report=report, **arguments)
  )
  return found, report


@pytest.mark.parametrize('table', ['paper', 'roles'])
def test_records_keep_breaks(table, tmp_path):
  found, report = records(PlanRecordOptions(table))
  save_records(tmp_path / 'records.jsonl', found)
  loaded = list(load_records(tmp_path / 'records.jsonl'))
  for (record, oracle), game, plan in zip(loaded, GAMES, PLANS, strict=True):
    assert record.special_units == ('eos', 'eot', 'beg')
    [example] = stepwise_examples(record, oracle)
    units = plan_units(plan, read_table(game, table))
    np.testing.assert_array_equal(example['targets'], units)
  assert report.records == len(GAMES)
  assert report.entries_lost == 0


def test_the_paper_table_keeps_names_and_repeats():
  found, report = records()
  for (_, oracle), game, plan in zip(found, GAMES, PLANS, strict=True):
    units = [unit + 3 for unit in oracle]
    assert plan_from_units(units, read_table(game, 'paper')) == plan
    entries = [unit for unit in oracle if unit >= 0]
    assert len(set(entries)) < len(entries)
  assert report.entries == sum(len(s) for plan in PLANS for s in plan)
  assert report.sentences == sum(map(len, PLANS))
  assert report.entries_unread == 0


def test_names_come_back_by_a_rule():
  found, report = records(PlanRecordOptions('roles'))
  assert report.entries_unread > 0
  for (_, oracle), game, plan in zip(found, GAMES, PLANS, strict=True):
    table = read_table(game, 'roles')
    nameless = plan_from_units([unit + 3 for unit in oracle], table)
    said = with_names(nameless, game)
    assert planned_relations(said) == planned_relations(plan)
    # Reports of the season introduce everybody as the rule does.
    assert said[0] == plan[0]
    assert {*said[1]} == {*plan[1]}


def test_a_break_is_the_only_special_unit_of_an_oracle():
  [(record, oracle), *_], _ = records()
  assert -3 in oracle
  for unit in (-4, -2, -1):
    with pytest.raises(InputError, match=f'oracle_units has {unit}; document'):
      stepwise_examples(record, [unit])


def test_games_that_are_evaluated_on_are_left_out():
  found, report = records(exclude=[season_game(1)])
  assert [record.id for record, _ in found] == ['season:0', 'season:2']
  assert report.excluded == ['season:1']


def test_plans_that_are_too_long_are_left_out():
  steps = [len(oracle) + 1 for _, oracle in records()[0]]
  found, report = records(PlanRecordOptions(max_steps=min(steps)))
  assert len(found) == steps.count(min(steps))
  assert len(report.too_long) == len(steps) - len(found)


def test_entries_without_room_are_counted():
  _, whole = records(PlanRecordOptions('roles'))
  _, cut = records(PlanRecordOptions('roles', max_units=40))
  assert cut.entries_lost > 0
  assert cut.entries + cut.entries_lost == whole.entries


def test_an_unknown_table_is_named():
  with pytest.raises(InputError, match="table is 'big'; known ones are"):
    read_table(GAMES[0], 'big')


def test_shared_games_are_counted_by_day_and_teams():
  first = [season_game(seed) for seed in (0, 1, 1, 2)]
  second = [season_game(seed) for seed in (2, 1, 5)]
  assert count_shared([first, second]) == {(0, 0): 1, (0, 1): 2, (1, 1): 0}
