"""Drafts of template files: a report with one is the report without."""

import pytest

from stepwise.tables import draft_templates, load_schema, make_sheets, tabulate
from stepwise.tables import report_table as report
from tests.tables.number_check import draw_table

RELATED = {
  'regions': [{'region': f'R{i}', 'sales': i * i} for i in range(2, 6)],
  'shops': [{'shop': f'S{i}', 'staff': 7 * i % 5} for i in range(6)],
}


@pytest.mark.parametrize('seed', range(12))
def test_drafts_say_what_was_guessed(seed, tmp_path):
  rows = draw_table(seed).rows
  path = tmp_path / 'draft.toml'
  path.write_text(draft_templates(make_sheets(rows)))
  given, guessed = report(rows, templates=path), report(rows)
  assert given.text == guessed.text


def test_drafts_of_related_tables(tmp_path):
  path = tmp_path / 'draft.toml'
  path.write_text(draft_templates(make_sheets(RELATED)))
  schema = load_schema(path)
  assert set(schema.kinds) == {'regions', 'shops'}
  given = tabulate(make_sheets(RELATED), schema)
  assert [entry.text for entry in given.entries] == [
    e.text for e in tabulate(make_sheets(RELATED)).entries
  ]
