"""What a unit of a text is."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise.documents import count_words, make_document, says_something

TEXT = """Subject: Minutes of the harbour board
From: Anna Reed

MINUTES OF THE HARBOUR BOARD

By Anna Reed

Published: 3 May 2024

1. Present
==========

Dear all,

The board met on Monday. It talked about the pier
and about the ferry, which is old.

Decisions:

- The pier will be closed in winter.
- Ferry
- The ferry needs a new engine, and Tom asks three yards for prices
  before the next meeting.

Figure 2: The pier in spring

Photo: Tom Hale

> Will the ferry be sold?
> I hope not.

```
ferry = open('pier')
```

Year\tShips\tPeople
2020\t12\t300

www.marne.example

We were lucky.

Kind regards,
Anna Reed
Harbour office
"""
KINDS = [
  ('Subject: Minutes of the harbour board', 'byline'),
  ('From: Anna Reed', 'byline'),
  ('MINUTES OF THE HARBOUR BOARD', 'heading'),
  ('By Anna Reed', 'byline'),
  ('Published: 3 May 2024', 'byline'),
  ('Present', 'item'),
  ('==========', 'fragment'),
  ('Dear all,', 'signature'),
  ('The board met on Monday.', 'sentence'),
  (
    'It talked about the pier\nand about the ferry, which is old.',
    'sentence',
  ),
  ('Decisions:', 'heading'),
  ('The pier will be closed in winter.', 'item'),
  ('Ferry', 'item'),
  (
    'The ferry needs a new engine, and Tom asks three yards for prices\n'
    '  before the next meeting.',
    'item',
  ),
  ('Figure 2: The pier in spring', 'caption'),
  ('Photo: Tom Hale', 'caption'),
  ('> Will the ferry be sold?\n> I hope not.', 'quotation'),
  ("```\nferry = open('pier')\n```", 'code'),
  ('Year\tShips\tPeople', 'row'),
  ('2020\t12\t300', 'row'),
  ('www.marne.example', 'fragment'),
  ('We were lucky.', 'sentence'),
  ('Kind regards,', 'signature'),
  ('Anna Reed', 'signature'),
  ('Harbour office', 'signature'),
]


def kinds(text):
  document = make_document({'text': text})
  return [(unit, document.kind(i)) for i, unit in enumerate(document.units)]


def test_kinds_of_a_plain_text():
  found = kinds(TEXT)
  # An underlined number is a heading, whatever it begins with.
  expected = list(KINDS)
  expected[5] = ('1. Present', 'heading')
  assert found == expected


@pytest.mark.parametrize(
  ('line', 'kind'),
  [
    ('By Anna Reed, CNN', 'byline'),
    ('By the time they came, it was over', 'heading'),
    ('Von Anna Reed', 'byline'),
    ('Anna Reed, staff writer', 'byline'),
    ('Updated 12:04, 3 May 2024', 'byline'),
    ('Table 3. Ships per year', 'caption'),
    ('Fig. 2: The pier in spring', 'caption'),
    ('Table 2 shows that the pier moves in the wind.', 'sentence'),
    ('Scroll down for video', 'caption'),
    ('Hi Tom,', 'signature'),
    ('Thanks!', 'signature'),
    ('Mit freundlichen Grüßen', 'signature'),
    ('# Methods', 'heading'),
    ('2. The roof', 'heading'),
    ('2. The roof is old.', 'item'),
    ('Let me know if you have questions.', 'signature'),
    ('I hope you had a good week.', 'signature'),
    ('3.2 Results of the trial', 'heading'),
    ('What we found:', 'heading'),
    ('“I did not see it coming”', 'sentence'),
    ('and then', 'fragment'),
    ('* * *', 'fragment'),
    ('It rained.', 'sentence'),
    ('Why?', 'sentence'),
  ],
)
def test_kinds_of_lines(line, kind):
  prose = 'It rained all day, and nobody came to the harbour. ' * 3
  (_, found), *_ = kinds(f'{line}\n\n{prose}')
  assert found == kind


def test_labels_in_a_row_are_a_header():
  text = 'Date: 3 May\nPresent: Anna Reed, Tom Hale\n\nIt rained all day.'
  assert [kind for _, kind in kinds(text)] == ['byline', 'byline', 'sentence']
  speech = 'Anna: It rained all day.\nTom: Nobody came to see us.'
  assert {kind for _, kind in kinds(speech)} == {'sentence'}


def test_a_quotation_below_a_signature_is_a_quotation():
  text = (
    'We will move in June, as the old house is sold.\n\nBest,\nNora\n\n'
    'On Tue, 9 Apr 2024, Tom wrote:\n> Do we know the dates?\n'
  )
  found = [kind for _, kind in kinds(text)]
  assert found == ['sentence', 'signature', 'signature', 'byline', 'quotation']


def test_a_text_without_stops_is_written_in_sentences():
  text = 'Rain fell all day\n\nNobody came to the harbour\n\nWe stayed in'
  assert {kind for _, kind in kinds(text)} == {'sentence'}


def test_items_that_say_something():
  assert says_something('Closed.')
  assert says_something('a new engine for the old ferry')
  assert not says_something('Milk')


PIECES = [
  *('- ', '1. ', '> ', '```', '# ', '\n', '\n\n', '\t', ' | ', '===', '-- '),
  *('Best,', 'By Tom Hale', 'The ship left.', 'It came', 'Figure 1: x', '.'),
  *('On Monday, Tom wrote:', '    x = f(1);', 'From: Tom', '港が開いた。', ','),
]


@settings(max_examples=300, deadline=None)
@given(
  st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=30).map(''.join),
    st.text(alphabet=string.printable, max_size=60),
  )
)
def test_no_word_is_lost(text):
  """Units are in order and disjoint; between them are marks alone."""
  if not text.strip():
    return
  try:
    document = make_document({'text': text})
  except ValueError:
    assert not any(map(str.isalnum, text))
    return
  position = 0
  for start, end in document.spans:
    assert position <= start < end
    gap = text[position:start]
    assert not any(map(str.isalpha, gap)) or len(gap.split()) == 1
    position = end
  assert not any(map(str.isalpha, text[position:]))


@pytest.mark.parametrize(
  ('text', 'words'),
  [
    ('', 0),
    ('It rained , twice .', 3),
    ("It's a well-known story of 1999.", 6),
    ('今天下雨。', 4),
    ('東京タワーへ行く', 6),
    ('他在IBM工作3年。', 7),
    ('Это дом.', 2),
    ('ฝนตก', 4),
  ],
)
def test_words_of_many_scripts(text, words):
  assert count_words(text) == words
