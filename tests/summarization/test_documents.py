"""The written documents, and the summaries that a person has read."""

from pathlib import Path

import pytest

import stepwise
from stepwise.documents import PROSE
from stepwise.summarization import default_folder
from stepwise.summarization._auto import has_sections
from stepwise.summarization._texts import as_document

FOLDER = Path(__file__).parents[1] / 'testdata' / 'documents'
NAMES = ('report.md', 'paper.txt', 'minutes.txt', 'page.html', 'mail.eml')
ALL = (*NAMES, 'german.txt')

pytestmark = pytest.mark.skipif(
  not default_folder().is_dir(), reason='this checkout has no default model'
)


def lines(summary):
  return [' '.join(sentence.text.split()) for sentence in summary]


@pytest.mark.parametrize('name', ALL)
def test_summaries_are_those_that_were_read(name):
  golden = (FOLDER / 'summaries' / f'{name}.txt').read_text('utf-8')
  summary = stepwise.summarize(FOLDER / name)
  assert lines(summary) == golden.splitlines()
  assert summary.model == ('coverage' if name == 'german.txt' else 'default')


@pytest.mark.parametrize('name', ALL)
def test_sections_are_known(name):
  divided = name in ('report.md', 'paper.txt', 'minutes.txt', 'page.html')
  assert has_sections(as_document(FOLDER / name)) == divided
  reason = stepwise.summarize(FOLDER / name).reason
  assert ('has sections' in reason) == divided


def test_a_line_in_a_story_makes_no_section():
  story = 'It rained all day.\n\n{}\n\nNobody came.\n\nThe match was off.'
  assert has_sections(as_document(story.format('A wet day')))
  caption = 'The mayor and his guests look at the flooded lawn'
  assert not has_sections(as_document(story.format(caption)))
  assert not has_sections(as_document('A wet day\n\nIt rained.\n\nWe left.'))


@pytest.mark.parametrize('model', ['default', 'coverage'])
@pytest.mark.parametrize('name', NAMES)
def test_a_budget_keeps_the_beginning_and_takes_no_filler(name, model):
  summary = stepwise.summarize(FOLDER / name, words=70, model=model)
  assert 40 <= summary.words <= 70
  document = summary.document
  prose = [i for i, may in enumerate(document.of_kinds(PROSE)) if may]
  for sentence in summary:
    assert document.kind(sentence.index) in PROSE
    assert len(sentence.text.split()) >= 4
  # Something of what a text begins with.
  assert set(prose[:4]) & {sentence.index for sentence in summary}


@pytest.mark.parametrize('name', ALL)
def test_headings_and_signatures_are_known(name):
  document = as_document(FOLDER / name)
  for index, unit in enumerate(document.units):
    if unit in ('Abstract', 'Outlook', 'Boxes for everyone', 'Actions:'):
      assert document.kind(index) == 'heading'
    if unit.startswith(('Best,', 'Nora', 'Hi all')):
      assert document.kind(index) == 'signature'
    if unit.startswith(('Von Katrin', 'Date:', 'From:')):
      assert document.kind(index) == 'byline'


def test_a_summary_about_something():
  summary = stepwise.summarize(
    FOLDER / 'mail.eml', about='deliveries to customers', sentences=2
  )
  assert any('ustomers' in line for line in lines(summary))
  german = stepwise.summarize(
    FOLDER / 'german.txt', about='Händler in der Altstadt', sentences=1
  )
  assert 'Händler in der Altstadt' in german.text
