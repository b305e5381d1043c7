"""Pages as people meet them: in a browser, of every kind."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwise.pages import Cell, ReportEntry
from stepwise.pages._charts import round_ticks
from stepwise.pages._report import find_facts
from tests.pages import browser as browsers
from tests.pages import pages
from tests.pages.browser import needs_browser

AXE = Path(os.environ.get('AXE_CORE', '/nowhere'))
needs_axe = pytest.mark.skipif(
  not AXE.is_file(),
  reason='no axe-core (npm install axe-core; AXE_CORE=.../axe.min.js)',
)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
  """A file of every kind of page."""
  made = tmp_path_factory.mktemp('pages')
  for name, make in pages.PAGES.items():
    (made / f'{name}.html').write_text(make(), encoding='utf-8')
  for language in ('ar', 'zh'):
    text = pages.summary(language)
    (made / f'{language}.html').write_text(text, encoding='utf-8')
  (made / 'a_run').mkdir()
  text = pages.run(made / 'a_run')
  (made / 'run.html').write_text(text, encoding='utf-8')
  return made


@pytest.fixture(scope='module')
def opened():
  with browsers.browser() as found:
    yield found


@needs_browser
def test_pages_fit_phones_and_ask_for_nothing(opened, folder):
  for path in sorted(folder.glob('*.html')):
    for width in (360, 1200):
      opened.load(path, width, 740)
      found = opened.run('return document.documentElement.scrollWidth')
      assert found == width, path.name
  assert opened.log('browser') == []
  asked = re.findall(r'"url":"([^"]*)"', str(opened.log('performance')))
  assert [url for url in asked if url.startswith(('http', 'ws'))] == []


@needs_browser
def test_a_step_leads_to_its_sentence(opened, folder):
  """Among five thousand, on a phone."""
  opened.devtools(
    'Emulation.setEmulatedMedia',
    features=[{'name': 'prefers-reduced-motion', 'value': 'reduce'}],
  )
  opened.load(folder / 'many_sentences.html', 360, 740)
  seen = (
    'const box = document.getElementById("unit-{}").getBoundingClientRect();'
    ' return box.top >= 0 && box.bottom <= innerHeight'
  )
  assert not opened.run(seen.format(2501))
  opened.point('#step-2', click=True)
  opened.wait_for(seen.format(2501))
  bars = 'return document.querySelectorAll(".bar").length'
  assert opened.run(bars) <= 180
  chosen = 'return document.querySelectorAll(".bar.chosen").length'
  assert opened.run(chosen) == 3
  wide = (
    'return document.querySelector(".strip").scrollWidth'
    ' <= document.querySelector(".strip").clientWidth'
  )
  assert opened.run(wide)
  opened.run('document.querySelectorAll(".bar")[0].click()')
  opened.wait_for(seen.format(4))


@needs_browser
def test_a_plan_stands_beside_its_table(opened, folder):
  sides = (
    'const [a, b] = [".answer", "#document"].map(each =>'
    ' document.querySelector(each).getBoundingClientRect());'
  )
  opened.load(folder / 'plan.html', 1200, 800)
  assert opened.run(f'{sides} return a.right <= b.left')
  opened.point('#step-1', click=True)
  now = 'return [...document.querySelectorAll(".now")].map(e => e.dataset.name)'
  assert opened.run(now) == ['Player 1 rebounds']
  opened.load(folder / 'plan.html', 360, 740)
  assert opened.run(f'{sides} return a.bottom <= b.top')


@needs_browser
def test_numbers_and_cells_show_each_other(opened, folder):
  opened.load(folder / 'table_report.html', 1200, 800)
  linked = (
    'return [...document.querySelectorAll(".linked")].map(e => e.tagName)'
  )
  opened.point('.fact')
  assert sorted(opened.run(linked)) == ['A', 'TD']
  opened.point('.fact', click=True)
  target = 'return document.querySelector(":target").tagName'
  assert opened.run(target) == 'TD'


@needs_browser
def test_the_answer_is_copied(opened, folder):
  opened.devtools(
    'Browser.grantPermissions',
    permissions=['clipboardReadWrite', 'clipboardSanitizedWrite'],
  )
  opened.load(folder / 'summary.html', 1200, 800)
  opened.point('[data-copy="Copy Markdown"]', click=True)
  told = 'return document.querySelector(".copied").textContent'
  opened.wait_for(f'{told} === "Copied."')
  said = opened.wait(
    'const done = arguments[0];'
    ' navigator.clipboard.readText().then(done, error => done(String(error)));'
  )
  assert said.startswith('- ') and said.endswith(']\n')


@needs_browser
def test_texts_say_their_language_and_direction(opened, folder):
  way = (
    'const {lang, dir} = document.querySelector("%s");'
    ' return [lang, dir, getComputedStyle(document.querySelector("%s"))'
    '.direction]'
  )
  for language, direction in (('ar', 'rtl'), ('zh', 'ltr')):
    opened.load(folder / f'{language}.html', 360, 740)
    for part in ('.said', '#document', 'h1'):
      found = opened.run(way % (part, part))
      assert found == [language, direction, direction]
  assert opened.run('return document.documentElement.lang') == 'en'


@needs_browser
def test_what_is_printed_has_no_buttons(opened, folder):
  opened.devtools('Emulation.setEmulatedMedia', media='print')
  opened.load(folder / 'summary.html', 800, 1000)
  shown = (
    'return [...document.querySelectorAll("nav, .small, footer, .answer,'
    ' #document")].filter(e => e.offsetParent).map(e => e.className)'
  )
  assert opened.run(shown) == ['answer', 'text']
  opened.devtools('Emulation.setEmulatedMedia', media='')


@needs_browser
@needs_axe
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_axe_finds_nothing(opened, folder, scheme):
  feature = {'name': 'prefers-color-scheme', 'value': scheme}
  opened.devtools('Emulation.setEmulatedMedia', features=[feature])
  for path in sorted(folder.glob('*.html')):
    if path.stem == 'many_sentences':
      continue  # The same page as a short one, and minutes to look at.
    for width in (360, 1200):
      opened.load(path, width, 740)
      assert browsers.violations(opened, AXE) == [], (path.name, width)


def entry(value):
  return ReportEntry(Cell('', 'row', 'column', value))


def test_numbers_are_found_in_their_entries():
  entries = [entry('+7%'), entry('$1,200'), entry('7'), entry('Herons')]
  text = 'It rose by 7% to $1,200 in Q4, 7 more, 7-3, the 1st of 1,200.5.'
  found = [
    (text[start:stop], which and which.cell.value)
    for start, stop, which in find_facts(text, entries)
  ]
  assert found == [
    ('7%', '+7%'),
    ('$1,200', '$1,200'),
    ('7', '7'),
    # Said again.
    ('7', '+7%'),
    ('3', None),
    ('1,200.5', None),
  ]


def test_what_a_text_adds_is_marked():
  page = pages.game_report()
  assert 'class="added"' not in page
  from stepwise.pages import ReportLine, ReportPage, render_report_page

  cell = Cell('Cities', 'Brook', 'rain', '48')
  line = ReportLine('Brook had 48 mm, 20 more.', (ReportEntry(cell),))
  text = render_report_page(ReportPage('Rain', 'One.', (line,), (cell,)))
  assert re.findall(r'class="added"[^>]*>([^<]*)<', text) == ['20']
  assert re.findall(r'class="fact"[^>]*>([^<]*)<', text) == ['48']


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_ticks_surround_what_is_drawn(low, span):
  ticks = round_ticks(low, low + span)
  slack = 1e-9 * max(abs(low), span, 1)
  assert 2 <= len(ticks) <= 8
  assert ticks[0] <= low + slack and ticks[-1] >= low + span - slack
