"""The page: its HTML by a parser, its behaviour in a browser."""

import json
import re
from html.parser import HTMLParser

import pytest

from stepwise.documents import Document, split_sentences
from stepwise.pages import Cell, Page, PageStep, PageUnit, render_page
from stepwise.summarization import (
  ChosenSentence,
  Step,
  Summary,
  sample_article,
  summary_page,
)
from tests.pages import browser as browsers
from tests.pages.browser import needs_browser

NASTY = '</script><b a="1">\'& {{data}} <!-- \\u003c'


def example(text=None, chosen=(3, 0), warnings=()):
  """A summary of an article, with probabilities that are easy to tell."""
  text = text or sample_article()
  document = Document(text, tuple(split_sentences(text)))
  count = len(document.spans)
  steps = []
  for index in (*chosen, None):
    probabilities = [0.4 / count] * count
    if index is not None:
      probabilities[index] += 0.5
    stop = 1 - sum(probabilities)
    steps.append(Step(index, -0.7, tuple(probabilities), stop))
  sentences = [
    ChosenSentence(
      document.units[index], *document.spans[index], index, step, -0.7
    )
    for step, index in enumerate(chosen, start=1)
  ]
  return Summary(
    tuple(sentences), 'selection', tuple(steps), 'm', warnings, document
  )


class Elements(HTMLParser):
  """Start tags in order, and the text of every element that has an id."""

  VOID = ('meta', 'br', 'i')

  def __init__(self, page):
    super().__init__()
    self.tags, self.open, self.texts = [], [], {}
    self.feed(page)
    self.close()

  def handle_starttag(self, tag, attrs):
    self.tags.append((tag, dict(attrs)))
    if tag != 'meta':
      self.open.append((tag, dict(attrs).get('id')))

  def handle_endtag(self, tag):
    assert self.open.pop()[0] == tag

  def handle_data(self, data):
    for _, name in self.open:
      if name:
        self.texts[name] = self.texts.get(name, '') + data

  def all(self, name):
    return [attrs for tag, attrs in self.tags if attrs.get('class') == name]


def test_every_sentence_and_step_is_there():
  summary = example(warnings=('a note.',))
  found = Elements(render_page(summary_page(summary, 'harbour.txt')))
  assert found.open == []
  units = summary.document.units
  for index, unit in enumerate(units):
    # The badge of a chosen sentence comes before it.
    assert found.texts[f'unit-{index + 1}'].strip().endswith(unit)
  badges = {
    each['data-step']: each['aria-label'] for each in found.all('badge')
  }
  assert badges == {'1': 'Chosen at step 2', '0': 'Chosen at step 1'}
  steps = found.all('step')
  assert [each['aria-label'] for each in steps] == [
    'Step 1: chose sentence 4, probability 50\u00a0%',
    'Step 2: chose sentence 1, probability 50\u00a0%',
    'Step 3: the model stopped, probability 50\u00a0%',
  ]
  bars = found.all('bar') + found.all('bar chosen')
  lengths = sorted(
    int(each['style'].removeprefix('--length:')) for each in bars
  )
  assert lengths == sorted(len(unit.split()) for unit in units)
  data = json.loads(found.texts['data'])
  for step, told in zip(summary.steps, data['steps'], strict=True):
    assert told['unit'] == step.index
    assert told['probabilities'] == pytest.approx(step.probabilities, abs=1e-5)
  assert [tag for tag, _ in found.tags].count('p') == 2 + 8 + len(
    summary.sentences
  )
  assert '<li>A note.</li>' in render_page(summary_page(summary, 'x'))


def test_all_text_is_escaped():
  summary = example(f'{NASTY} one. Two.', chosen=(0,), warnings=(NASTY,))
  page = render_page(summary_page(summary, NASTY))
  found = Elements(page)
  assert found.open == []
  # Its own two scripts and what they read, and nothing of the text.
  assert [tag for tag, _ in found.tags].count('script') == 4
  assert ('b', {'a': '1'}) not in found.tags
  assert found.texts['unit-1'].strip() == '1' + summary.document.units[0]
  table = Page(
    'x',
    'x',
    (PageUnit(NASTY, 1),),
    (PageStep(0, NASTY, 0.5, (0.5,), face=NASTY, group=NASTY),),
    unit_name=NASTY,
    length_name=NASTY,
  )
  found = Elements(render_page(table))
  assert [tag for tag, _ in found.tags].count('script') == 2
  assert json.loads(found.texts['data'])['steps'][0]['label'] == NASTY


def test_the_page_needs_no_other_file():
  page = render_page(summary_page(example(), 'x'))
  found = Elements(page)
  assert not re.search(r'https?:|url\(|@import|\bsrc=|<link', page)
  policies = [
    attrs['content'] for _, attrs in found.tags if 'http-equiv' in attrs
  ]
  assert len(policies) == 1
  assert policies[0].startswith("default-src 'none'")
  assert any(attrs.get('name') == 'viewport' for _, attrs in found.tags)


def test_unread_sentences_are_marked():
  summary = example()
  shorter = tuple(
    Step(s.index, s.log_prob, s.probabilities[:20], s.stop)
    for s in summary.steps
  )
  summary = Summary(
    summary.sentences, 'document', shorter, 'm', (), summary.document
  )
  found = Elements(render_page(summary_page(summary, 'x')))
  assert len(found.all('unit unread')) == len(summary.document.spans) - 20


def plan_page():
  """A plan over the entries of a table, in two sentences."""
  units = [
    PageUnit(
      f'Player {i} had {i} points.',
      3,
      cell=Cell('Players', f'Player {i}', 'points', str(i)),
    )
    for i in range(40)
  ]
  even = (1 / 40,) * 40
  steps = (
    PageStep(7, 'chose', 0.9, even, group='Sentence 1'),
    PageStep(None, 'ended the sentence', 0.8, even, 0.0, '.', 'Sentence 1'),
    PageStep(7, 'chose', 0.7, even, group='Sentence 2'),
  )
  return Page(
    'A game',
    'Three steps.',
    tuple(units),
    steps,
    unit_name='entry',
  )


def test_a_plan_has_a_row_per_sentence():
  found = Elements(render_page(plan_page()))
  assert found.open == []
  assert len(found.all('group')) == 2
  # Chosen twice, it is numbered by its first step.
  (badge,) = found.all('badge')
  assert badge['data-step'] == '0'
  assert [each['aria-label'] for each in found.all('step')] == [
    'Step 1: chose Player 7 points 7 90\u00a0%',
    'Step 2: ended the sentence . 80\u00a0%',
    'Step 3: chose Player 7 points 7 70\u00a0%',
  ]


WIDTH = 'return document.documentElement.scrollWidth'
SHOWN = "return document.getElementById('panel').textContent"
FILLED = (
  "return [...document.querySelectorAll('.unit')].map("
  "unit => Number(unit.style.getPropertyValue('--p')))"
)


@pytest.fixture(scope='module')
def browser():
  with browsers.browser() as found:
    yield found


@pytest.fixture
def page(tmp_path):
  path = tmp_path / 'page.html'
  path.write_text(render_page(summary_page(example(), 'harbour.txt')))
  return path


@needs_browser
def test_no_sideways_scrolling(browser, page, tmp_path):
  endless = tmp_path / 'endless.html'
  summary = example('x' * 5000 + '. ' + 'Short one. ' * 200, chosen=(0, 7))
  endless.write_text(render_page(summary_page(summary, 'y' * 500)))
  table = tmp_path / 'table.html'
  table.write_text(render_page(plan_page()))
  for path in (page, endless, table):
    for width in (360, 1200):
      browser.load(path, width, 740)
      assert browser.run(WIDTH) == width
      browser.point('#step-1', click=True)
      assert browser.run(WIDTH) == width


@needs_browser
def test_pointing_shows_a_step_and_pressing_keeps_it(browser, page):
  browser.load(page, 360, 740)
  hint = browser.run(SHOWN)
  browser.point('#step-1')
  assert browser.run(SHOWN).startswith('Step 1: chose sentence 4, probability')
  filled = browser.run(FILLED)
  assert max(filled) == filled[3] == 1
  assert min(filled) > 0
  browser.point('h1')
  assert browser.run(SHOWN) == hint
  assert max(browser.run(FILLED)) == 0
  browser.point('#step-2', click=True)
  browser.point('h1')
  # Focus stays on the button, and so does what it shows.
  assert browser.run(SHOWN).startswith('Step 2: chose sentence 1')
  browser.run('document.activeElement.blur()')
  assert browser.run(SHOWN).startswith('Step 2: chose sentence 1')
  browser.run("document.getElementById('all').open = true")
  rows = 'return [...document.querySelectorAll("#rows tr")].length'
  count = len(example().document.spans)
  browser.wait_for(f'{rows} == {count}')
  pressed = 'return document.querySelectorAll("[aria-pressed=true]").length'
  assert browser.run(pressed) == 1


@needs_browser
def test_the_keyboard_is_enough(browser, page):
  browser.load(page, 1200, 800)
  focused = 'return document.activeElement.id'
  copies = 'return document.activeElement.dataset.copy'
  for name in ('Copy text', 'Copy Markdown'):
    browser.press('\ue004')  # Tab
    assert browser.run(copies) == name
  browser.press('\ue004')
  assert browser.run(focused) == 'step-1'
  assert browser.run(SHOWN).startswith('Step 1')
  outline = 'return getComputedStyle(document.activeElement).outlineStyle'
  assert browser.run(outline) == 'solid'
  browser.press('\ue014')  # Arrow right
  assert browser.run(focused) == 'step-2'
  browser.press('\ue012', '\ue012')  # Arrow left, twice
  assert browser.run(focused) == 'step-3'
  assert 'the model stopped' in browser.run(SHOWN)
  browser.press('\ue007')  # Enter
  assert browser.run('return document.activeElement.ariaPressed') == 'true'
  browser.press('\ue00c')  # Escape
  assert browser.run('return document.activeElement.ariaPressed') == 'false'
  browser.press('\ue004')
  assert browser.run('return document.activeElement.dataset.step') == '1'
  assert browser.run(SHOWN).startswith('Step 2')


@needs_browser
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_colours_can_be_told_apart(browser, page, scheme):
  """WCAG's contrast of text, at rest and where the model is surest."""
  feature = {'name': 'prefers-color-scheme', 'value': scheme}
  browser.devtools('Emulation.setEmulatedMedia', features=[feature])
  browser.load(page, 360, 740)
  names = ('paper', 'panel', 'mark', 'ink', 'faint', 'badge', 'badge-ink')
  colours = {
    name: browser.run(
      'return getComputedStyle(document.documentElement)'
      f'.getPropertyValue("--{name}")'
    ).strip()
    for name in names
  }
  for ink, ground in (
    *(('ink', 'paper'), ('ink', 'mark'), ('ink', 'panel')),
    *(('faint', 'paper'), ('faint', 'panel'), ('badge-ink', 'badge')),
  ):
    assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def contrast(first, second):
  weights = (0.2126, 0.7152, 0.0722)

  def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
      part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
      for part in parts
    ]
    return sum(w * x for w, x in zip(weights, linear, strict=True))

  dark, light = sorted([luminance(first), luminance(second)])
  return (light + 0.05) / (dark + 0.05)


@needs_browser
def test_nothing_is_asked_of_the_network_and_nothing_fails(
  browser, page, tmp_path
):
  browser.log('performance')
  browser.load(page, 1200, 800)
  browser.point('#step-1', click=True)
  browser.screenshot(tmp_path / 'page.png')
  assert (tmp_path / 'page.png').read_bytes().startswith(b'\x89PNG')
  messages = [
    json.loads(entry['message'])['message']
    for entry in browser.log('performance')
  ]
  asked = {
    message['params']['request']['url']
    for message in messages
    if message['method'] == 'Network.requestWillBeSent'
  }
  assert asked == {page.as_uri()}
  assert browser.log('browser') == []
