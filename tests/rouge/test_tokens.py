"""Tokens equal those of the metrics; the Unicode ones keep every script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import tokenizers

from stepwise._errors import InputError
from stepwise._rouge import METRICS, find_metric


@given(st.text())
def test_tokens_of_rouge_score(text):
  expected = tokenizers.DefaultTokenizer(use_stemmer=True).tokenize(text)
  assert METRICS['rouge-score'].tokenize(text) == expected


@pytest.mark.parametrize('metric', ['rouge-1.5.5', 'rouge-score'])
@given(st.text(st.characters(max_codepoint=127)))
def test_unicode_tokens_agree_on_ascii(metric, text):
  expected = METRICS[metric].tokenize(text)
  assert METRICS[f'{metric}-unicode'].tokenize(text) == expected


@given(st.text(st.characters(max_codepoint=127)))
def test_stems_are_of_the_unstemmed_words(text):
  words = METRICS['rouge-1.5.5-unstemmed'].tokenize(text)
  stems = METRICS['rouge-1.5.5'].tokenize(text)
  assert len(stems) == len(words)
  assert all(
    stem == word
    for stem, word in zip(stems, words, strict=True)
    if len(word) <= 3
  )


@pytest.mark.parametrize('metric', ['rouge-1.5.5', 'rouge-score'])
@pytest.mark.parametrize(
  ('text', 'tokens'),
  [
    ('Über die Brücken', ['über', 'die', 'brücken']),
    ('Мир, труд!', ['мир', 'труд']),
    ('हिन्दी में', ['हिन्दी', 'में']),
    ('東京 2020', ['東', '京', '2020']),
    ('e\u0301te\u0301', ['\u00e9t\u00e9']),
    ('— … “”', []),
  ],
)
def test_unicode_tokens(metric, text, tokens):
  assert METRICS[f'{metric}-unicode'].tokenize(text) == tokens


@pytest.mark.parametrize('metric', ['rouge-1.5.5', 'rouge-score'])
def test_what_is_not_ascii_is_dropped(metric):
  tokens = METRICS[metric].tokenize('Über naïve 東京')
  assert tokens == ['ber', 'na', 've']


def test_only_ascii_letters_have_a_lower_case_in_the_script():
  # Python's lower case of a Kelvin sign is the letter k.
  assert METRICS['rouge-1.5.5'].tokenize('5 \u212a A-B') == ['5', 'a', 'b']
  assert METRICS['rouge-score'].tokenize('5 \u212a') == ['5', 'k']


def test_unknown_metrics_are_refused():
  with pytest.raises(InputError, match="metric is 'bleu' but must be one of"):
    find_metric('bleu')
