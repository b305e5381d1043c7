"""Oracles choose what a plain search through a metric would choose."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from stepwise._errors import InputError
from stepwise._rouge import find_metric
from stepwise.data.oracle import (
  combination_oracle,
  find_oracle,
  fitting_units,
  greedy_oracle,
)
from stepwise.evaluation import rouge

KINDS = ['rouge1', 'rouge2', 'rougeLsum']
METRICS = ['rouge-1.5.5', 'rouge-score']


class Words:
  """What `rouge-score` asks of a tokeniser."""

  def __init__(self, metric):
    self.tokenize = find_metric(metric).tokenize


# The package's own search, given the words of either metric.
scorers = {
  'rouge-1.5.5': rouge_scorer.RougeScorer(
    KINDS, tokenizer=Words('rouge-1.5.5')
  ),
  'rouge-score': rouge_scorer.RougeScorer(KINDS, use_stemmer=True),
}

sentence = st.lists(
  st.sampled_from(['a', 'bb', 'went', 'goes', 'go', 'c d', 'e\nf', 'é', '']),
  max_size=6,
).map(' '.join)
units = st.lists(sentence, max_size=6)
summary = st.lists(sentence, max_size=3)

DOCUMENT = [
  'The harbour reopened on Monday after a week of storms.',
  'Nobody had expected that.',
  'Fishing boats left before dawn.',
  'The mayor thanked the crews who had cleared the harbour entrance.',
]
SUMMARY = ['Harbour reopens after storms.', 'Mayor thanks crews.']


def plain_mean(units, summary, chosen, metric='rouge-1.5.5'):
  """Mean F1 of the whole text, the chosen units in document order."""
  text = '\n'.join(units[i] for i in sorted(chosen))
  scores = scorers[metric].score('\n'.join(summary), text)
  first, second, longest = (scores[kind].fmeasure for kind in KINDS)
  return (first + second + longest) / 3


def plain_greedy(units, summary, metric):
  chosen, best = [], 0.0
  while left := [i for i in range(len(units)) if i not in chosen]:
    scores = [plain_mean(units, summary, [*chosen, i], metric) for i in left]
    if max(scores) <= best:
      break
    best = max(scores)
    chosen.append(left[scores.index(best)])
  return chosen


def plain_combination(units, summary, metric):
  alone = [plain_mean(units, summary, [i], metric) for i in range(len(units))]
  ranked = sorted(range(len(units)), key=lambda i: -alone[i])[:10]
  chosen, best = [], 0.0
  for size in range(1, 5):
    for candidate in combinations(ranked, size):
      score = plain_mean(units, summary, candidate, metric)
      if score > best:
        chosen, best = list(candidate), score
  return chosen


@pytest.mark.parametrize('metric', METRICS)
@given(units, summary)
def test_greedy_equals_the_plain_search(metric, units, summary):
  oracle = find_oracle(units, summary, order='selection', metric=metric)
  assert oracle.indices == plain_greedy(units, summary, metric)


@pytest.mark.parametrize('metric', METRICS)
@given(units, summary)
def test_combination_equals_the_plain_search(metric, units, summary):
  oracle = find_oracle(
    units, summary, method='combination', order='selection', metric=metric
  )
  assert oracle.indices == plain_combination(units, summary, metric)


def test_the_metric_decides():
  units, summary = ['A child plays.', 'Children gather.'], ['The children.']
  assert greedy_oracle(units, summary) == [1]
  # The script's irregular forms make the first unit as good as the second.
  assert greedy_oracle(units[:1], summary) == [0]
  chosen = find_oracle(units[:1], summary, metric='rouge-score').indices
  assert chosen == []


def test_combination_looks_at_the_ten_best_only():
  # The last unit would complete the summary but is eleventh on its own.
  units, summary = ['a b c'] * 10 + ['d e'], ['a b c d e']
  assert combination_oracle(units, summary) == [0]
  assert combination_oracle(units[1:], summary) == [0, 9]


@pytest.mark.parametrize('method', ['greedy', 'combination'])
def test_scores_are_those_of_the_chosen_units(method):
  oracle = find_oracle(DOCUMENT, SUMMARY, method=method)
  text = '\n'.join(DOCUMENT[i] for i in oracle.indices)
  expected = scorers['rouge-1.5.5'].score('\n'.join(SUMMARY), text)
  assert oracle.indices == [0, 3]
  assert oracle.rouge == {kind: expected[kind].fmeasure for kind in KINDS}


def test_document_order_sorts_the_order_of_choice():
  units = ['one two', 'zero', 'three four five six']
  summary = ['one two three four five six']
  assert greedy_oracle(units, summary, order='selection') == [2, 0]
  assert greedy_oracle(units, summary) == [0, 2]


def test_of_equal_units_the_first_is_chosen():
  assert greedy_oracle(['x', 'same words', 'same words'], ['same words']) == [1]


@pytest.mark.parametrize('choose', [greedy_oracle, combination_oracle])
@pytest.mark.parametrize(
  ('units', 'summary'),
  [
    ([], SUMMARY),
    (DOCUMENT, []),
    (DOCUMENT, ['']),
    (['', '!'], SUMMARY),
    (DOCUMENT, ['Quite unrelated']),
    ([], []),
  ],
)
def test_nothing_in_common_is_an_empty_oracle(choose, units, summary):
  assert choose(units, summary) == []


def test_an_empty_oracle_scores_zero():
  assert find_oracle([], SUMMARY).rouge == dict.fromkeys(KINDS, 0.0)


def test_one_sentence_equal_to_its_summary_scores_one():
  oracle = find_oracle(DOCUMENT[:1], DOCUMENT[:1])
  assert oracle.indices == [0]
  assert oracle.rouge == dict.fromkeys(KINDS, 1.0)


def test_other_scripts_need_a_unicode_metric():
  units, summary = ['Мир и труд', 'Весна пришла'], ['Весна']
  assert find_oracle(units, summary).indices == []
  assert find_oracle(units, summary, metric='rouge-1.5.5-unicode').indices == [
    1
  ]


@pytest.mark.parametrize(
  ('most', 'fitting'), [(0, 0), (2, 1), (3, 1), (5, 2), (6, 3), (100, 3)]
)
def test_only_whole_units_fit(most, fitting):
  units = ['a b', 'c d e', 'f']
  assert fitting_units(units, most, lambda unit: len(unit.split())) == fitting


@pytest.mark.parametrize('option', ['method', 'order', 'metric'])
def test_unknown_names_are_refused(option):
  with pytest.raises(InputError, match=f"{option} is 'best' but must be one"):
    find_oracle(DOCUMENT, SUMMARY, **{option: 'best'})


@given(units, summary)
def test_gains_equal_a_plain_search(units, summary):
  oracle = find_oracle(units, summary, order='selection', gains=True)
  assert oracle.gains is not None
  assert oracle.gains.shape == (len(oracle.indices) + 1, len(units))
  for step, gains in enumerate(oracle.gains):
    before = oracle.indices[:step]
    base = plain_mean(units, summary, before) if before else 0.0
    for unit, gain in enumerate(gains):
      if unit in before:
        assert gain == 0
      else:
        after = plain_mean(units, summary, [*before, unit])
        assert gain == pytest.approx(after - base, abs=1e-6)


def test_the_oracle_follows_its_gains():
  oracle = find_oracle(DOCUMENT, SUMMARY, order='selection', gains=True)
  assert oracle.gains is not None
  assert oracle.gains.argmax(1).tolist()[:-1] == oracle.indices
  assert oracle.gains[-1].max() <= 0
  assert find_oracle(DOCUMENT, SUMMARY).gains is None


@given(units, summary)
def test_draws_are_units_and_the_same_each_time(units, summary):
  drawn = find_oracle(units, summary, method='drawn', order='selection').indices
  again = find_oracle(units, summary, method='drawn', order='selection').indices
  assert drawn == again
  assert len(set(drawn)) == len(drawn) <= 3
  assert all(re.search('[a-z0-9]', units[unit].lower()) for unit in drawn)


def test_better_units_are_drawn_more_often():
  """148 to 1 against a unit that gains nothing; about 6 to 1 against half."""
  best, half, nothing = 'a b c d', 'a b x y', 'v w'
  first = [
    find_oracle(
      [nothing] * size + [best, half], [best], method='drawn', order='selection'
    ).indices[0]
    - size
    for size in range(1, 101)
  ]
  drawn_best, drawn_half = first.count(0), first.count(1)
  assert drawn_best > 50
  assert drawn_best > 2 * drawn_half > 0


@given(units, st.lists(summary, min_size=2, max_size=3))
def test_several_references_are_scored_as_by_the_metric(units, references):
  """Greedy, through the sums of counts that `rouge` makes of references."""

  def mean(chosen):
    text = [units[i] for i in sorted(chosen)]
    return rouge(text, references)[:, 2].mean()

  oracle = find_oracle(units, references, order='selection')
  for step in range(len(oracle.indices)):
    before = oracle.indices[:step]
    best = max(
      mean([*before, unit]) for unit in range(len(units)) if unit not in before
    )
    # The metric rounds to five decimals, the search does not.
    assert mean(oracle.indices[: step + 1]) == pytest.approx(best, abs=2e-5)
  assert oracle.rouge['rouge1'] == pytest.approx(
    rouge([units[i] for i in sorted(oracle.indices)], references)[0, 2],
    abs=2e-5,
  )
