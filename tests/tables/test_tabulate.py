"""Entries of sheets: cells, and what follows from them."""

import pytest

from stepwise._errors import InputError
from stepwise.tables import (
  Column,
  Kind,
  Schema,
  make_sheets,
  read_sheets,
  tabulate,
)

SALES = [
  {'region': 'North', 'Q1': '$100', 'Q2': '$200', 'Q3': '$300'},
  {'region': 'South', 'Q1': '$300', 'Q2': '$150', 'Q3': '$100'},
]


def by_type(table):
  return {
    (entry.relation.entity, entry.relation.type): entry.relation.value
    for entry in table.entries
  }


def test_cells_and_aggregates_of_a_panel():
  values = by_type(tabulate(make_sheets(SALES, 'sales')))
  assert {t: v for (e, t), v in values.items() if e == 'North'} == {
    'sales Q1': '$100',
    'sales Q2': '$200',
    'sales Q3': '$300',
    'sales total': '$600',
    'sales change': '+50%',
    'sales growth': '+200%',
    'sales share': '75%',
  }
  assert {t: v for (e, t), v in values.items() if e == 'all regions'} == {
    'sales total': '$1150',
    'sales Q3': '$400',
    'sales change': '+14%',
  }


def test_rates_have_means_and_differences():
  rows = [
    {'town': 'A', 'year': 2021, 'unemployment (%)': 4.5},
    {'town': 'A', 'year': 2022, 'unemployment (%)': 4.0},
    {'town': 'B', 'year': 2021, 'unemployment (%)': 7.0},
    {'town': 'B', 'year': 2022, 'unemployment (%)': 8.0},
  ]
  table = tabulate(make_sheets(rows))
  values = by_type(table)
  name = 'unemployment (%)'
  assert values['A', f'{name} mean'] == '4.2%'
  assert values['B', f'{name} change'] == '+1.0%'
  assert values['all towns', f'{name} mean'] == '5.9%'
  assert not any('total' in type for _, type in values)
  # Few are out of work in A: that is the best.
  entry = table.entries[table.index['A', f'{name} 2022']]
  assert (entry.rank, entry.count) == (1, 2)


def test_sentences_have_ranks_of_how_many():
  rows = [
    {'team': t, 'points': p} for t, p in zip('ABC', (3, 9, 9), strict=True)
  ]
  texts = [entry.text for entry in tabulate(make_sheets(rows)).entries]
  assert texts == [
    'points of A is 3 which is 3rd best of 3',
    'points of B is 9 which is 1st best of 3',
    'points of C is 9 which is 1st best of 3',
    'total of points of all teams is 21',
  ]


def test_templates_give_sentences_and_aggregates():
  kind = Kind(
    {'points': '{entity} of {town} has {value}'},
    repeatable=frozenset({'points'}),
    columns={'points': Column(aggregates=('mean',))},
  )
  rows = [
    {'team': 'A B', 'town': 'X', 'points': 3},
    {'team': 'C', 'town': 'Y', 'points': 6},
  ]
  table = tabulate(
    make_sheets(rows), Schema({'team': kind}, space='_', ranks='')
  )
  entry = table.entries[table.index['A B', 'points']]
  assert entry.text == 'A_B of X has 3'
  assert entry.repeatable
  assert by_type(table)['all teams', 'points mean'] == '4.5'
  assert ('all teams', 'points total') not in by_type(table)


def test_missing_cells_have_no_entries_and_spoil_totals():
  rows = [{'a': 'A', 'x': 3}, {'a': 'B', 'x': None}, {'a': 'C', 'x': '?'}]
  assert by_type(tabulate(make_sheets(rows))) == {('A', 'x'): '3'}
  rows = [{'a': 'A', 'x': 3}, {'a': 'B', 'x': 99}]
  schema = Schema({'a': Kind({'x': '{value}'})}, missing=frozenset({'99'}))
  assert by_type(tabulate(make_sheets(rows), schema)) == {('A', 'x'): '3'}


def test_a_column_of_totals_is_no_aggregate():
  rows = [{'a': 'A', 'x': 3, 'x total': 30}, {'a': 'B', 'x': 4, 'x total': 40}]
  values = by_type(tabulate(make_sheets(rows)))
  assert values['A', 'x total'] == '30'
  assert ('all as', 'x total') not in values


def test_kinds_are_tables_and_names_are_told_apart():
  data = {
    'regions': [
      {'region': 'North', 'sales': 3},
      {'region': 'South', 'sales': 4},
    ],
    'shops': [{'shop': 'North', 'sales': 1}, {'shop': 'Quay', 'sales': 2}],
  }
  table = tabulate(make_sheets(data))
  values = by_type(table)
  assert values['North', 'sales'] == '3'
  assert values['North (shop)', 'sales'] == '1'
  assert {entry.kind for entry in table.entries} == {'regions', 'shops'}
  schema = Schema({'regions': Kind({'sales': '{value}'})})
  with pytest.raises(InputError, match="the templates have no kind 'shops'"):
    tabulate(make_sheets(data), schema)


@pytest.mark.parametrize(
  ('rows', 'columns'),
  [
    (100, 10),
    (2, 2000),
    pytest.param(1000, 100, marks=pytest.mark.slow),
    pytest.param(10, 10_000, marks=pytest.mark.slow),
  ],
)
def test_large_tables(rows, columns, tmp_path):
  header = ','.join(['name', *(f'c{i}' for i in range(columns))])
  line = ','.join(f'{i % 97}.5' for i in range(columns))
  path = tmp_path / 'a.csv'
  path.write_text(header + ''.join(f'\nrow {i},{line}' for i in range(rows)))
  table = tabulate(read_sheets(path))
  assert len(table.entries) == rows * columns + columns


def test_owners_have_the_totals_of_what_they_own():
  tables = {
    'regions': [{'region': 'N', 'area': 4}, {'region': 'S', 'area': 3}],
    'shops': [
      {'shop': 'a', 'region': 'N', 'revenue': '€10', 'price': 3},
      {'shop': 'b', 'region': 'S', 'revenue': '€20', 'price': 3},
      {'shop': 'c', 'region': 'S', 'revenue': '€40', 'price': 2},
    ],
  }
  values = by_type(tabulate(make_sheets(tables)))
  assert values['N', 'shop revenue'] == '€10'
  assert values['S', 'shop revenue'] == '€60'
  # Prices are not added, and nothing is where a number is missing.
  assert ('S', 'shop price') not in values
  tables['shops'][0]['revenue'] = None
  values = by_type(tabulate(make_sheets(tables)))
  assert ('S', 'shop revenue') not in values
