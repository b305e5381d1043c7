"""The report ties all measures together, and its page is self-contained."""

import json
import re

import pytest

from stepwise._errors import InputError
from stepwise.evaluation import (
  NamedSummaries,
  compare_systems,
  render_html,
  rouge_scores,
)

REFERENCES = [
  ['Rain fell all night.', 'Rivers rose.'],
  ['The fair opened.'],
  ['Trains were late on Friday.'],
] * 5
DOCUMENTS = [[*reference, 'Nothing else happened.'] for reference in REFERENCES]
LEAD = NamedSummaries('lead', [units[:1] for units in DOCUMENTS])
LAST = NamedSummaries('last & <least>', [units[-1:] for units in DOCUMENTS])
EMPTY = NamedSummaries('empty', [[] for _ in DOCUMENTS])


@pytest.fixture(scope='module')
def report():
  systems = [LEAD, LAST, EMPTY]
  return compare_systems(systems, REFERENCES, documents=DOCUMENTS, seed=7)


def test_scores_are_mean_percentages(report):
  scores = 100 * rouge_scores(LEAD.summaries, REFERENCES).mean(0)
  rouge = report.systems[0].rouge
  assert rouge['rouge1']['precision'].mean == pytest.approx(scores[0, 0])
  assert rouge['rouge2']['recall'].mean == pytest.approx(scores[1, 1])
  assert rouge['rougeLsum']['f1'].mean == pytest.approx(scores[2, 2])
  assert rouge['mean']['f1'].mean == pytest.approx(scores[:, 2].mean())


def test_pairs_are_compared_with_their_sign(report):
  assert [(c.first, c.second) for c in report.comparisons] == [
    ('lead', 'last & <least>'),
    ('lead', 'empty'),
    ('last & <least>', 'empty'),
  ]
  lead_over_empty = report.comparisons[1]
  lead = report.systems[0].rouge['rouge1']['f1']
  assert lead_over_empty.difference['rouge1'].mean == pytest.approx(lead.mean)
  assert lead_over_empty.significant
  assert not report.comparisons[2].significant


def test_best_and_its_ties():
  twin = NamedSummaries('twin', LEAD.summaries)
  report = compare_systems([LEAD, twin, EMPTY], REFERENCES)
  assert report.best('rouge2') == 'lead'
  assert report.ties_with_best('twin', 'rouge2')
  assert not report.ties_with_best('empty', 'rouge2')
  assert not report.ties_with_best('lead', 'rouge2')


def test_lengths_redundancy_and_positions(report):
  lead, last, empty = report.systems
  assert lead.positions.mean == 0
  assert last.positions.mean == 1
  assert empty.positions is None
  assert empty.lengths.mean == 0
  assert report.human_lengths.mean == pytest.approx((6 + 3 + 5) / 3)
  assert report.human_repeated_trigrams == 0


def test_report_survives_json(report):
  loaded = json.loads(json.dumps(report.to_dict()))
  assert loaded['documents'] == 15
  assert loaded['systems'][0]['rouge']['rouge1']['f1']['low'] > 0


def test_page_holds_everything_and_loads_nothing(report):
  page = render_html(report)
  assert 'last &amp; &lt;least&gt;' in page
  assert '<least>' not in page
  # Lengths of people and systems, scores by length, and by position of those
  # whose sentences are found.
  assert page.count('<polyline') == 4 + 3 + 2
  assert not re.search(r'(src|href)=|@import|url\(', page)


def test_one_system_is_reported_without_tests():
  report = compare_systems([LEAD], REFERENCES)
  assert (report.anova_p, report.comparisons) == (None, [])
  assert report.systems[0].positions is None
  assert 'lead' in render_html(report)


def test_equal_names_are_refused():
  with pytest.raises(InputError, match='must all be different'):
    compare_systems([LEAD, LEAD], REFERENCES)


def test_the_usual_kinds_come_first():
  with pytest.raises(InputError, match=r'kinds are .* but must begin'):
    compare_systems([LEAD], REFERENCES, kinds=['rouge3'])
