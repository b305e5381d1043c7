"""Reports: where entries are, as JSON and as a page."""

import json
import re
from html.parser import HTMLParser

import pytest

from stepwise.realization import (
  TemplateRealizer,
  check_plan,
  render_report,
  write_report,
)
from stepwise.realization._templates import finish_report
from stepwise.rotowire import parse_game
from stepwise.tables import Relation, parse_plan
from tests.realization.usual_plans import plan_game
from tests.rotowire.games import game_fields

LUND = 'J.T. Lund'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields(), id='game.json:0')


class Lies:
  """Writes the same about everything."""

  name = 'lies'

  def realize(self, games, plans):
    return [tuple('Lund had 30 points.' for _ in plan) for plan in plans]


def test_the_usual_plan_is_of_this_game(game):
  plan = plan_game(game)
  check_plan(plan, game)
  assert plan[0][0] == Relation('Easton Herons', 'Easton', 'TEAM-CITY')
  assert plan[1][2] == Relation(LUND, '31', 'PLAYER-PTS')
  # Who did not play is left out: Easton has two others.
  assert not any(r.entity == 'Cole Abara' for s in plan for r in s)


def test_entries_are_found_in_their_sentences(game):
  report = write_report(game, plan_game(game), TemplateRealizer())
  # What somebody has none of is not looked for.
  assert all(e.stated is not False for s in report.sentences for e in s.entries)
  assert report.warnings == ()
  content = json.loads(json.dumps(report.to_dict()))
  assert parse_plan(content) == plan_game(game)
  assert content['text'] == ' '.join(s['text'] for s in content['sentences'])
  assert content['sentences'][1]['entries'][2] == {
    'entity': LUND,
    'value': '31',
    'type': 'PLAYER-PTS',
    'stated': True,
  }
  assert (content['realizer'], content['planner']) == ('template', 'given')


def test_what_is_not_said_is_known(game):
  points, side = (
    Relation(LUND, '31', 'PLAYER-PTS'),
    Relation('Easton Herons', 'home', 'TEAM-SIDE'),
  )
  report = write_report(game, ((points,), (side,)), Lies())
  [[first], [second]] = [s.entries for s in report.sentences]
  assert first.stated is False
  assert second.stated is None
  assert report.warnings == (
    '1 of 2 planned entries were not found in what lies wrote, first J.T. Lund'
    ' 31 PLAYER-PTS: check the text.',
    'lies wrote what the table does not have, 2 times, first J.T. Lund 30 '
    'PLAYER-PTS: check the text.',
  )
  content = report.to_dict()
  assert content['warnings'] == list(report.warnings)
  assert [sentence['unsure'] for sentence in content['sentences']] == [
    [
      'not found: J.T. Lund 31 PLAYER-PTS',
      'not in the table: J.T. Lund 30 PLAYER-PTS',
    ],
    ['not in the table: J.T. Lund 30 PLAYER-PTS'],
  ]


def test_who_wrote_a_sentence(game):
  plan = plan_game(game)
  report = write_report(game, plan, TemplateRealizer()).to_dict()
  sentences = report['sentences']
  assert {s['realizer'] for s in sentences} == {'template'}
  assert [s['unsure'] for s in sentences] == [[]] * len(plan)
  assert all(s['text'].endswith(s['added']) for s in sentences)
  # How the game went follows the result; the rest is at the end.
  assert [bool(s['added']) for s in sentences] == [
    *(True, *[False] * (len(plan) - 2), True)
  ]
  points = (Relation(LUND, '31', 'PLAYER-PTS'),)
  given = finish_report(game, (points, points), ['Lund had 31.', None], 'mine')
  assert [each.realizer for each in given] == ['mine', 'template']
  assert given[0].text == 'Lund had 31.'


def test_nobody_wrote_nothing(game):
  name = (Relation('Easton Herons', 'Herons', 'TEAM-NAME'),)
  plan = ((Relation('Easton Herons', '104', 'TEAM-PTS'),), name, name)
  report = write_report(game, plan, TemplateRealizer()).to_dict()
  [*_, last] = report['sentences']
  assert (last['text'], last['realizer']) == ('', None)


@pytest.mark.parametrize(
  ('text', 'reason'),
  [
    ('The Herons won 105-92.', 'score 105 - 92'),
    ('Lund was better than Ames.', 'name Ames'),
    ('It was Sunday.', 'day Sunday'),
  ],
)
def test_mistakes_are_marked(game, text, reason):
  class Wrong(Lies):
    def realize(self, games, plans):
      return [(text,)]

  side = Relation('Easton Herons', 'home', 'TEAM-SIDE')
  [sentence] = write_report(game, ((side,),), Wrong()).sentences
  assert f'not in the table: {reason}' in sentence.unsure
  assert sentence.realizer == 'lies'


def test_a_team_named_once_is_named(game):
  points = Relation('Easton Herons', '104', 'TEAM-PTS')
  city = Relation('Easton Herons', 'Easton', 'TEAM-CITY')

  class Late(Lies):
    def realize(self, games, plans):
      return [('The Easton Herons won.', 'The Herons had 104 points.')]

  report = write_report(game, ((), (points, city)), Late())
  assert [e.stated for e in report.sentences[1].entries] == [True, False]
  assert report.warnings == ()


def test_texts_without_a_stop(game):
  class Endless(Lies):
    def realize(self, games, plans):
      return [('Lund had 31 points', '', 'Lund had 12 assists')]

  plan = tuple(
    (Relation(LUND, value, f'PLAYER-{type}'),)
    for value, type in (('31', 'PTS'), ('4', 'REB'), ('12', 'AST'))
  )
  report = write_report(game, plan, Endless())
  stated = [s.entries[0].stated for s in report.sentences]
  assert stated == [True, False, True]
  assert report.text == 'Lund had 31 points Lund had 12 assists'


class Page(HTMLParser):
  """Collects ids, links and classes; complains about unclosed elements."""

  VOID = ('meta', 'br')

  def __init__(self, text):
    super().__init__()
    self.ids, self.links, self.used, self.open = [], [], [], []
    self.feed(text)
    assert not self.open

  def handle_starttag(self, tag, attrs):
    attrs = dict(attrs)
    if tag not in self.VOID:
      self.open.append(tag)
    self.ids += [attrs['id']] if 'id' in attrs else []
    self.links += [attrs['href']] if tag == 'a' else []
    self.used += [attrs['id']] if 'used' in attrs.get('class', '') else []

  def handle_endtag(self, tag):
    assert self.open.pop() == tag


def test_the_page_links_cells_and_sentences(game):
  plan = plan_game(game)
  text = render_report(write_report(game, plan, TemplateRealizer()))
  page = Page(text)
  assert len(page.ids) == len(set(page.ids))
  assert {link.removeprefix('#') for link in page.links} <= set(page.ids)
  entries = {r for s in plan for r in s if r.entity != 'match'}
  assert len(page.used) == len(entries)
  assert 'http:' not in text
  assert 'name="viewport"' in text
  assert re.search(r'href="#sentence-2">31</a>', text)
  # Every number of a template is of the plan.
  assert 'class="added"' not in text


def test_the_page_escapes_everything():
  nasty = '<b>"Herons" & Co</b>'
  fields = game_fields()
  fields['home_line']['TEAM-NAME'] = nasty
  game = parse_game(fields)
  report = write_report(
    game, plan_game(game), TemplateRealizer(), planner='<i>'
  )
  text = render_report(report)
  assert '<b>' not in text and '<i>' not in text
  assert '&lt;b&gt;&quot;Herons&quot; &amp; Co&lt;/b&gt;' in text


def test_what_is_not_said_is_framed(game):
  plan = ((Relation(LUND, '31', 'PLAYER-PTS'),),)
  assert 'class="used unsaid"' in render_report(
    write_report(game, plan, Lies())
  )
