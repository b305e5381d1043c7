"""Numbers as tables write them, read and written again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwise.tables._amounts import NotNumbers, Style, parse_amounts


@pytest.mark.parametrize(
  ('cells', 'numbers', 'written'),
  [
    (['12', '-3'], [12, -3], ['12', '-3']),
    (['1,234', '56,789'], [1234, 56789], ['1234', '56,789']),
    (['1.234,50', '7,25'], [1234.5, 7.25], ['1234,50', '7,25']),
    (['1 234 567', '8'], [1234567, 8], ['1 234 567', '8']),
    (["12'345.5", '1'], [12345.5, 1], ["12'345.5", '1.0']),
    (['$1,200', '(50)', '-$3'], [1200, -50, -3], ['$1200', '-$50', '-$3']),
    (['12 €', '7 €'], [12, 7], ['12 €', '7 €']),
    (['$900k', '$1.2M'], [9e5, 1.2e6], ['$900,000', '$1,200,000']),
    (['$1.2M', '$3.4M'], [1.2, 3.4], ['$1.2M', '$3.4M']),
    (['3.5%', '-0.25%', '0'], [3.5, -0.25, 0], ['3.50%', '-0.25%', '0.00%']),
    (['\u22124 °C', '12 °C'], [-4, 12], ['-4 °C', '12 °C']),
    (['1e-3', '2.5'], [0.001, 2.5], ['0.001', '2.500']),
    (['.5', '1.25'], [0.5, 1.25], ['0.50', '1.25']),
    (['2.5e-07', '3e-8'], [2.5e-7, 3e-8], ['0.00000025', '0.00000003']),
    (['0.30000000000000004', '1.9'], [0.3, 1.9], ['0.3', '1.9']),
  ],
)
def test_numbers_and_how_they_are_written(cells, numbers, written):
  amounts = parse_amounts(cells)
  assert amounts.numbers == pytest.approx(numbers)
  assert [amounts.style.write(n) for n in amounts.numbers] == written


@pytest.mark.parametrize(
  ('cells', 'row'),
  [
    (['1', 'x', '3'], 1),
    (['$3', '€4'], 1),
    (['3 kg', '4 lb'], 1),
    (['12%', '13'], 1),
    (['2024-03-01', '1'], 0),
    (['1,23,4', '5'], 0),
    (['(5', '6'], 0),
    (['12:30'], 0),
  ],
)
def test_columns_of_other_things(cells, row):
  found = parse_amounts(cells)
  assert isinstance(found, NotNumbers)
  assert (found.row, found.cell) == (row, cells[row])


def test_missing_cells_stay_missing():
  assert parse_amounts([None, '3', None]).numbers == [None, 3.0, None]
  assert isinstance(parse_amounts([None]), NotNumbers)


styles = st.builds(
  Style,
  prefix=st.sampled_from(['', '$', '€']),
  suffix=st.just(''),
  decimals=st.integers(1, 4),
  group=st.just(','),
)


@given(styles, st.lists(st.integers(-(10**9), 10**9), min_size=1))
def test_what_is_written_is_read_again(style, wholes):
  numbers = [whole / 10**style.decimals for whole in wholes]
  amounts = parse_amounts([style.write(number) for number in numbers])
  assert amounts.numbers == pytest.approx(numbers)
  again = [amounts.style.write(number) for number in amounts.numbers]
  assert again == [style.write(number) for number in numbers]
