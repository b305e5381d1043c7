"""Tables of any entities as units, with a small table of cities."""

import pytest

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.tables import (
  Column,
  Entity,
  Kind,
  Relation,
  Schema,
  make_table,
  plan_from_units,
  plan_units,
  repeatable_units,
  table_record,
)

CITIES = [
  ('Brackwater', 'Norland', '52000', '1703'),
  ('New Hale', 'Norland', '?', '1810'),
  ('Sint Amber', 'Osterland', '52000', '1211'),
  ('Vell', 'Osterland', '9400', '1650'),
]
SCHEMA = Schema(
  kinds={
    'city': Kind(
      templates={
        'country': '{entity} lies in {value}',
        'population': '{entity} in {country} has {value} people',
        'founded': '{entity} was founded in {value}',
      },
      repeatable=frozenset({'country'}),
      unranked=frozenset({'founded'}),
    )
  },
  space='_',
  missing=frozenset({'', '?'}),
)


@pytest.fixture
def cities():
  columns = ('country', 'population', 'founded')
  return [
    Entity(name, 'city', dict(zip(columns, values, strict=True)))
    for name, *values in CITIES
  ]


def test_entries_are_sentences_with_ranks(cities):
  table = make_table(cities, SCHEMA, id='cities')
  assert [entry.text for entry in table.entries] == [
    'Brackwater lies in Norland',
    'Brackwater in Norland has 52000 people which is 1st best',
    'Brackwater was founded in 1703',
    'New_Hale lies in Norland',
    'New_Hale was founded in 1810',
    'Sint_Amber lies in Osterland',
    # Equal values share a rank, and the next one is as low as it is.
    'Sint_Amber in Osterland has 52000 people which is 1st best',
    'Sint_Amber was founded in 1211',
    'Vell lies in Osterland',
    'Vell in Osterland has 9400 people which is 3rd best',
    'Vell was founded in 1650',
  ]
  first, second, *_ = table.entries
  assert first.repeatable and not second.repeatable
  assert second.relation == Relation('Brackwater', '52000', 'population')


def test_the_document_has_the_sentences_as_units(cities):
  table = make_table(cities, SCHEMA, id='cities')
  assert table.document.units == tuple(e.text for e in table.entries)
  assert table.document.id == 'cities'


def test_the_index_finds_entries(cities):
  table = make_table(cities, SCHEMA)
  place = table.index['Vell', 'population']
  assert table.entries[place].relation.value == '9400'
  assert ('New Hale', 'population') not in table.index


def test_any_table_can_be_planned(cities):
  table = make_table(cities, SCHEMA)
  record = table_record(table, wordpiece())
  assert record.num_units == 3 + 11
  country, people = (entry.relation for entry in table.entries[:2])
  plan = ((country, people), (country,))
  units = plan_units(plan, table)
  assert units.tolist() == [3, 4, 0, 3, 0, 1]
  assert plan_from_units(units, table) == plan
  # Breaks, and the country of every city.
  repeatable = repeatable_units(table).nonzero()[0]
  assert repeatable.tolist() == [0, 3, 6, 8, 11]


def numbered(values, drop_zeros=True):
  """A table with one entry `e0`, `e1`, ... for every value."""
  schema = Schema({'row': Kind({'x': '{value}'}, drop_zeros=drop_zeros)})
  entities = [
    Entity(f'e{i}', 'row', {'x': value}) for i, value in enumerate(values)
  ]
  return entities, schema


def test_zeros_go_from_the_end_and_only_as_many_as_needed():
  entities, schema = numbered(['0', '4', '0', '0.0', '7'])
  # Seven units hold four entries, as three units are special.
  table = make_table(entities, schema, max_units=7)
  assert [e.relation.entity for e in table.entries] == ['e0', 'e1', 'e2', 'e4']
  assert (table.zeros_dropped, table.entries_cut) == (1, 0)


def test_what_does_not_fit_without_zeros_is_cut_at_the_end():
  entities, schema = numbered(['0', '4', '5', '7'])
  table = make_table(entities, schema, max_units=5)
  assert [e.relation.entity for e in table.entries] == ['e1', 'e2']
  assert (table.zeros_dropped, table.entries_cut) == (1, 1)


def test_zeros_stay_where_the_kind_keeps_them_or_there_is_room():
  entities, schema = numbered(['1', '0'], drop_zeros=False)
  assert make_table(entities, schema, max_units=4).zeros_dropped == 0
  entities, schema = numbered(['1', '0'])
  assert len(make_table(entities, schema, max_units=5).entries) == 2
  assert len(make_table(entities, schema, max_units=None).entries) == 2


def test_ranks_are_of_a_number_and_of_a_direction():
  columns = {'x': Column(better='low')}
  schema = Schema(
    {'row': Kind({'x': '{value}'}, columns=columns)},
    ranks=', {rank} of {count}',
  )
  entities = [
    Entity(f'e{i}', 'row', {'x': value})
    for i, value in enumerate(['7', '3', '7', '9'])
  ]
  texts = [entry.text for entry in make_table(entities, schema).entries]
  assert texts == ['7, 2nd of 4', '3, 1st of 4', '7, 2nd of 4', '9, 4th of 4']


def test_tables_that_cannot_be_made(cities):
  with pytest.raises(InputError, match="two entities are named 'Vell'"):
    make_table([*cities, cities[-1]], SCHEMA)
  with pytest.raises(InputError, match='max_units is 3; it must be more than'):
    make_table(cities, SCHEMA, max_units=3)
  with pytest.raises(InputError, match='no entry with a value'):
    make_table([Entity('A', 'city', {})], SCHEMA)
  schema = Schema({'city': Kind({'country': '{mayor}'})})
  with pytest.raises(
    InputError, match=r"'\{mayor\}' cannot be filled: 'mayor'"
  ):
    make_table(cities, schema)
