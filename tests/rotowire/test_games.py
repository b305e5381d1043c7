"""Reading box scores, mistakes in them, and the units of a game."""

import copy
import datetime
import json

import pytest
import zstandard

from stepwise._errors import InputError
from stepwise.rotowire import game_table, parse_game, read_games
from tests.rotowire.games import SUMMARY, game_fields


@pytest.fixture
def game():
  return parse_game(game_fields(), id='g:0')


def test_a_game(game):
  assert game.date == datetime.date(2016, 3, 11)
  assert game.home.entity == 'Easton Herons'
  assert game.visitor.values['TEAM-PTS'] == '92'
  assert [player.entity for player in game.players] == [
    *('Milo Quist', 'Deon Abara', 'Pim Oster'),
    *('J.T. Lund', 'Aron Vey Jr.', 'Cole Abara'),
  ]
  assert game.players[0].team == 'Port Vale Comets'
  assert game.values['J.T. Lund']['PLAYER-AST'] == '12'
  assert game.summary == SUMMARY


def test_the_sentences_of_the_paper(game):
  texts = [entry.text for entry in game_table(game).entries]
  assert texts[0] == (
    'match date of match is year: 2016 month: 03 day: 11 day_of_week: 4'
  )
  for text in (
    'team name of Easton_Herons is Herons',
    'team city of Port_Vale_Comets is Port_Vale',
    'team 1st quarter points of Easton_Herons is 30 which is 1st best',
    'team losses of Port_Vale_Comets is 9 which is 1st best',
    'Easton_Herons is home team of match',
    'Port_Vale_Comets is away team of match',
    'player first name of J.T._Lund is J.T.',
    'player second name of Aron_Vey_Jr. is Vey',
    'player points scored of Milo_Quist is 26 which is 2nd best',
    'player points scored of Deon_Abara is 11 which is 3rd best',
    'player points scored of Aron_Vey_Jr. is 11 which is 3rd best',
    'player points scored of Pim_Oster is 0 which is 5th best',
    'player starting position of Aron_Vey_Jr. is C',
    'Milo_Quist is player of Port_Vale_Comets',
  ):
    assert text in texts
  assert not any('N/A' in text for text in texts)


def test_every_value_is_an_entry_unless_it_is_missing(game):
  # 1 date, 2 x 16 of teams; players: 23 each but for the starting position
  # of one and all 20 statistics of another.
  assert len(game_table(game).entries) == 1 + 32 + 6 * 23 - 1 - 20


def test_zeros_of_players_make_room(game):
  everything = game_table(game, max_units=None)
  zeros = [e for e in everything.entries if e.relation.value == '0']
  table = game_table(game, max_units=3 + len(everything.entries) - 2)
  dropped = set(everything.entries) - set(table.entries)
  assert dropped == set(zeros[-2:])
  assert all(e.relation.type.startswith('PLAYER-') for e in dropped)


def test_files_lists_single_games_and_compression(tmp_path):
  fields = game_fields()
  (tmp_path / 'two.json').write_text(json.dumps([fields, fields]))
  (tmp_path / 'one.json').write_text(json.dumps(fields))
  packed = zstandard.ZstdCompressor().compress(json.dumps([fields]).encode())
  (tmp_path / 'z.json.zst').write_bytes(packed)
  two = read_games(tmp_path / 'two.json')
  assert [game.id for game in two] == ['two.json:0', 'two.json:1']
  [one], [z] = (read_games(tmp_path / n) for n in ('one.json', 'z.json.zst'))
  assert one.players == z.players == two[0].players


def test_numbers_may_be_numbers_and_a_summary_may_be_missing(game):
  fields = game_fields()
  fields['home_line']['TEAM-PTS'] = 104
  del fields['summary']
  parsed = parse_game(fields)
  assert parsed.home == game.home
  assert parsed.summary == ''


@pytest.mark.parametrize('home_first', [True, False])
def test_teams_of_one_city_are_told_by_points(home_first):
  fields = game_fields()
  fields['vis_line']['TEAM-CITY'] = 'Easton'
  box = fields['box_score']
  box['TEAM_CITY'] = dict.fromkeys(box['TEAM_CITY'], 'Easton')
  # 26 + 11 points of the first block, 31 + 11 of the second.
  points = ('37', '42') if home_first else ('42', '37')
  fields['home_line']['TEAM-PTS'], fields['vis_line']['TEAM-PTS'] = points
  teams = [player.team for player in parse_game(fields).players]
  first, second = 'Easton Herons', 'Easton Comets'
  if not home_first:
    first, second = second, first
  assert teams == [first] * 3 + [second] * 3


def broken(*path, value=None):
  fields = copy.deepcopy(game_fields())
  inner = fields
  for key in path[:-1]:
    inner = inner[key]
  if value is None:
    del inner[path[-1]]
  else:
    inner[path[-1]] = value
  return fields


@pytest.mark.parametrize(
  ('fields', 'message'),
  [
    ([], 'an object is needed, not list'),
    (broken('home_line'), "'home_line' must be an object, not None"),
    (broken('vis_line', 'TEAM-REB'), "vis_line: 'TEAM-REB' is None"),
    (broken('vis_line', 'TEAM-REB', value=[3]), r"'TEAM-REB' is \[3\]"),
    (broken('box_score', 'STL'), "'STL' must be an object"),
    (broken('box_score', 'STL', '2'), "box_score.STL: '2' is None"),
    (
      broken('box_score', 'TEAM_CITY', '1', value='Nowhere'),
      "box_score.TEAM_CITY: 'Deon Abara' plays for 'Nowhere'",
    ),
    (broken('vis_line', value=game_fields()['home_line']), 'are both'),
    (broken('day'), "'day' is None"),
    (broken('day', value='2016-03-11'), "'day' is '2016-03-11'; month, day"),
    (broken('summary', value=3), "'summary' must be a string or a list"),
  ],
)
def test_mistakes_name_game_and_field(tmp_path, fields, message):
  path = tmp_path / 'games.json'
  path.write_text(json.dumps([game_fields(), fields]))
  with pytest.raises(InputError, match=f'game 1: .*{message}'):
    read_games(path)


@pytest.mark.parametrize(
  ('content', 'message'),
  [('{', 'not JSON'), ('[]', 'a list of one or more'), ('3', 'a list of one')],
)
def test_files_that_are_no_games(tmp_path, content, message):
  path = tmp_path / 'games.json'
  path.write_text(content)
  with pytest.raises(InputError, match=message):
    read_games(path)
