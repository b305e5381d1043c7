"""Predictions and references line by line, empty ones included."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.data import (
  Prediction,
  pair_predictions,
  read_predictions,
  read_references,
)
from stepwise.documents import Document


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
  found = read_predictions(write_lines(tmp_path / 'p.jsonl', rows))
  assert [prediction.sentences for prediction in found] == [
    ('It rained.', 'Then it stopped.'),
    ('It rained. Then it stopped.',),
    ('It rained.', 'Then it', 'stopped.'),
    (),
    (),
  ]


def test_predictions_on_the_lines_of_a_text(tmp_path):
  path = tmp_path / 'p.txt'
  path.write_text('Été. Hiver.\n\nLast one\n')
  found = [prediction.sentences for prediction in read_predictions(path)]
  assert found == [('Été.', 'Hiver.'), (), ('Last one',)]


@pytest.mark.parametrize('processes', [1, 2])
def test_references_with_and_without_articles(tmp_path, processes):
  rows = [
    {'article': ['One. Two.'], 'highlights': ['Both.'], 'id': 'x'},
    {'summary': 'Alone.'},
    {'article': [], 'highlights': ['No text.']},
  ]
  path = write_lines(tmp_path / 'r.jsonl', rows)
  found = read_references(path, processes=processes)
  documents = [reference.document for reference in found]
  assert [r.summaries for r in found] == [(d.summary,) for d in documents]
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
  summaries = [reference.summaries for reference in read_references(path)]
  assert summaries == [(('First.',),), (('Second.',),)]


def test_a_folder_of_stories(tmp_path):
  (tmp_path / 'a.story').write_text('It rained.\n\n@highlight\n\nRain\n')
  [reference] = read_references(tmp_path)
  document = reference.document
  assert (document.units, document.summary) == (('It rained.',), ('Rain',))


@pytest.mark.parametrize(
  ('row', 'message'),
  [
    (
      {'text': 'x'},
      r"p\.jsonl:2: no 'prediction' or .* 'sentences'; found \['text'",
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
  with pytest.raises(InputError, match=r"r\.jsonl:1: no 'references' or 'high"):
    read_references(path)
  path = write_lines(tmp_path / 'r.jsonl', [{'article': [1], 'summary': 'x'}])
  with pytest.raises(InputError, match=r"r\.jsonl:1: 'article' must be"):
    read_references(path)


def test_text_that_is_not_utf8_is_an_error(tmp_path):
  path = tmp_path / 'p.txt'
  path.write_bytes(b'fine\n\xff\n')
  with pytest.raises(InputError, match=r'p\.txt:2: not UTF-8'):
    read_predictions(path)


@pytest.mark.parametrize(
  'row',
  [
    {'references': [['A a.', 'B b.'], 'C c.\nD d.']},
    {'highlights': [['A a.', 'B b.'], ['C c.', 'D d.']]},
    {'summary': ['A a.', 'B b.'], 'other_highlights': [['C c.', 'D d.']]},
  ],
)
def test_several_references_of_one_document(tmp_path, row):
  path = write_lines(
    tmp_path / 'r.jsonl', [{'article': 'It rained. We left.', **row}]
  )
  [reference] = read_references(path)
  assert reference.summaries == (('A a.', 'B b.'), ('C c.', 'D d.'))
  assert reference.document.summary == ('A a.', 'B b.')
  assert reference.document.units == ('It rained.', 'We left.')


def test_no_reference_at_all_is_an_error(tmp_path):
  path = write_lines(tmp_path / 'r.jsonl', [{'references': []}])
  with pytest.raises(InputError, match=r"r\.jsonl:1: 'references' is empty"):
    read_references(path)


def test_what_other_verbs_write_is_read(tmp_path):
  rows = [
    {'line': 1, 'id': 'a', 'units': [0], 'summary': ['One.']},
    {'line': 2, 'error': 'no text'},
    {'line': 3, 'id': 'c', 'sentences': [{'index': 4, 'text': 'Three.'}]},
  ]
  assert read_predictions(write_lines(tmp_path / 'p.jsonl', rows)) == [
    Prediction(('One.',), 'a'),
    Prediction((), '', 'no text'),
    Prediction(('Three.',), 'c'),
  ]


def documents(*ids):
  return [Document('', (), ('Some.',), name) for name in ids]


def predictions(*ids):
  return [Prediction((f'About {name}.',), name) for name in ids]


def test_ids_pair_predictions_with_references():
  a, b, c = predictions('a', 'b', 'c')
  assert pair_predictions('p', [c, a, b], documents('a', 'b')) == [a, b]


def test_lines_pair_where_ids_are_missing():
  a, b = predictions('a', 'b')
  without = [Prediction(('First.',)), Prediction(('Second.',))]
  assert pair_predictions('p', [b, a], documents('', '')) == [b, a]
  assert pair_predictions('p', without, documents('a', 'b')) == without
  assert pair_predictions('p', [b, a], documents('same', 'same')) == [b, a]


def test_errors_without_an_id_stand_for_missing_predictions():
  error, (b,) = Prediction((), '', 'no text'), predictions('b')
  assert pair_predictions('p', [error, b], documents('a', 'b')) == [error, b]
  # Errors alone say nothing of ids.
  assert pair_predictions('p', [error] * 2, documents('a', 'b')) == [error] * 2


def test_missing_and_repeated_predictions_are_refused():
  with pytest.raises(InputError, match=r"no prediction for 1 of 2 .* id 'b'"):
    pair_predictions('p', predictions('a', 'c'), documents('a', 'b'))
  with pytest.raises(InputError, match='several predictions for the same id'):
    pair_predictions('p', predictions('a', 'a'), documents('a', 'b'))
  with pytest.raises(InputError, match='1 predictions but the references are'):
    pair_predictions('p', [Prediction(())], documents('', ''))
