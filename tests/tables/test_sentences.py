"""What the generic realizer writes, case by case."""

import pytest

from stepwise._errors import InputError
from stepwise.tables import (
  Column,
  Kind,
  Relation,
  Schema,
  make_sheets,
  tabulate,
  write_sentences,
)

ROWS = [
  {'shop': 'Quay', 'staff': 4, 'rain (mm)': 3.5, 'visits': 1, 'share (%)': 10},
  {'shop': 'Mill', 'staff': 7, 'rain (mm)': 0.5, 'visits': 9, 'share (%)': 30},
  {'shop': 'Kings', 'staff': 9, 'rain (mm)': 8.0, 'visits': 9, 'share (%)': 60},
]
YEARS = [
  {'shop': shop, 'year': year, 'price ($)': price}
  for shop, prices in (('Quay', (10, 8, 8)), ('Mill', (10, 20, 30)))
  for year, price in zip((2020, 2021, 2022), prices, strict=True)
]


def written(rows, *sentences, schema=None):
  """Sentences of (entity, type), whose values are the table's."""
  table = tabulate(make_sheets(rows), schema)
  plan = tuple(
    tuple(table.entries[table.index[key]].relation for key in sentence)
    for sentence in sentences
  )
  return list(write_sentences(plan, table))


def test_ranks_counts_and_units():
  assert written(
    ROWS,
    [('Kings', 'rain (mm)')],
    [('Mill', 'rain (mm)'), ('Mill', 'visits')],
    [('Quay', 'visits')],
    [('Mill', 'share (%)')],
  ) == [
    'Kings has the most rain of the three shops, 8.0 mm.',
    'Mill has the least rain, 0.5 mm, with 9 visits.',
    'Quay has the fewest visits, 1.',
    'Mill has a share of 30%.',
  ]


def test_equals_share_their_rank():
  [text] = written(ROWS, [('Mill', 'visits')])
  assert text == 'Mill has 9 visits, the most together with Kings.'


def test_several_entities_are_compared():
  [text] = written(ROWS, [('Kings', 'staff'), ('Mill', 'staff')])
  assert text == (
    'Kings has the most staff of the three shops, 9, followed by Mill (7).'
  )


def test_changes_are_beside_a_value_or_alone():
  assert written(
    YEARS,
    [('Mill', 'price ($) 2022'), ('Mill', 'price ($) change')],
    [('Mill', 'price ($) growth')],
    [('Quay', 'price ($) change'), ('Quay', 'price ($) growth')],
  ) == [
    'Mill had a price of $30 in 2022, higher than Quay and 50% higher than in '
    '2021.',
    "Mill's price rose by 200% from 2020 to 2022.",
    "Quay's price did not change from 2021 to 2022 (and down 20% since 2020).",
  ]


def test_all_together_and_times_that_were_told():
  rows = [row | {'price ($)': row['price ($)'] + 0.5} for row in YEARS]
  assert written(
    rows,
    [('all shops', 'price ($) mean')],
    [('Mill', 'price ($) mean')],
  ) == [
    'The mean price of the two shops was $14.8 from 2020 to 2022.',
    'Mill had a mean price of $20.5, higher than Quay.',
  ]


def test_templates_say_it_in_their_words():
  column = Column(label='people', say='employs {value} people')
  schema = Schema({'shop': Kind({}, columns={'staff': column}, noun='branch')})
  [text] = written(ROWS, [('Kings', 'staff')], schema=schema)
  assert text == 'Kings employs 9 people, the most of the three branches.'


def test_texts_and_entries_of_other_tables():
  rows = [row | {'owner': 'Ines'} for row in ROWS]
  assert written(rows, [('Kings', 'owner')]) == ["Kings' owner is Ines."]
  table = tabulate(make_sheets(ROWS))
  plan = ((Relation('Kings', '10', 'staff'),),)
  with pytest.raises(InputError, match="no entry 'staff' of 'Kings' that is"):
    write_sentences(plan, table)


def test_movements_at_one_time_say_it_once():
  rows = [row | {'visits': 2 * row['price ($)'] + 3} for row in YEARS]
  entries = [('Mill', f'{name} change') for name in ('price ($)', 'visits')]
  [text] = written(rows, entries)
  assert text == (
    "Mill's price rose by 50% from 2021 to 2022; visits rose by 47%."
  )


def test_what_is_too_much_for_one_breath_is_several_sentences():
  rows = [row | {'visits': row['price ($)']} for row in YEARS]
  table = tabulate(make_sheets(rows))
  types = [type for name, type in table.index if name == 'Mill']
  [text] = written(rows, [('Mill', type) for type in types])
  assert text.count('Mill ') > 1
  assert all(len(part) < 250 for part in text.split('. '))


def test_entities_without_a_value_are_not_counted():
  rows = [*ROWS, {'shop': 'Wharf', 'staff': 2}]
  assert written(
    rows, [('all shops', 'share (%) mean')], [('Kings', 'rain (mm)')]
  ) == [
    'The mean share of the three shops with a value is 33.3%.',
    'Kings has the most rain of the three shops with a value, 8.0 mm.',
  ]


def test_several_entries_of_several_entities_and_of_all():
  [text] = written(
    YEARS,
    [
      ('all shops', 'price ($) mean'),
      ('Mill', 'price ($) 2022'),
      ('Mill', 'price ($) change'),
      ('Quay', 'price ($) 2020'),
    ],
  )
  assert text == (
    'The mean price of the two shops was $14.3 from 2020 to 2022. Mill had a '
    'price of $30 in 2022, higher than Quay and 50% higher than in 2021. Quay '
    'had a price of $10 in 2020, as much as Mill.'
  )


def test_times_alone_belong_to_nobody():
  rows = [
    {'month': month, 'income ($)': income, 'visits': visits}
    for month, income, visits in (('January', 30, 4), ('February', 50, 9))
  ]
  assert written(
    rows, [('', 'income ($) total')], [('', 'visits February')]
  ) == [
    'The total income was $80 from January to February.',
    'There were 9 visits in February.',
  ]
