"""Best-worst scaling, with scores worked out by hand."""

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.evaluation import (
  Judgement,
  best_worst_scaling,
  compare_means,
  read_judgements,
)


def judgement(item, a, b, better, question='all'):
  return Judgement(question, item, a, b, better)


def test_scores_count_best_and_worst():
  answers = [
    judgement('1', 'x', 'y', 'x'),
    judgement('1', 'x', 'z', 'x'),
    judgement('1', 'y', 'z', 'tie'),
    judgement('2', 'x', 'y', 'y'),
  ]
  scores = best_worst_scaling(answers)['all']
  # x: best twice, worst once, of three. y: worst, tie, best. z: worst, tie.
  assert scores.scores == {'x': 1 / 3, 'y': 0, 'z': -1 / 2}
  assert scores.judgements == {'x': 3, 'y': 3, 'z': 2}
  # z was shown on one item only: nothing to test.
  assert scores.anova_p is None and scores.pairs == ()


def test_scores_of_all_systems_sum_to_zero_when_shown_alike():
  rng = np.random.default_rng(0)
  pairs = [('x', 'y'), ('y', 'z'), ('x', 'z')]
  answers = [
    judgement(str(item), *pair, str(rng.choice([*pair, 'tie'])))
    for item in range(7)
    for pair in pairs
  ]
  scores = best_worst_scaling(answers)['all'].scores
  assert sum(scores.values()) == pytest.approx(0)


def test_significance_is_over_items():
  answers = []
  for item in range(10):
    # x always wins but once; three annotators agree and are one observation.
    better = 'y' if item == 0 else 'x'
    answers += [judgement(str(item), 'x', 'y', better)] * 3
  scores = best_worst_scaling(answers)['all']
  means = np.array([-1.0] + [1.0] * 9)
  expected = compare_means([means, -means])
  [pair] = scores.pairs
  assert scores.scores['x'] == pytest.approx(0.8)
  assert scores.anova_p == pytest.approx(expected.anova_p)
  assert pair.p == pytest.approx(expected.tukey_p[0, 1])
  assert (pair.first, pair.second) == ('x', 'y')
  assert pair.difference == pytest.approx(1.6)
  assert pair.significant


def test_systems_that_win_by_turns_do_not_differ():
  answers = [
    judgement(str(item), 'x', 'y', 'xy'[item % 2]) for item in range(10)
  ]
  [pair] = best_worst_scaling(answers)['all'].pairs
  assert not pair.significant


def test_questions_are_separate(tmp_path):
  path = tmp_path / 'answers.csv'
  path.write_text(
    'question,item,annotator,system_a,system_b,better\n'
    'readable,1,ann,x,y,x\n'
    'informative,1,ann,x,y,y\n'
  )
  answers = read_judgements(path)
  assert answers[0] == Judgement('readable', '1', 'x', 'y', 'x')
  scores = best_worst_scaling(answers)
  assert scores['readable'].scores == {'x': 1, 'y': -1}
  assert scores['informative'].scores == {'x': -1, 'y': 1}


def test_the_question_may_be_missing(tmp_path):
  path = tmp_path / 'answers.csv'
  path.write_text('item,system_a,system_b,better\n1,x,y,tie\n')
  assert read_judgements(path) == [judgement('1', 'x', 'y', 'tie')]


@pytest.mark.parametrize(
  ('content', 'message'),
  [
    ('item,better\n', r"no columns \['system_a', 'system_b'\]"),
    ('item,system_a,system_b,better\n1,x,y,z\n', ":2: 'better' is 'z'; two"),
    ('item,system_a,system_b,better\n1,x,x,x\n', 'two different systems'),
    ('item,system_a,system_b,better\n1,x,y\n', "'better' is None"),
  ],
)
def test_malformed_judgements(tmp_path, content, message):
  path = tmp_path / 'answers.csv'
  path.write_text(content)
  with pytest.raises(InputError, match=message):
    read_judgements(path)


def test_no_judgements(tmp_path):
  with pytest.raises(InputError, match='No such file'):
    read_judgements(tmp_path / 'none.csv')
  with pytest.raises(InputError, match='0 judgements'):
    best_worst_scaling([])
