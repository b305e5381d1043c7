"""Predictions and references line by line, empty ones included."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.data import read_predictions, read_references


def write_lines(path, rows):
  path.write_text(''.join(f'{json.dumps(row)}\n' for row in rows))
  return path


def test_predictions_as_strings_and_lists(tmp_path):
  rows = [
    {'prediction': 'It rained. Then it stopped.'},
    {'summary': ['It rained. Then it stopped.', ' ']},
    {'summary': 'It rained.\nThen it\nstopped.'},
    {'prediction': ''},
    {'prediction': []},
  ]
  assert read_predictions(write_lines(tmp_path / 'p.jsonl', rows)) == [
    ('It rained.', 'Then it stopped.'),
    ('It rained. Then it stopped.',),
    ('It rained.', 'Then it', 'stopped.'),
    (),
    (),
  ]


def test_predictions_on_the_lines_of_a_text(tmp_path):
  path = tmp_path / 'p.txt'
  path.write_text('Été. Hiver.\n\nLast one\n')
  assert read_predictions(path) == [('Été.', 'Hiver.'), (), ('Last one',)]


@pytest.mark.parametrize('processes', [1, 2])
def test_references_with_and_without_articles(tmp_path, processes):
  rows = [
    {'article': ['One. Two.'], 'highlights': ['Both.'], 'id': 'x'},
    {'summary': 'Alone.'},
    {'article': [], 'highlights': ['No text.']},
  ]
  path = write_lines(tmp_path / 'r.jsonl', rows)
  documents = read_references(path, processes=processes)
  assert [d.units for d in documents] == [('One.', 'Two.'), (), ()]
  assert [d.summary for d in documents] == [
    ('Both.',),
    ('Alone.',),
    ('No text.',),
  ]
  assert [d.id for d in documents] == ['x', '', '']


def test_references_on_the_lines_of_a_text(tmp_path):
  path = tmp_path / 'r.txt'
  path.write_text('First.\nSecond.\n')
  summaries = [document.summary for document in read_references(path)]
  assert summaries == [('First.',), ('Second.',)]


def test_a_folder_of_stories(tmp_path):
  (tmp_path / 'a.story').write_text('It rained.\n\n@highlight\n\nRain\n')
  [document] = read_references(tmp_path)
  assert (document.units, document.summary) == (('It rained.',), ('Rain',))


@pytest.mark.parametrize(
  ('row', 'message'),
  [
    (
      {'text': 'x'},
      r"p\.jsonl:2: no 'prediction' or 'summary'; found \['text'",
    ),
    (
      {'summary': 3},
      r"p\.jsonl:2: 'summary' must be a string or a list .* int",
    ),
    ({'summary': ['x', None]}, r'p\.jsonl:2: .* not NoneType'),
    (7, r'p\.jsonl:2: a JSON object is needed'),
  ],
)
def test_bad_predictions_are_errors(tmp_path, row, message):
  path = write_lines(tmp_path / 'p.jsonl', [{'summary': 'x'}, row])
  with pytest.raises(InputError, match=message):
    read_predictions(path)


def test_bad_references_are_errors(tmp_path):
  path = write_lines(tmp_path / 'r.jsonl', [{'article': 'x'}])
  with pytest.raises(InputError, match=r"r\.jsonl:1: no 'highlights' or 'summ"):
    read_references(path)
  path = write_lines(tmp_path / 'r.jsonl', [{'article': [1], 'summary': 'x'}])
  with pytest.raises(InputError, match=r"r\.jsonl:1: 'article' must be"):
    read_references(path)


def test_text_that_is_not_utf8_is_an_error(tmp_path):
  path = tmp_path / 'p.txt'
  path.write_bytes(b'fine\n\xff\n')
  with pytest.raises(InputError, match=r'p\.txt:2: not UTF-8'):
    read_predictions(path)
