"""Reports of drawn tables say nothing that the tables do not."""

import html
import json
import re

import numpy as np
import pytest

import stepwise
from stepwise._errors import InputError
from stepwise.tables import (
  TablePlan,
  make_sheets,
  open_table,
  plan_table,
  realize_table,
  report_page,
  report_table,
  tabulate,
)
from tests.tables.number_check import (
  draw_table,
  false_superlatives,
  unsupported,
)

SALES = {
  'region': ['North', 'South', 'East', 'West'],
  'Q1': ['$80', '$60', '$50', '$90'],
  'Q2': ['$84', '$66', '$55', '$99'],
  'Q3': ['$90', '$60', '$56', '$120'],
}


def unsaid(sentence):
  """Planned entries that a sentence does not say."""
  return [
    relation
    for relation in sentence.entries
    if relation.value.lstrip('+-').rstrip('%') not in sentence.text
    # A change of nothing is told in words.
    and any(character in '123456789' for character in relation.value)
  ]


@pytest.mark.parametrize('block', range(10))
def test_every_number_is_in_the_table_or_follows_from_it(block):
  checked = 0
  for seed in range(20 * block, 20 * (block + 1)):
    table = draw_table(seed, gaps=seed % 2 == 1)
    # A table whose numbers are all the same has nothing to say.
    try:
      report = report_table(table.rows)
    except InputError as error:
      assert 'nothing in' in str(error)
      continue
    for sentence in report:
      assert not unsupported(sentence.text, table), (seed, sentence.text)
      assert not false_superlatives(sentence.text, table), (seed, sentence)
      assert not unsaid(sentence), (seed, sentence)
      checked += 1
  assert checked > 20


def test_any_plan_is_written_and_no_more():
  """Not only what the planner would choose, and as it would arrange it."""
  for seed in range(60):
    drawn = draw_table(seed)
    table = open_table(drawn.rows)
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(table.entries))[: rng.integers(1, 9)]
    relations = [table.entries[place].relation for place in places]
    plan = TablePlan((tuple(relations[:4]), tuple(relations[4:])), (), table)
    for sentence in realize_table(plan):
      assert not unsupported(sentence.text, drawn), (seed, sentence.text)
      assert not unsaid(sentence), (seed, sentence)


def test_the_check_finds_what_is_wrong():
  table = draw_table(3)
  name = next(iter(next(iter(table.cells.values()))))
  [label, *_] = table.cells
  own = table.cells[label][name][-1]
  assert unsupported(f'{name} had {own * 1.07 + 0.123:.3f}.', table)
  assert not unsupported(f'{name} had {own:.2f}.', table)
  lowest = min(table.cells[label], key=lambda n: sum(table.cells[label][n]))
  low = f'{table.cells[label][lowest][-1]:.2f}'
  assert len(table.cells[label]) > 1
  assert false_superlatives(f'{lowest} had the highest {label}, {low}.', table)


def test_a_report_reads_like_text():
  report = stepwise.report(SALES)
  assert report.text.split('. ') == [
    'In Q3, the four regions had a value of $326 together, 7.2% more than in '
    'Q2',
    'West had the highest value, $120, 37% of the total and 21% more than in '
    'Q2',
    'North had a value of $90, 12% more than in Q1',
    "South's value fell by 9.1% from Q2 to Q3, the only fall",
    'East had the lowest value, $56, 17% of the total.',
  ]


def test_two_movements_alike_are_told_as_such():
  rows = {
    'region': ['North', 'South', 'East'] * 2,
    'quarter': ['Q1'] * 3 + ['Q2'] * 3,
    'sales': [10, 20, 30, 15, 16, 33],
    'orders': [10, 20, 30, 15, 16, 33],
  }
  table = open_table(rows)
  changes = tuple(
    entry.relation
    for entry in table.entries
    if entry.relation.entity == 'South' and 'change' in entry.relation.type
  )
  [sentence] = realize_table(TablePlan((changes,), (), table))
  assert sentence.text == (
    "South's sales fell by 20% from Q1 to Q2, the only fall; orders fell by "
    '20%, also the only fall.'
  )


def test_results_are_of_one_family():
  plan, report = stepwise.plan(SALES), stepwise.report(SALES)
  assert str(report) == report.text
  assert len(report) == len(plan) == len(list(plan)) == len(list(report))
  assert [sentence.entries for sentence in report] == list(plan)
  content = json.loads(json.dumps(report.to_dict()))
  assert content['text'] == report.text
  assert content['plan'] == [[list(r) for r in s] for s in plan]
  assert json.loads(json.dumps(plan.to_dict()))['plan'] == content['plan']
  assert report.text in report.to_markdown()
  assert report.to_markdown().startswith('# ')
  for relation in (r for sentence in plan for r in sentence):
    assert f'**{relation.value}**' in plan.to_markdown()
  assert '<p>' in report._repr_html_()
  assert '<ol>' in plan._repr_html_()


def test_reports_escape_what_tables_say():
  rows = [{'name': f'<b>{n}', 'x': n * n} for n in range(3)]
  for text in (
    report_table(rows)._repr_html_(),
    plan_table(rows)._repr_html_(),
    report_page(report_table(rows)),
  ):
    assert '<b>' not in text
    assert '&lt;b&gt;2' in text


def test_a_page_links_cells_and_sentences():
  report = report_table(SALES)
  page = report_page(report)
  used = {r for sentence in report for r in sentence.entries}
  assert page.count('class="used"') == len(used)
  for number, sentence in enumerate(report, 1):
    assert f'id="sentence-{number}"' in page
    assert f'href="#sentence-{number}"' in page
    found = re.search(rf'id="sentence-{number}"[^>]*>(.*?)</span>', page)
    text = re.sub(r'<[^>]*>', '', found[1])
    assert html.unescape(text) == sentence.text
  targets = set(re.findall(r'href="#([^"]+)"', page))
  assert targets <= set(re.findall(r'id="([^"]+)"', page))


def test_budgets_and_wishes():
  table = tabulate(make_sheets(SALES))
  for entries in (1, 3, 7):
    plan = plan_table(table, entries=entries)
    assert sum(map(len, plan)) == entries
  for words in (12, 30):
    assert 0 < report_table(table, words=words).words <= words
  whole = report_table(table)
  wished = report_table(table, words=whole.words // 2, must_include=['North'])
  assert 'North' in wished.text
  [only] = plan_table(table, entries=1, must_include=['east:value Q2'])
  assert [(r.entity, r.type) for r in only] == [('East', 'value Q2')]
  about = plan_table(table, about='South')
  assert {r.entity for s in about for r in s} == {'South'}


def test_choices_have_reasons_and_are_the_plan():
  plan = plan_table(SALES)
  assert all(choice.reasons for choice in plan.choices)
  chosen = {choice.entry.relation for choice in plan.choices}
  assert chosen == {relation for sentence in plan for relation in sentence}
  scores = [choice.score for choice in plan.choices]
  assert scores[0] == max(scores)


@pytest.mark.parametrize(
  ('options', 'message'),
  [
    ({'entries': 0}, 'entries is 0; a whole number from 1'),
    ({'words': 1}, 'words is 1; the shortest report of this has'),
    ({'about': 'Mars'}, "no entity or column 'Mars'; it has North, South"),
    ({'must_include': ['North:x']}, "no entity or column 'North:x'"),
  ],
)
def test_wishes_that_cannot_be(options, message):
  with pytest.raises(InputError, match=message):
    report_table(SALES, **options)


def test_equal_numbers_say_nothing():
  rows = [{'a': 'A', 'x': 3}, {'a': 'B', 'x': 3}, {'a': 'C', 'x': 3}]
  with pytest.raises(InputError, match='stands out: its numbers are all the'):
    plan_table(rows)
