"""The page of the server, used by a browser on a desk and on a phone."""

import json
import re

import pytest

from stepwise.serve import ServeConfig, make_app
from stepwise.summarization import load_summarizer, sample_article
from tests.pages import browser as browsers
from tests.pages.browser import needs_browser
from tests.pages.test_pages import AXE, needs_axe
from tests.serve.servers import serving

pytestmark = needs_browser

DONE = 'return document.getElementById("status").textContent === "Done."'
STATUS = 'return document.getElementById("status").textContent'


@pytest.fixture(scope='module')
def address():
  with serving() as found:
    yield found


@pytest.fixture(scope='module')
def opened():
  with browsers.browser() as found:
    yield found


def load(opened, address, width):
  opened.load(f'{address}/', width, 760)
  opened.wait_for('return document.getElementById("model").options.length > 3')
  opened.run('document.getElementById("model").value = "lexrank"')


@pytest.mark.parametrize('width', [360, 1200])
def test_a_text_is_summarised(opened, address, width):
  load(opened, address, width)
  opened.run(
    'document.getElementById("text").value = arguments[0]', sample_article()
  )
  opened.run(
    'const length = document.getElementById("length");'
    ' length.value = "sentences"; length.dispatchEvent(new Event("change"));'
    ' document.getElementById("number").value = "2"'
  )
  opened.point('#go', click=True)
  opened.wait_for(DONE)
  steps = opened.run(
    'return [...document.querySelectorAll("#chosen li")].map('
    'e => e.firstChild.textContent)'
  )
  expected = [
    each.text for each in load_summarizer('lexrank')(sample_article())
  ]
  assert len(steps) == 2
  assert set(steps) <= set(expected)
  opened.enter('#page')
  opened.wait_for('return document.querySelectorAll(".said p").length === 2')
  opened.point('#step-1', click=True)
  pressed = 'return document.getElementById("step-1").ariaPressed'
  assert opened.run(pressed) == 'true'
  # Its script runs, but it knows nothing of the page around it.
  assert opened.run('return window.origin') == 'null'
  opened.leave()
  wide = 'return document.documentElement.scrollWidth'
  assert opened.run(wide) == width
  kept = json.loads(opened.run('return localStorage.getItem("history")'))
  assert kept[0]['body']['text'] == sample_article()
  assert opened.run('return document.cookie') == ''


def test_a_table_is_written_about(opened, address):
  load(opened, address, 1200)
  for kind, part in (('report', '.fact'), ('plan', '.step')):
    opened.run('document.getElementById("status").textContent = ""')
    opened.run(f'document.querySelector("[value={kind}]").click()')
    opened.run('document.getElementById("sample").click()')
    opened.run('document.getElementById("form").requestSubmit()')
    opened.wait_for(DONE)
    opened.enter('#page')
    opened.wait_for(f'return document.querySelectorAll("{part}").length > 3')
    opened.leave()


def test_a_mistake_is_told(opened, address):
  load(opened, address, 360)
  opened.run('document.getElementById("form").requestSubmit()')
  assert opened.run(STATUS) == 'There is nothing to read yet.'
  opened.run('document.querySelector("[value=report]").click()')
  opened.run('document.getElementById("text").value = "a,b"')
  opened.run('document.getElementById("form").requestSubmit()')
  opened.wait_for(f'{STATUS}.includes("no rows")')


def test_a_file_is_dropped(opened, address):
  load(opened, address, 1200)
  opened.run(
    'const data = new DataTransfer();'
    ' data.items.add(new File(["a,b\\nx,1\\ny,2"], "small.csv"));'
    ' document.getElementById("drop").dispatchEvent('
    'new DragEvent("drop", {dataTransfer: data, cancelable: true}))'
  )
  opened.wait_for('return document.getElementById("text").value !== ""')
  kind = 'return document.querySelector("[name=what]:checked").value'
  assert opened.run(kind) == 'report'


def test_nothing_is_asked_of_others(opened, address):
  """By all that was done before."""
  told = [each['message'] for each in opened.log('browser')]
  # A mistake is answered with a status, which browsers write down.
  assert all(' 422 ' in each for each in told)
  asked = re.findall(r'"url":"(http[^"]*)"', str(opened.log('performance')))
  assert asked and all(url.startswith(address) for url in asked)


def test_history_is_forgotten(opened, address):
  load(opened, address, 1200)
  listed = 'return document.querySelectorAll("#past li").length'
  assert opened.run(listed) > 0
  opened.run('document.getElementById("forget").click()')
  assert opened.run(listed) == 0
  assert opened.run('return localStorage.getItem("history")') is None


def test_the_token_is_in_the_address(opened):
  with serving(make_app(ServeConfig(token='s3cret'))) as address:
    opened.load(f'{address}/', 1200, 760)
    opened.wait_for(f'{STATUS}.startsWith("a token is needed")')
    opened.load('about:blank', 1200, 760)
    load(opened, f'{address}/#token=s3cret&', 1200)
    assert opened.run('return location.hash') == ''


@needs_axe
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_axe_finds_nothing(opened, address, scheme):
  feature = {'name': 'prefers-color-scheme', 'value': scheme}
  opened.devtools('Emulation.setEmulatedMedia', features=[feature])
  for width in (360, 1200):
    load(opened, address, width)
    assert browsers.violations(opened, AXE) == []
    opened.run('document.getElementById("sample").click()')
    opened.wait_for('return document.getElementById("text").value !== ""')
    opened.run('document.getElementById("form").requestSubmit()')
    opened.wait_for(DONE)
    assert browsers.violations(opened, AXE) == []
