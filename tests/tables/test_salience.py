"""The planner without weights: what it prefers, and why it says so."""

import pytest

from stepwise._errors import InputError
from stepwise.tables import (
  Choice,
  Column,
  Kind,
  Schema,
  Wishes,
  make_sheets,
  most_salient,
  plan_units,
  repeatable_units,
  report_table,
  salient_choices,
  tabulate,
)
from stepwise.tables._salience import arrange, main_types

TEAMS = [
  {'team': f'T{i}', 'games': 20, 'wins': w, 'points': 3 * w + 1}
  for i, w in enumerate([4, 9, 10, 11, 12, 18])
]


def table_of(rows, **options):
  return tabulate(make_sheets(rows), **options)


def relations(choices):
  return [(c.entry.relation.entity, c.entry.relation.type) for c in choices]


def test_extremes_of_what_matters_come_first_and_equals_never():
  choices = salient_choices(table_of(TEAMS))
  found = relations(choices)
  assert found[0] == ('T5', 'points')
  assert ('T0', 'points') in found[:4]
  assert 'highest of 6' in choices[0].reasons
  assert 'lowest of 6' in choices[found.index(('T0', 'points'))].reasons
  assert all(type != 'games' for _, type in relations(choices))


def test_an_outlier_is_told_by_its_deviation():
  rows = [{'a': f'A{i}', 'x': x} for i, x in enumerate([5, 6, 5, 7, 6, 90])]
  first = salient_choices(table_of(rows))[0]
  assert first.entry.relation.entity == 'A5'
  assert any('usual deviations above the median' in r for r in first.reasons)


def test_a_fall_among_rises_is_chosen():
  rows = [
    {'a': f'A{i}', 'year': year, 'sales': sales}
    for i, pair in enumerate([(50, 55), (60, 66), (70, 65), (80, 88), (90, 99)])
    for year, sales in zip((2021, 2022), pair, strict=True)
  ]
  choices = salient_choices(table_of(rows), Wishes(entries=6))
  falls = [c for c in choices if c.entry.relation.type == 'sales change']
  assert ('A2', 'sales change') in relations(falls)
  reasons = next(c.reasons for c in falls if c.entry.relation.entity == 'A2')
  assert 'a fall among others' in reasons


def test_measures_that_matter_are_given_named_or_central():
  assert main_types(table_of(TEAMS))['team'] == {'points'}
  schema = Schema({'team': Kind({}, columns={'wins': Column(main=True)})})
  assert main_types(table_of(TEAMS, schema=schema))['team'] == {'wins'}
  # x and y go together, z goes with neither.
  rows = [
    {'a': f'A{i}', 'z': z, 'y': i * i, 'x': 2 * i}
    for i, z in enumerate([5, 1, 4, 2, 5, 1])
  ]
  assert main_types(table_of(rows))['a'] in ({'x'}, {'y'})


def test_the_table_s_name_and_the_better_tell_what_matters():
  rows = [
    {'a': f'A{i}', 'late': 2 * i + i % 2, 'loans': i * i, 'visits': 3 * i}
    for i in range(6)
  ]
  assert main_types(table_of(rows, id='visits'))['a'] == {'visits'}
  worse = [{**row, 'delays': row.pop('late')} for row in map(dict, rows)]
  assert main_types(table_of(worse))['a'] != {'delays'}


def test_measures_of_a_group_stand_together():
  measures = ('won', 'goals', 'lost')
  rows = [
    {'team': f'T{i}', **{m: 9 * i + j for j, m in enumerate(measures)}}
    for i in range(4)
  ]
  columns = {m: Column(group='g' if m != 'goals' else '') for m in measures}
  schema = Schema({'team': Kind({}, columns=columns)})
  table = table_of(rows, schema=schema)
  chosen = [
    Choice(table.entries[table.index['T3', m]], 1.0, ()) for m in measures
  ]
  [sentence] = arrange(chosen, table)
  assert [r.type for r in sentence] == ['won', 'lost', 'goals']


def test_coverage_spreads_over_entities():
  few = salient_choices(table_of(TEAMS), Wishes(entries=5))
  assert len({entity for entity, _ in relations(few)}) > 2
  assert len(set(relations(few))) == len(few)


@pytest.mark.parametrize('size', [1, 4, 9])
def test_plans_are_units_of_the_table_under_its_masks(size):
  table = table_of(TEAMS)
  choices = salient_choices(table, Wishes(entries=size))
  plan = arrange(choices, table)
  units = plan_units(plan, table)
  entries = [unit for unit in units if unit > 2]
  assert len(entries) == len(choices) <= size
  repeatable = repeatable_units(table)
  assert all(repeatable[u] or entries.count(u) == 1 for u in entries)


def test_what_belongs_together_stands_together():
  table = table_of(TEAMS)
  plan = arrange(salient_choices(table), table)
  for entity in {r.entity for sentence in plan for r in sentence}:
    places = [
      number
      for number, sentence in enumerate(plan)
      if any(r.entity == entity for r in sentence)
    ]
    assert len(places) == 1


def test_where_low_is_better_the_lowest_leads():
  rows = [
    {'runner': f'R{i}', 'time (s)': time}
    for i, time in enumerate([12.3, 11.9, 12.0, 13.4, 12.9])
  ]
  table = table_of(rows)
  best, *_ = salient_choices(table, Wishes(entries=3))
  assert best.entry.relation.entity == 'R1'
  report = report_table(rows, entries=4).text
  assert 'R1 has the shortest time, 11.9 s; R2 has 12.0 s' in report
  assert 'R3 the longest, 13.4 s' in report


def test_tables_that_are_too_long_keep_what_is_most_worth_saying():
  table = table_of(TEAMS)
  short = most_salient(table, 3 + 6)
  assert len(short.entries) == 6
  assert short.entries_cut == len(table.entries) - 6
  places = [
    table.index[e.relation.entity, e.relation.type] for e in short.entries
  ]
  assert places == sorted(places)
  [best, *_] = salient_choices(table)
  assert best.entry in short.entries
  assert most_salient(table, None) is table
  assert most_salient(table, 3 + len(table.entries)) is table
  with pytest.raises(InputError, match='it must be more than 3'):
    most_salient(table, 3)
