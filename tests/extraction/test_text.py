"""Tokens, sentences and numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwise.extraction import (
  find_numbers,
  parse_number,
  sentence_tokens,
  tokenize,
)


@pytest.mark.parametrize(
  ('text', 'tokens'),
  [
    ("D'Art O'Dell's 9-of-12", "D'Art O'Dell 's 9 - of - 12"),
    ('a .500 team at 4:30, 1,200 fans', 'a .500 team at 4:30 , 1,200 fans'),
    ('T.J.Hale and C.J Orr Jr. won.The', 'T.J. Hale and C.J Orr Jr. won . The'),
    ('the 99ers (3Pt 48%)', 'the 99ers ( 3Pt 48 % )'),
  ],
)
def test_tokens(text, tokens):
  assert tokenize(text) == tokens.split()


@given(st.text(max_size=60))
def test_tokenising_tokens_again_changes_nothing(text):
  once = tokenize(text)
  assert tokenize(' '.join(once)) == once


def test_sentences_end_at_stops_and_their_brackets():
  text = 'It ended . ( They lost . ) J.R. Orr left !  What now ?'
  assert [' '.join(tokens) for tokens in sentence_tokens(text)] == [
    'It ended .',
    '( They lost . )',
    'J.R. Orr left !',
    'What now ?',
  ]
  assert sentence_tokens('') == []


@given(st.text(alphabet='ab .!)"', max_size=30))
def test_sentences_lose_no_token(text):
  joined = [token for tokens in sentence_tokens(text) for token in tokens]
  assert joined == tokenize(text)


@pytest.mark.parametrize(
  ('text', 'values'),
  [
    ('twenty - two points and thirty nine boards', [22, 39]),
    ('Forty points , fourteen assists , 0 blocks', [40, 14, 0]),
    ('five three - pointers from three - point range', [5]),
    ('3 pointers , three points', [3]),
    ('one of the best , one assist', [1]),
    ('twenty - zero and sixty - ten', [20, 0, 60, 10]),
    ('9' * 5000, []),
    ('a .500 record at 4:30 , 22.5 on average , 11th', []),
  ],
)
def test_numbers(text, values):
  assert [number.value for number in find_numbers(text.split())] == values


def test_a_number_knows_its_tokens():
  [number] = find_numbers(tokenize('had twenty-two points'))
  assert (number.start, number.end) == (1, 4)


def test_texts_that_are_numbers():
  texts = ['17', 'five', 'Twenty-One', 'five six', '', 'x', '1.5']
  values = [parse_number(text) for text in texts]
  assert values == [17, 5, 21, None, None, None, None]
