"""ROUGE-1.5.5 as its Perl script prints it.

`testdata/rouge155.json` holds cases of random words with the script's output.
`STEPWISE_ROUGE155=FOLDER`, where FOLDER has the script and its data, compares
with the script itself on texts made here or, with `STEPWISE_ROUGE155_FILE`, on
the first documents of a file.
"""

import json
import os
import random
import re
import subprocess
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from stepwise.documents import read_documents
from stepwise.evaluation import KINDS, METRICS, bootstrap_interval, rouge
from stepwise.evaluation._bootstrap import bootstrap_intervals

GOLDEN = json.loads(
  (Path(__file__).parents[1] / 'testdata' / 'rouge155.json').read_text()
)
CASES = GOLDEN['cases']
NAMES = {
  'ROUGE-1': 'rouge1',
  'ROUGE-2': 'rouge2',
  'ROUGE-3': 'rouge3',
  'ROUGE-4': 'rouge4',
  'ROUGE-L': 'rougeLsum',
  'ROUGE-W-1.2': 'rougeW',
}
STEMMED = {'stemmed': 'rouge-1.5.5', 'unstemmed': 'rouge-1.5.5-unstemmed'}
# The script prints recall, precision and F.
ORDER = [1, 0, 2]


def all_scores(case, metric, **options):
  scores = rouge(
    case['prediction'],
    case['references'],
    metric,
    kinds=list(NAMES.values()),
    **options,
  )
  return scores[:, ORDER]


@pytest.mark.parametrize('stemmed', STEMMED)
def test_every_case_has_all_the_script_s_decimals(stemmed):
  for number, case in enumerate(CASES):
    expected = [case[stemmed][name] for name in NAMES]
    scores = all_scores(case, STEMMED[stemmed])
    assert scores.tolist() == expected, number


@pytest.mark.parametrize('stemmed', STEMMED)
def test_averages_and_their_intervals_are_the_script_s(stemmed):
  # The script sorts its evaluations by their ids as strings.
  order = sorted(range(len(CASES)), key=str)
  scores = np.stack(
    [all_scores(CASES[number], STEMMED[stemmed]) for number in order]
  )
  intervals = bootstrap_intervals(scores.reshape(len(scores), -1))
  found = [
    [round(value, 5) for value in (i.resampled, i.low, i.high)]
    for i in intervals
  ]
  expected = GOLDEN[f'average_{stemmed}']
  assert found == [expected[name][key] for name in NAMES for key in 'RPF']


def test_another_seed_is_another_thousand_of_draws():
  values = np.random.default_rng(0).random(97)
  assert bootstrap_interval(values) == bootstrap_interval(values, seed=0)
  assert (
    bootstrap_interval(values).low != bootstrap_interval(values, seed=1).low
  )


def test_several_references_are_added_up():
  # 1 of 2 and 2 of 4 words of the references, 1 and 2 of the 3 predicted ones.
  precision, recall, f1 = rouge(['a b c'], [['a x'], ['b c y z']])[0]
  assert (precision, recall, f1) == (0.5, 0.5, 0.5)


def test_the_best_of_several_references_is_that_of_highest_recall():
  references = [['a x'], ['b c y'], ['a b c v w x y z']]
  best = rouge(['a b c'], references, several='best')
  np.testing.assert_array_equal(best[0], rouge(['a b c'], references[1])[0])
  alone = rouge(['a b c'], references[:1], several='best')
  np.testing.assert_array_equal(alone, rouge(['a b c'], references[0]))


def test_a_jackknife_leaves_each_reference_out_once():
  text, references = ['a b c'], [['a x'], ['b c y'], ['a b z']]
  for several in ('average', 'best'):
    expected = np.mean(
      [
        rouge(text, references[:left] + references[left + 1 :], several=several)
        for left in range(3)
      ],
      axis=0,
    )
    found = rouge(text, references, several=several, jackknife=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
  one = rouge(text, references[:1], jackknife=True)
  np.testing.assert_array_equal(one, rouge(text, references[:1]))


def test_one_sentence_has_the_same_subsequence_at_both_levels():
  rng = random.Random(0)
  for _ in range(50):
    text, other = (
      [' '.join(rng.choices('abcdef', k=rng.randint(1, 12)))] for _ in range(2)
    )
    sentence, summary = rouge(text, other, kinds=['rougeL', 'rougeLsum'])
    assert sentence.tolist() == summary.tolist()


def test_a_sentence_level_subsequence_goes_across_line_ends():
  text, reference = ['a b', 'c'], ['a b c']
  [sentence] = rouge(text, reference, kinds=['rougeL'])
  assert sentence.tolist() == [1, 1, 1]
  # Two lines that each match the wrong one in order: at the level of the
  # summary both are found, as one sentence only one of them is.
  text, reference = ['c d', 'a b'], ['a b', 'c d']
  sentence, summary = rouge(text, reference, kinds=['rougeL', 'rougeLsum'])
  assert (sentence[0], summary[0]) == (0.5, 1)


def test_neighbouring_matches_weigh_more():
  apart, together = (
    rouge(['a b'], [reference], kinds=['rougeW'])[0, 0]
    for reference in ('a x b y', 'a b x y')
  )
  assert together > apart > 0


@pytest.mark.parametrize('metric', METRICS)
def test_kinds_are_the_same_alone_and_together(metric):
  case = CASES[7]
  together = all_scores(case, metric)
  for row, kind in enumerate(NAMES.values()):
    [alone] = rouge(
      case['prediction'], case['references'], metric, kinds=[kind]
    )
    assert alone[ORDER].tolist() == together[row].tolist()


@pytest.mark.parametrize('kinds', [KINDS, list(NAMES.values())])
def test_nothing_scores_zero(kinds):
  for text, reference in (([], ['a']), (['a'], []), (['!'], ['?']), ([], [])):
    assert not rouge(text, reference, kinds=kinds).any()


def run_script(folder, cases, flags, where):
  """Scores of every case and averages, as the script prints them."""
  evaluations = []
  for number, case in enumerate(cases):
    models = []
    for index, reference in enumerate(case['references']):
      name = f'{number}.{index}.txt'
      (where / name).write_text('\n'.join(reference) + '\n')
      models.append(f'<M ID="{index}">{name}</M>')
    (where / f'{number}.txt').write_text('\n'.join(case['prediction']) + '\n')
    evaluations.append(
      f'<EVAL ID="{number}"><PEER-ROOT>{where}</PEER-ROOT>'
      f'<MODEL-ROOT>{where}</MODEL-ROOT>'
      '<INPUT-FORMAT TYPE="SPL"></INPUT-FORMAT>'
      f'<PEERS><P ID="X">{number}.txt</P></PEERS>'
      f'<MODELS>{"".join(models)}</MODELS></EVAL>'
    )
  setting = where / 'setting.xml'
  setting.write_text(
    f'<ROUGE-EVAL version="1.0">{"".join(evaluations)}</ROUGE-EVAL>'
  )
  options = ['-a', '-c', '95', '-n', '4', '-w', '1.2', '-d', *flags]
  script = ['perl', '-X', folder / 'ROUGE-1.5.5.pl', '-e', folder / 'data']
  printed = subprocess.run(
    [*script, *options, setting],
    capture_output=True,
    text=True,
    check=True,
  ).stdout
  found = re.findall(r'X (\S+) Eval (\d+)\.X R:(\S+) P:(\S+) F:(\S+)', printed)
  scores = np.zeros((len(cases), len(NAMES), 3))
  for name, number, *values in found:
    scores[int(number), [*NAMES].index(name)] = [float(v) for v in values]
  assert len(found) == len(cases) * len(NAMES)
  return scores


def cases_to_compare():
  path = os.environ.get('STEPWISE_ROUGE155_FILE')
  if path is None:
    return CASES
  documents = islice(read_documents(path), 300)
  return [
    {'prediction': d.units[:3], 'references': [d.summary]} for d in documents
  ]


@pytest.mark.skipif(
  'STEPWISE_ROUGE155' not in os.environ,
  reason='STEPWISE_ROUGE155 names no folder with the Perl script',
)
@pytest.mark.parametrize('flags', [('-m',), (), ('-m', '-f', 'B')])
def test_the_script_itself(tmp_path, flags):
  cases = cases_to_compare()
  folder = Path(os.environ['STEPWISE_ROUGE155'])
  expected = run_script(folder, cases, flags, tmp_path)
  metric = 'rouge-1.5.5' if '-m' in flags else 'rouge-1.5.5-unstemmed'
  several = 'best' if 'B' in flags else 'average'
  for number, case in enumerate(cases):
    found = all_scores(case, metric, several=several)
    assert found.tolist() == expected[number].tolist(), case
