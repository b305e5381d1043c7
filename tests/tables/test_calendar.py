"""Periods of tables, and weekdays in any locale."""

import datetime
import locale

import pytest

from stepwise.tables import weekday
from stepwise.tables._calendar import parse_periods


@pytest.mark.parametrize(
  ('cells', 'kind', 'texts'),
  [
    (['2021', '2023'], 'year', ['2021', '2023']),
    (['Q1', 'q4'], 'quarter', ['Q1', 'Q4']),
    (['2023-Q4', 'Q1 2024'], 'quarter', ['Q4 2023', 'Q1 2024']),
    (['Jan', 'September'], 'month', ['January', 'September']),
    (['2023-12', '2024-01'], 'month', ['December 2023', 'January 2024']),
    (['Mon', 'Thursday'], 'weekday', ['Monday', 'Thursday']),
    (['2024-03-04', '2024-03-10'], 'date', ['Monday', 'Sunday']),
    (['2024-03-04', '2024-05-01'], 'date', ['4 March', '1 May']),
    (
      ['31.12.2023', '1.1.2025'],
      'date',
      ['31 December 2023', '1 January 2025'],
    ),
    (['3/4/2024', '9/30/2024'], 'date', ['4 March', '30 September']),
    (['4 March', 'May 1, 2024'], None, None),
    (['Week 2', 'week 10'], 'counted', ['week 2', 'week 10']),
    (['North', 'South'], None, None),
    (['May', 'North'], None, None),
    (['2024-13-01', '2024-01-02'], None, None),
  ],
)
def test_periods(cells, kind, texts):
  periods = parse_periods(cells)
  if kind is None:
    assert periods is None
    return
  assert [(p.kind, p.text) for p in periods] == [(kind, t) for t in texts]
  assert sorted(periods) == periods


def test_weekdays_do_not_know_the_locale():
  before = locale.setlocale(locale.LC_TIME)
  names = locale.locale_alias.values()
  days = [datetime.date(2024, 3, 4 + day) for day in range(7)]
  english = [weekday(day) for day in days]
  assert english[0] == 'Monday' and english[-1] == 'Sunday'
  try:
    for name in ('de_DE.UTF-8', 'fr_FR.UTF-8', *list(names)[:3]):
      try:
        locale.setlocale(locale.LC_TIME, name)
      except locale.Error:
        continue
      assert [weekday(day) for day in days] == english
  finally:
    locale.setlocale(locale.LC_TIME, before)
