"""The splitter: properties for any text, and a labelled set of hard cases."""

# ruff: noqa: RUF001 (marks of many scripts)

import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise.documents import split_sentences

LABELLED = Path(__file__).parents[1] / 'testdata' / 'sentences'

# Pieces that meet every rule, glued at random: much harder than random text.
PIECES = [
  *('The', 'he', 'Mr.', 'U.S.', 'J.', 'a', 'A', 'I', 'No.', '5', '12', 'p.m.'),
  *('Inc.', 'etc.', 'Yahoo!', 'said', 'Tom', 'Mai', 'iPhone', 'Vol.', 'II'),
  *('.', '!', '?', '...', '…', ' . .', '?!', ';', '。', '？', '।', 'ε'),
  *('"', "'", '”', '“', ')', '(', '[', ']', '[1]', "''", '»', '「', '」'),
  *(' ', ' ', ' ', ' ', '  ', '\n', '\n', '\n\n', '\r\n', '\t', '\u2028'),
  *(
    '\n- ',
    '\n1. ',
    '\n2) ',
    '- ',
    '1. ',
    '--',
    ',',
    ':',
    '😀',
    'と',
    '走',
    '_',
  ),
  *('word ' * 26, 'middling ' * 7, '\x1f', '\u200b', '$', '#'),
]
TEXTS = st.one_of(
  st.lists(st.sampled_from(PIECES), max_size=40).map(''.join),
  st.lists(
    st.sampled_from([*string.ascii_letters, *'.?! \n\n\'"()19']), max_size=60
  ).map(''.join),
  st.text(max_size=60),
)


@settings(max_examples=800, deadline=None)
@given(TEXTS)
def test_spans_partition_the_text_except_white_space(text):
  position = 0
  for start, end in split_sentences(text):
    assert text[position:start].strip() == ''
    assert start < end
    assert text[start:end] == text[start:end].strip()
    position = end
  assert text[position:].strip() == ''


@settings(max_examples=1500, deadline=None)
@given(TEXTS)
def test_splitting_a_sentence_gives_that_sentence(text):
  for start, end in split_sentences(text):
    assert split_sentences(text[start:end]) == [(0, end - start)]


def _labelled(path: Path) -> list[tuple[str, set[int]]]:
  """Texts of a labelled set with the offsets of their true boundaries."""
  cases = []
  for block in path.read_text('utf-8').rstrip('\n').split('\n---\n'):
    parts = block.split('|')
    ends = [len(''.join(parts[: i + 1])) for i in range(len(parts) - 1)]
    cases.append((''.join(parts), set(ends)))
  return cases


def _boundaries(paths, language):
  """How many are right, and all that are wrong or missed."""
  right, false, missed = 0, [], []
  for text, expected in (case for path in paths for case in _labelled(path)):
    found = {end for _, end in split_sentences(text, language)[:-1]}
    right += len(found & expected)
    false += [text[max(0, end - 30) : end + 20] for end in found - expected]
    missed += [text[max(0, end - 30) : end + 20] for end in expected - found]
  return right, false, missed


def test_labelled_boundaries():
  paths = [LABELLED / f'{name}.txt' for name in ('news', 'other', 'structure')]
  right, false, missed = _boundaries(paths, '')
  precision = right / (right + len(false))
  recall = right / (right + len(missed))
  assert right + len(missed) >= 200, 'the labelled set has shrunk'
  assert min(precision, recall) >= 0.97, (
    f'{precision=:.3f} {recall=:.3f} {false=} {missed=}'
  )


LANGUAGES = ('ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pt', 'ru', 'zh')


@pytest.mark.parametrize('language', LANGUAGES)
def test_labelled_boundaries_of_other_languages(language):
  right, false, missed = _boundaries([LABELLED / f'{language}.txt'], language)
  assert right + len(missed) >= 15, 'the labelled set has shrunk'
  assert len(false) + len(missed) <= 1, f'{false=} {missed=}'


@pytest.mark.parametrize('language', ('de', 'fr', 'ru'))
def test_splitting_again_changes_nothing_in_other_languages(language):
  for text, _ in _labelled(LABELLED / f'{language}.txt'):
    for start, end in split_sentences(text, language):
      again = split_sentences(text[start:end], language)
      assert again == [(0, end - start)]


def test_german_is_not_cut_at_numbers():
  text = 'Es kostet 240 Mio. Euro. Der Markt ist am 1. Samstag im Mai.'
  units = [text[start:end] for start, end in split_sentences(text, 'de')]
  assert units == [
    'Es kostet 240 Mio. Euro.',
    'Der Markt ist am 1. Samstag im Mai.',
  ]


@pytest.mark.parametrize(
  ('text', 'expected'),
  [
    ('', []),
    (' \n\t ', []),
    ('...', ['...']),
    ('Hello', ['Hello']),
    ('  One. Two.\n', ['One.', 'Two.']),
    ('He left. --', ['He left. --']),
    ('The sum.[12] He left.', ['The sum.[12]', 'He left.']),
    ('“No.” He left.', ['“No.”', 'He left.']),
    ('He left.The door shut.', ['He left.', 'The door shut.']),
    ('See example.The for more.', ['See example.', 'The for more.']),
    ('Mail a@example.Com now.', ['Mail a@example.Com now.']),
  ],
)
def test_small_texts(text, expected):
  assert [text[start:end] for start, end in split_sentences(text)] == expected


def test_a_long_line_shows_that_lines_are_paragraphs():
  headline, paragraph = 'Storm hits coast', 'word ' * 30 + 'end'
  text = f'{headline}\n{paragraph}\n{headline}'
  units = [text[start:end] for start, end in split_sentences(text)]
  assert units == [headline, paragraph, headline]


def test_hard_wrapped_text_is_split_at_stops_only():
  sentences = [f'Sentence {i} of {"some " * i}words.' for i in range(3, 40)]
  words = ' '.join(sentences).split()
  lines, line = [], ''
  for word in words:
    if len(line) + len(word) >= 70:
      lines.append(line)
      line = ''
    line = f'{line} {word}'.strip()
  text = '\n'.join([*lines, line])
  units = [' '.join(text[a:b].split()) for a, b in split_sentences(text)]
  assert units == sentences


@pytest.mark.parametrize(
  ('piece', 'units'),
  [
    *(
      (' ', 0),
      ('\n', 0),
      ('x', 1),
      ('.', 1),
      ('。', 1),
      ('a.', 1),
      ('J. ', 1),
    ),
    *(('! ', 1), ('" ', 1), ('[1', 1), ('; ', 1), ('a\n', 1), ('. A', 2)),
    *(('Hi. ', 15_000), ('"Go!" Tom ', 6_001), ('好。', 30_000)),
  ],
)
def test_repeated_pieces(piece, units):
  """Whatever is not linear in the length of the text would not end here."""
  text = piece * (60_000 // len(piece))
  assert len(split_sentences(text)) == units
