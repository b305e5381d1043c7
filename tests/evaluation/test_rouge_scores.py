"""ROUGE equals `rouge-score`, and hand-computed cases of ROUGE-1.5.5."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from stepwise._errors import InputError
from stepwise.evaluation import KINDS, rouge, rouge_scores

scorer = rouge_scorer.RougeScorer(list(KINDS), use_stemmer=True)
sentence = st.lists(
  st.sampled_from(['the', 'cats', 'cat', 'sat', 'U.S.', 'é', '-', 'x\ny']),
  max_size=9,
).map(' '.join)
texts = st.lists(sentence | st.text(max_size=20), max_size=4)

TEXTS = [
  (
    ['The ferry was late again.', "Passengers didn't complain, for once."],
    ['Late ferry: passengers do not complain.'],
  ),
  (
    ['Prices rose 3.5 per cent.', 'Prices rose again in May.', 'It rained.'],
    ['Prices rose in April.', 'Prices rose in May.'],
  ),
  (['Café owners naïvely re-opened.'], ['Cafe owners re-open', 'Naïve?']),
]


def expected_scores(prediction, reference):
  scores = scorer.score('\n'.join(reference), '\n'.join(prediction))
  return np.array([scores[kind] for kind in KINDS])


@given(texts, texts)
def test_generated_texts_agree_with_rouge_score(prediction, reference):
  np.testing.assert_allclose(
    rouge(prediction, reference, 'rouge-score'),
    expected_scores(prediction, reference),
    rtol=0,
    atol=1e-9,
  )


@pytest.mark.parametrize(('prediction', 'reference'), TEXTS)
def test_written_texts_agree_with_rouge_score(prediction, reference):
  np.testing.assert_allclose(
    rouge(prediction, reference, 'rouge-score'),
    expected_scores(prediction, reference),
    rtol=0,
    atol=1e-9,
  )


@pytest.mark.parametrize(
  ('prediction', 'reference', 'expected'),
  [
    pytest.param(
      # Tokens: state of the art / state of the art. All alike.
      ['State-of-the-art!'],
      ['state of the ART'],
      [1, 1, 1],
      id='case and punctuation do not matter',
    ),
    pytest.param(
      # don t go (3) and do not go (3): one word in common, no pair: 1/3.
      ["Don't go"],
      ['do not go'],
      [1 / 3, 0, 1 / 3],
      id='an apostrophe splits a word',
    ),
    pytest.param(
      # run run (2) and run run (2): both stems are run.
      ['running runs'],
      ['runs running'],
      [1, 1, 1],
      id='words are stemmed',
    ),
    pytest.param(
      # was and wa differ; gas and ga too: up to three letters stay as they are.
      ['was gas'],
      ['wa ga'],
      [0, 0, 0],
      id='short words are not stemmed',
    ),
    pytest.param(
      # the gunman kill police: all 4 words, pair "the gunman" of 3 pairs,
      # longest subsequence "the gunman" of 4 words.
      ['the gunman kill police'],
      ['police killed the gunman'],
      [1, 1 / 3, 1 / 2],
      id='order counts for pairs and subsequences',
    ),
    pytest.param(
      # Lin (2004), section 3.2: the union of "a b" and "a c e" is 4 of 5 words;
      # of the 10 predicted words 4: F1 = 2 * .8 * .4 / 1.2. Words: the same 4.
      # Pairs: "a b" of 9 predicted and 4 reference pairs: 2 * 1 / (9 + 4).
      ['a b f g h', 'a c h i e'],
      ['a b c d e'],
      [8 / 15, 2 / 13, 8 / 15],
      id='union of subsequences over sentences',
    ),
    pytest.param(
      # "a" is in both reference sentences but only once in the prediction:
      # 1 hit of 1 and of 4 words: F1 = 2 * 1 * .25 / 1.25.
      ['a'],
      ['a b', 'a c'],
      [0.4, 0, 0.4],
      id='a word is not matched twice',
    ),
    pytest.param(
      # Pairs of "a b c" are "a b" and "b c", although a line ends after b.
      ['a b', 'c'],
      ['b c'],
      [4 / 5, 2 / 3, 4 / 5],
      id='pairs straddle sentences',
    ),
    pytest.param(
      # Counts are clipped: "a" thrice predicted, twice wanted: P 2/3, R 2/2.
      # Pairs: "a a" twice predicted, once wanted: P 1/2, R 1.
      ['a a a'],
      ['a a'],
      [4 / 5, 2 / 3, 4 / 5],
      id='repetition is clipped',
    ),
  ],
)
@pytest.mark.parametrize(
  # The script rounds precision and recall, then F1.
  ('metric', 'error'),
  [('rouge-1.5.5', 1.5e-5), ('rouge-score', 1e-12)],
)
def test_hand_computed_cases(prediction, reference, expected, metric, error):
  scores = rouge(prediction, reference, metric)[:, 2].tolist()
  assert scores == pytest.approx(expected, abs=error)


def test_precision_and_recall_are_told_apart():
  # One of two predicted words is right, one of four wanted words is found.
  precision, recall, _ = rouge(['a x'], ['a b c d'])[0]
  assert (precision, recall) == (0.5, 0.25)


@pytest.mark.parametrize(
  ('prediction', 'reference'),
  [([], ['a']), (['a'], []), ([''], ['a']), (['a'], ['...']), ([], [])],
)
def test_empty_texts_score_zero(prediction, reference):
  assert not rouge(prediction, reference).any()


def test_identical_texts_score_one_and_disjoint_ones_zero():
  text = ['Rain fell all night.', 'Rivers rose.']
  assert (rouge(text, text) == 1).all()
  assert not rouge(text, ['Sunny days follow']).any()


def test_unicode_metrics_see_other_scripts():
  text, other = ['Весна пришла'], ['Весна ушла']
  assert not rouge(text, text).any()
  assert (rouge(text, text, 'rouge-1.5.5-unicode') == 1).all()
  assert rouge(text, other, 'rouge-1.5.5-unicode')[0, 2] == 0.5


@pytest.mark.parametrize('processes', [1, 2])
def test_many_documents_keep_their_order(processes):
  predictions, references = zip(*TEXTS, strict=True)
  scores = rouge_scores(predictions, references, processes=processes)
  assert scores.shape == (3, 3, 3)
  expected = [rouge(*pair) for pair in TEXTS]
  np.testing.assert_array_equal(scores, expected)


def test_no_documents_are_no_scores():
  assert rouge_scores([], []).shape == (0, 3, 3)


def test_different_numbers_are_refused():
  with pytest.raises(InputError, match='1 predictions but 2 references'):
    rouge_scores([['a']], [['a'], ['b']])


@pytest.mark.parametrize('option', ['metric', 'several', 'kind'])
def test_unknown_names_are_refused(option):
  value = {'kind': {'kinds': ['words']}}.get(option, {option: 'words'})
  with pytest.raises(InputError, match=f"{option} is 'words' but must be"):
    rouge(['a'], ['a'], **value)
