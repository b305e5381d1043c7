"""Every example runs as it stands."""

import html
import re
import runpy
import textwrap
from pathlib import Path

import pytest

import stepwise
from stepwise.tables import draft_templates, read_sheets, report_page

EXAMPLES = sorted((Path(__file__).parent.parent / 'examples').glob('*.py'))


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_something(path, capsys):
  runpy.run_path(str(path), run_name='__main__')
  assert capsys.readouterr().out.strip()


TABLES = Path(__file__).parent.parent / 'examples' / 'tables'


@pytest.mark.parametrize('name', ['sales', 'weather', 'league'])
def test_tables_give_the_plans_and_reports_beside_them(name):
  folder = TABLES / name
  table, templates = folder / f'{name}.csv', folder / 'templates.toml'
  report = stepwise.report(table, templates=templates)
  for made, file in ((report, 'report.md'), (report.plan, 'plan.md')):
    stored = (folder / file).read_text(encoding='utf-8')
    assert stored.rstrip() == made.to_markdown().rstrip()
  numbers = [r.value.split()[0].lstrip('+-') for s in report for r in s.entries]
  for page in (report_page(report), (folder / 'page.html').read_text('utf-8')):
    shown = html.unescape(page)
    assert all(f'>{number}' in shown for number in numbers)
  assert (folder / 'page.png').read_bytes().startswith(b'\x89PNG')


def test_a_draft_of_an_example_says_what_was_guessed(tmp_path):
  table = TABLES / 'sales' / 'sales.csv'
  path = tmp_path / 'draft.toml'
  path.write_text(draft_templates(read_sheets(table)), encoding='utf-8')
  given = stepwise.report(table, templates=path)
  assert given.text == stepwise.report(table).text


def test_the_documented_templates_can_be_used(tmp_path):
  text = (TABLES / 'README.md').read_text(encoding='utf-8')
  [block] = re.findall(
    r'(?:^(?: {4}.*)?\n)+', text[text.index('## Templ') :], re.M
  )[1:2]
  path = tmp_path / 'templates.toml'
  path.write_text(textwrap.dedent(block))
  report = stepwise.report(TABLES / 'sales' / 'sales.csv', templates=path)
  assert 'West sold $1,224,600' in report.text
  [entry] = [
    e
    for e in report.plan.table.entries
    if (e.relation.entity, e.relation.type) == ('West', 'sales Q4')
  ]
  assert entry.text == 'sales of West in the last quarter were $1,224,600'
