"""Schemas of trained planners: kept by name, and others refused by name."""

import dataclasses

import pytest

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.tables import (
  SPECIAL_UNITS,
  PlanRecordReport,
  TableForm,
  TableItem,
  draft_templates,
  make_sheets,
  open_table,
  pair_records,
  plan_units,
  report_table,
)

ROWS = [
  {'shop': name, 'year': year, 'sales': f'${value}'}
  for name, values in (('Quay', (40, 50)), ('Mill', (70, 30)), ('Pier', (9, 9)))
  for year, value in zip((2023, 2024), values, strict=True)
]
OTHER = [{'shop': row['shop'], 'year': row['year'], 'rain': 3} for row in ROWS]


@pytest.fixture
def form():
  made = TableForm('shops', draft_templates(make_sheets(ROWS)))
  return made.with_columns(open_table(ROWS))


def test_a_form_is_what_its_file_says(form):
  assert TableForm.from_json(form.to_json(), 'here') == form
  assert form.columns == {'shop': ['sales']}
  assert form.open(ROWS).document == open_table(ROWS).document
  with pytest.raises(InputError, match='here is no schema of tables'):
    TableForm.from_json('{"name": 3, "size": 4}', 'here')


def test_other_schemas_are_refused_by_name(form, tmp_path):
  with pytest.raises(InputError, match=r"schema 'shops', which have.*'rain'"):
    form.open(OTHER)
  towns = [{'town': 'X', 'sales': 3}, {'town': 'Y', 'sales': 4}]
  with pytest.raises(
    InputError, match="reads tables of schema 'shops': entity"
  ):
    form.open(towns)
  own, weather = tmp_path / 'own.toml', tmp_path / 'weather.toml'
  own.write_text(form.templates)
  weather.write_text(form.templates.replace('"table"', '"weather"', 1))
  assert form.open(ROWS, own)
  # A name alone is no other schema; what it says is.
  assert form.open(ROWS, weather)
  weather.write_text(weather.read_text().replace('"sales"', '"rain"'))
  with pytest.raises(InputError, match="'shops'; the templates are of 'weath"):
    form.open(ROWS, weather)


def test_pairs_become_records_of_what_the_texts_say(form):
  reports = [report_table(ROWS, entries=n) for n in (2, 5)]
  sheets = tuple(make_sheets(ROWS))
  items = [TableItem(i, f't{i}', sheets, r.text) for i, r in enumerate(reports)]
  items.append(TableItem(2, 'silent', sheets))
  items.append(TableItem(3, 'bad', InputError('no table.')))
  items.append(TableItem(4, 'nothing', sheets, 'It was a quiet year.'))
  report = PlanRecordReport()
  made = list(pair_records(items, form, wordpiece(), report))
  for (record, oracle), written in zip(made, reports, strict=True):
    assert record.table == 'shops'
    units = plan_units(written.plan.plan, written.plan.table)
    chosen = {int(u) - len(SPECIAL_UNITS) for u in units if u > 2}
    assert {unit for unit in oracle if unit >= 0} == chosen
  assert report.bad == ['silent: it has no text.', 'bad: no table.']
  assert report.without_plan == ['nothing']
  assert report.form == form


def test_what_has_no_room_is_counted(form):
  report = PlanRecordReport()
  text = report_table(ROWS).text
  item = TableItem(1, 't', tuple(make_sheets(ROWS)), text)
  [(record, _)] = pair_records([item], form, wordpiece(), report, max_units=9)
  assert record.num_units == 9
  assert report.entries_lost > 0
  # Columns that later tables have are remembered, too.
  more = dataclasses.replace(form, columns={})
  again = PlanRecordReport()
  list(pair_records([item], more, wordpiece(), again))
  assert again.form == form
