"""Tokens equal those of `rouge-score`; the Unicode ones keep every script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import tokenizers

from stepwise._rouge import tokenize_ascii, tokenize_unicode


@given(st.text())
def test_ascii_tokens_are_those_of_rouge_score(text):
  expected = tokenizers.DefaultTokenizer(use_stemmer=True).tokenize(text)
  assert tokenize_ascii(text) == expected


@given(st.text(st.characters(max_codepoint=127)))
def test_both_tokenizations_agree_on_ascii(text):
  assert tokenize_unicode(text) == tokenize_ascii(text)


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
def test_unicode_tokens(text, tokens):
  assert tokenize_unicode(text) == tokens


def test_ascii_tokenization_drops_what_is_not_ascii():
  assert tokenize_ascii('Über naïve 東京') == ['ber', 'na', 've']
