"""Plans behind texts: what the realizer wrote is read back, and people's."""

import pytest

from stepwise._errors import InputError
from stepwise.tables import (
  aligned_plan,
  make_sheets,
  open_table,
  report_table,
  tabulate,
)
from tests.tables.number_check import draw_table
from tests.test_examples import TABLES


def entries(plan):
  return [relation for sentence in plan for relation in sentence]


def is_something(relation):
  """Changes of nothing are told in words, which have no number."""
  return any(character in '123456789' for character in relation.value)


def test_what_was_written_is_read():
  found = wrong = missed = 0
  for seed in range(30):
    try:
      report = report_table(draw_table(seed).rows)
    except InputError:
      continue
    said = {r for r in entries(report.plan) if is_something(r)}
    read = {*entries(aligned_plan(report.plan.table, report.text))}
    read = {r for r in read if is_something(r)}
    found += len(said & read)
    wrong += len(read - said)
    missed += len(said - read)
  assert found > 150
  assert wrong + missed < 0.01 * found


@pytest.mark.parametrize('name', ['sales', 'weather', 'league'])
def test_reports_of_the_examples_are_read_whole(name):
  folder = TABLES / name
  report = report_table(
    folder / f'{name}.csv', templates=folder / 'templates.toml'
  )
  plan = aligned_plan(report.plan.table, report.text)
  assert {*entries(plan)} == {*entries(report.plan)}


TEXTS = {
  'sales': (
    'Sales rose 7 percent to $3.48 million in the last quarter of the year. '
    'West led with $1.2 million, up 21%, while South slipped 6 percent to '
    '$661,700. Its orders were down to 5,122. It was a year to remember. '
    'The Islands sold least: $140,900 from 1,175 orders.',
    [
      [('all regions', 'sales change'), ('all regions', 'sales Q4')],
      [
        *[('West', 'sales Q4'), ('West', 'sales change')],
        *[('South', 'sales change'), ('South', 'sales Q4')],
      ],
      [('South', 'orders Q4')],
      [('Islands', 'sales Q4'), ('Islands', 'orders Q4')],
    ],
  ),
  'league': (
    'Harbour finished unbeaten on 46 points, twelve clear of Kings Lea, who '
    'had 34. With 30 goals scored and only seven conceded they were the best '
    'at both ends. At the bottom Old Quay managed two wins and six goals.',
    [
      [('Harbour', 'points'), ('Kings Lea', 'points')],
      [('Harbour', 'goals for'), ('Harbour', 'goals against')],
      [('Old Quay', 'won'), ('Old Quay', 'goals for')],
    ],
  ),
  'weather': (
    'Kilda was soaked: 88,0 mm of rain fell in the week, 34,0 mm of it on '
    'Thursday. Vane averaged 20,0 °C and enjoyed 64,4 hours of sunshine. It '
    'was warmest on Saturday, when Vane reached 24,1 °C.',
    [
      [('Kilda', 'rain (mm) total'), ('Kilda', 'rain (mm) Thursday')],
      [('Vane', 'max temperature (°C) mean'), ('Vane', 'sunshine (h) total')],
      [('Vane', 'max temperature (°C) Saturday')],
    ],
  ),
}


@pytest.mark.parametrize('name', sorted(TEXTS))
def test_texts_that_people_might_write(name):
  folder = TABLES / name
  table = open_table(folder / f'{name}.csv', folder / 'templates.toml')
  text, expected = TEXTS[name]
  plan = aligned_plan(table, text)
  assert [[(r.entity, r.type) for r in s] for s in plan] == expected


def test_what_the_table_does_not_say_has_no_entry():
  rows = [
    {'shop': 'Quay', 'owner': 'Ines Roy', 'staff': 4, 'visits': 910},
    {'shop': 'Mill', 'owner': 'Bo Ek', 'staff': 12, 'visits': 455},
  ]
  table = tabulate(make_sheets(rows))
  text = (
    'Quay had 911 visits. Mill opened at 4 in the morning. The two had staff. '
    "Quay's owner is Ines Roy, Mill has 455 visits."
  )
  plan = aligned_plan(table, text)
  assert [[(r.entity, r.type) for r in s] for s in plan] == [
    [('Quay', 'owner'), ('Mill', 'visits')]
  ]
