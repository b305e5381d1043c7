"""What is written of Beam's cost is what was measured."""

import json
from pathlib import Path

import pytest

from benchmarks import _harness as harness
from benchmarks import beam

PAGE = Path(__file__).parents[2] / 'docs' / 'beam.md'


@pytest.fixture(scope='module')
def results():
  path = harness.RESULTS / beam.RESULT
  return json.loads(path.read_text(encoding='utf-8'))


def test_the_page_has_the_numbers_of_the_results(results):
  text = PAGE.read_text(encoding='utf-8')
  begin, end = '<!-- beam: begin -->\n', '\n<!-- beam: end -->'
  shown = text[text.index(begin) + len(begin) : text.index(end)]
  assert shown == beam.markdown(results)


def test_estimates_follow_from_what_was_measured(results):
  price = results['price']
  assert results['estimates'] == beam.estimates(results['rows'], price)
  [row] = [
    row
    for row in results['rows']
    if (row['verb'], row['way']) == ('infer', 'Beam, 2 processes')
  ]
  found = next(e for e in results['estimates'] if e['documents'] == 10_000_000)
  alone = row['cpu_ms_per_document'] / 1000 * 10_000_000 / 3600
  assert found['core_hours'] == pytest.approx(alone, rel=0.01)


def test_invented_articles_are_of_the_size_of_news():
  rows = [json.loads(line) for line in beam.invented(40)]
  words = [sum(len(s.split()) for s in row['article']) for row in rows]
  assert 500 < sum(words) / len(words) < 800
  assert all(set(row['highlights']) <= set(row['article']) for row in rows)
