from dataclasses import replace

from stepwise.documents import Document, make_document
from stepwise.evaluation import rouge
from stepwise.tasks._documents import document_features, document_from_features
from tests.tasks.stories import STORIES


def round_trip(document):
  return document_from_features(*document_features(document).values())


def test_features_of_a_document_give_it_back():
  for story in STORIES:
    document = replace(make_document(story), kinds=(), language='')
    assert round_trip(document) == document
  assert round_trip(Document('', ())) == Document('', ())


def test_a_line_break_within_a_sentence_is_a_space():
  story = {**STORIES[0], 'highlights': ['A crew\nturned back.', 'A storm.']}
  document = make_document(story)
  summary = round_trip(document).summary
  assert summary == ('A crew turned back.', 'A storm.')
  assert (
    rouge(document.units, summary) == rouge(document.units, document.summary)
  ).all()


def test_an_id_that_is_not_unicode_does_no_harm():
  assert round_trip(Document('', (), id='\ud800x')).id == '?x'
