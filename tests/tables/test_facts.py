"""Who rows are about, when, and what is measured: facts in any form."""

import pytest

from stepwise._errors import InputError
from stepwise.tables import Column, Kind, read_sheets
from stepwise.tables._columns import read_column
from stepwise.tables._facts import read_facts

LONG = """\
region,quarter,measure,value
North,Q1,sales,12
North,Q2,sales,15
South,Q1,sales,9
South,Q2,sales,8
North,Q1,staff,3
North,Q2,staff,4
South,Q1,staff,2
South,Q2,staff,2
"""
PANEL = """\
region,quarter,sales,staff
South,Q2,8,2
North,Q1,12,3
North,Q2,15,4
South,Q1,9,2
"""
WIDE = """\
region,sales Q1,sales Q2,staff Q1,staff Q2
North,12,15,3,4
South,9,8,2,2
"""


def facts_of(content, tmp_path, given=Kind({}), name='sales.csv'):
  path = tmp_path / name
  path.write_text(content)
  [sheet] = read_sheets(path)
  return read_facts(sheet, given=given)


@pytest.mark.parametrize('content', [LONG, PANEL, WIDE])
def test_three_forms_of_the_same_facts(content, tmp_path):
  facts = facts_of(content, tmp_path)
  assert sorted(facts.entities) == ['North', 'South']
  assert (facts.noun, facts.plural) == ('region', 'regions')
  assert [p.text for p in facts.periods] == ['Q1', 'Q2']
  assert facts.numbers == {
    'sales': {
      ('North', 0): 12,
      ('North', 1): 15,
      ('South', 0): 9,
      ('South', 1): 8,
    },
    'staff': {
      ('North', 0): 3,
      ('North', 1): 4,
      ('South', 0): 2,
      ('South', 1): 2,
    },
  }


def test_columns_that_are_times_measure_what_the_file_is_named(tmp_path):
  facts = facts_of('region,2021,2022\nNorth,1,2\nSouth,3,4\n', tmp_path)
  assert [m.label for m in facts.measures] == ['sales']


def test_a_column_of_no_time_among_times_is_named(tmp_path):
  facts = facts_of('region,2021,2022,total\nNorth,1,2,3\nA,3,4,7\n', tmp_path)
  assert [m.label for m in facts.measures] == ['sales']
  assert "column 'total' is left out" in facts.notes[0]


def test_rows_that_are_times(tmp_path):
  facts = facts_of('month,visitors\nMay,3\nApril,5\nJune,4\n', tmp_path)
  assert facts.entities == ('',)
  assert [p.text for p in facts.periods] == ['April', 'May', 'June']
  assert facts.numbers['visitors'] == {('', 0): 5, ('', 1): 3, ('', 2): 4}


def test_two_columns_name_rows_together(tmp_path):
  facts = facts_of('first,last,x\nA,B,1\nA,C,2\nD,B,3\n', tmp_path)
  assert facts.entities == ('A, B', 'A, C', 'D, B')


def test_identifiers_and_years_are_no_amounts(tmp_path):
  content = (
    'id,zip,name,founded,points\n'
    '17,01234,A,1901,3\n18,55555,B,1850,4\n19,10001,C,1999,5\n'
  )
  facts = facts_of(content, tmp_path)
  assert [m.name for m in facts.measures] == ['points']
  assert facts.entities == ('A', 'B', 'C')


def test_a_first_column_of_long_numbers_names_rows(tmp_path):
  content = 'customer,orders\n10023,4\n10457,9\n20031,2\n'
  facts = facts_of(content, tmp_path)
  assert facts.entities == tuple(
    f'customer {number}' for number in (10023, 10457, 20031)
  )
  assert [measure.name for measure in facts.measures] == ['orders']


@pytest.mark.parametrize(
  ('name', 'cells', 'kind'),
  [
    ('points', ['3', '5', '4'], 'number'),
    ('code', ['3', '5', '4'], 'id'),
    ('order number', ['30', '50', '40'], 'id'),
    ('number of orders', ['30', '50', '40'], 'number'),
    ('x', ['007', '010', '011'], 'id'),
    ('x', ['101', '102', '103', '104'], 'id'),
    ('built', ['1901', '1850', '1999'], 'id'),
    ('year', ['1901', '1850', '1999'], 'period'),
    ('when', ['2024-01-03', '2024-01-04', '2024-02-01'], 'period'),
    ('x', ['a', 'b', '3'], 'text'),
    ('x', [None, None], 'empty'),
  ],
)
def test_kinds_of_columns(name, cells, kind):
  assert read_column(name, cells).kind == kind


def test_a_column_with_one_odd_cell_says_so():
  column = read_column('x', ['1', '2', '3', '4', 'five', '6'])
  assert column.kind == 'text'
  assert "row 5 has 'five'" in column.note


def test_templates_have_the_last_word(tmp_path):
  column = Column(label='turnover', unit='£', better='low', aggregates=())
  given = Kind({}, columns={'x': column}, noun='branch', entity='b', period='t')
  facts = facts_of('b,t,x\nA,one,3\nA,two,4\nB,one,5\n', tmp_path, given)
  [measure] = facts.measures
  assert measure.label == 'turnover'
  assert measure.style.write(3.0) == '£3'
  assert not measure.additive
  assert (facts.noun, facts.plural) == ('branch', 'branches')
  assert [p.text for p in facts.periods] == ['one', 'two']


@pytest.mark.parametrize(
  ('content', 'message'),
  [
    ('region,x\nA,1\nA,2\n', "rows 1 and 2 of 'sales' are both 'A'; name"),
    ('r,year,x\nA,2021,1\nA,2021,2\nA,2022,1\n', "both 'A' in 2021"),
    ('x\n1\n', "no column of 'sales' names its rows: it has 'x' .number"),
    ('x,y\n1,2\n3,4\n', 'a column of names or times is needed'),
    ('region,town\nA,B\nC,D\n', "no column of numbers in 'sales'"),
    ('r,x\nA,1\nB,2\nC,3\nD,4\nE,?!\n', "read as text: row 5 has '[?]!'"),
    (
      'region,measure,value\nA,x,1\nA,x,2\n',
      "row 2 of 'sales': 'x' of A again",
    ),
  ],
)
def test_sheets_without_facts(content, message, tmp_path):
  with pytest.raises(InputError, match=message):
    facts_of(content, tmp_path)


def test_columns_that_are_not_there(tmp_path):
  with pytest.raises(
    InputError, match=r"entity is 'c'; 'sales' has 'b' \(text"
  ):
    facts_of('b,x\nA,3\n', tmp_path, Kind({}, entity='c'))


def test_types_may_be_given(tmp_path):
  content = 'shop,wing,when,size\nA,3,4,1 000\nB,5,2,2 000\n'
  columns = {
    'wing': Column(type='text'),
    'when': Column(type='id'),
    'size': Column(type='number'),
  }
  facts = facts_of(content, tmp_path, Kind({}, columns=columns))
  assert [m.name for m in facts.measures] == ['size']
  assert facts.texts == {'wing': {'A': '3', 'B': '5'}}
  assert facts.numbers['size']['B', 0] == 2000
  for name, type, message in (
    ('shop', 'number', "given as a number, but row 1 has 'A'"),
    ('shop', 'period', 'given as a period, but its cells are no times'),
  ):
    given = Kind({}, columns={name: Column(type=type)})
    with pytest.raises(InputError, match=message):
      facts_of(content, tmp_path, given)
