"""Pieces of HTML escape all text; every kind of page has the same shell."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwise.evaluation import NamedSummaries, compare_systems, render_html
from stepwise.pages import (
  Html,
  Page,
  PageStep,
  PageUnit,
  html,
  render_page,
  render_shell,
  table,
  tag,
)
from stepwise.realization import TemplateRealizer, render_report, write_report
from stepwise.rotowire import parse_game
from tests.pages.browser import browser, needs_browser
from tests.realization.usual_plans import plan_game
from tests.rotowire.games import game_fields


class Elements(HTMLParser):
  """Start tags in order and all text; complains about unclosed elements."""

  def __init__(self, text):
    super().__init__()
    self.tags, self.open, self.text = [], [], ''
    self.feed(text)
    self.close()
    assert not self.open

  def handle_starttag(self, tag, attrs):
    self.tags.append((tag, dict(attrs)))
    if tag not in ('meta', 'br'):
      self.open.append(tag)

  def handle_endtag(self, tag):
    assert self.open.pop() == tag

  def handle_data(self, data):
    self.text += data


# HTML has no way to write these.
texts = st.text(st.characters(exclude_categories=['Cc', 'Cs']))


@given(texts, texts)
def test_any_text_comes_back_from_a_parser(child, attribute):
  found = Elements(tag('td', tag('b', child), child, data_a_text=attribute))
  assert found.text == 2 * child
  assert found.tags == [('td', {'data-a-text': attribute}), ('b', {})]


def test_what_is_html_is_not_escaped_twice():
  assert html('<', Html('<br>'), tag('br')) == '&lt;<br><br>'
  assert html(html('&')) == '&amp;'
  assert (
    tag('a', id=None, hidden=True, open=False, x=0) == '<a hidden x="0"></a>'
  )


def test_a_table_names_its_rows_and_columns():
  made = table('Some <numbers>', ['', 'a'], [('x & y', [tag('td', '1')])])
  found = Elements(made)
  names = [name for name, _ in found.tags]
  assert names == [
    *('div', 'table', 'thead', 'tr', 'td', 'th', 'tbody', 'tr', 'th', 'td')
  ]
  scopes = [attrs['scope'] for name, attrs in found.tags if name == 'th']
  # The corner has no words.
  assert scopes == ['col', 'row']
  assert found.tags[0][1]['aria-label'] == 'Some <numbers>'


def steps_page():
  units = (PageUnit('One.', 1), PageUnit('Two.', 1))
  steps = (PageStep(1, 'chose sentence', 0.5, (0.3, 0.5), 0.2),)
  return render_page(Page('Title', 'Lead.', units, steps, answer=('Two.',)))


def report_page():
  game = parse_game(game_fields())
  return render_report(write_report(game, plan_game(game), TemplateRealizer()))


def evaluation_page():
  systems = [
    NamedSummaries('a', [('It rained.',)] * 3),
    NamedSummaries('b', [('Snow.',)] * 3),
  ]
  return render_html(compare_systems(systems, [('It rained.',)] * 3))


@pytest.fixture(
  scope='module', params=[steps_page, report_page, evaluation_page]
)
def page(request):
  return request.param()


def test_every_page_is_one_file_that_says_so(page):
  found = Elements(page)
  assert not re.search(r'https?:|url\(|@import|\bsrc=|<link', page)
  (policy,) = (
    attrs['content'] for _, attrs in found.tags if 'http-equiv' in attrs
  )
  assert policy.startswith("default-src 'none'")
  has_script = 'script' in dict(found.tags)
  assert ('script-src' in policy) == has_script
  assert any(attrs.get('name') == 'viewport' for _, attrs in found.tags)


def test_every_page_has_the_answer_before_the_rest(page):
  found = Elements(page)
  classes = [attrs.get('class') for _, attrs in found.tags]
  answer = classes.index('answer')
  for kind in ('unit', 'used'):
    if kind in classes:
      assert answer < classes.index(kind)
  ids = [attrs['id'] for _, attrs in found.tags if 'id' in attrs]
  assert len(ids) == len(set(ids))


def test_pages_differ_from_the_shell_only_where_it_has_room(page):
  """One template and one style."""
  shell = render_shell('TITLE', 'LEAD', Html('BODY'))
  style = re.compile(r'<style>(.*)</style>', re.DOTALL)
  common, own = (style.search(text) for text in (shell, page))
  assert common and own and own[1].startswith(common[1])


@needs_browser
def test_no_page_scrolls_sideways(tmp_path):
  with browser() as opened:
    for make in (steps_page, report_page, evaluation_page):
      path = tmp_path / f'{make.__name__}.html'
      path.write_text(make(), encoding='utf-8')
      for width in (360, 1200):
        opened.load(path, width, 740)
        assert (
          opened.run('return document.documentElement.scrollWidth') == width
        )
      assert opened.log('browser') == []
