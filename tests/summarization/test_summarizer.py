"""Summaries of plain texts."""

import pytest

import stepwise
from stepwise._errors import InputError
from stepwise.data import Buckets, split_sentences, wordpiece
from stepwise.models import find_system
from stepwise.summarization import Summarizer, load_summarizer, sample_article


def test_lead_is_the_first_sentences_verbatim():
  article = sample_article()
  summary = stepwise.summarize(article, sentences=4)
  spans = split_sentences(article)[:4]
  assert [(s.start, s.end) for s in summary.sentences] == spans
  for sentence in summary.sentences:
    assert sentence.text == article[sentence.start : sentence.end]
  assert summary.words == len(summary.text.split())
  assert summary.warnings == ()


def test_a_short_text_is_its_own_summary():
  assert stepwise.summarize('One sentence only.').text == 'One sentence only.'


def test_what_is_not_read_is_said():
  system = find_system('lead')
  small = Summarizer(
    system, system.build(), {}, wordpiece(), Buckets((6,), (5,))
  )
  summary = small('The first. The second. The third. The fourth.')
  assert len(summary.sentences) == 2
  assert summary.warnings == (
    'the last 2 sentences were not read: the document is longer than the model'
    ' reads.',
  )
  long = small('One very long sentence of many more words than can be read.')
  assert 'read only in part' in long.warnings[0]


@pytest.mark.parametrize('text', ['', ' \n\t '])
def test_an_empty_text_is_an_error(text):
  with pytest.raises(InputError, match='the text is empty'):
    stepwise.summarize(text)


def test_sentences_must_be_positive():
  with pytest.raises(InputError, match='sentences is 0, must be at least 1'):
    stepwise.summarize('A text.', sentences=0)


def test_systems_that_need_weights_say_so():
  with pytest.raises(InputError, match='stepwise_etcsum needs trained weights'):
    load_summarizer('stepwise_etcsum')
  with pytest.raises(InputError, match="no system is named 'best'"):
    load_summarizer('best')


def test_the_package_has_no_other_lazy_names():
  with pytest.raises(AttributeError, match="no attribute 'summarise'"):
    stepwise.summarise  # noqa: B018
