"""Games as SportSett exports them are those of Rotowire."""

import json

import pytest

from stepwise._errors import InputError
from stepwise.rotowire import parse_game, read_games
from tests.rotowire.games import PLAYER_STATS, SUMMARY, game_fields

# What the export calls otherwise; it has no positions.
NAMES = {'REB': 'TREB', 'TO': 'TOV'}
NUMBERS = [name for name in PLAYER_STATS if name != 'START_POSITION']
TEAM_NUMBERS = ('PTS', 'AST', 'TOV', 'REB', 'FG_PCT', 'FG3_PCT', 'FT_PCT')
SPELLINGS = ('True', 'true', True)


def exported():
  """The game of the tests in the other layout."""
  game, rows = game_fields(), []
  box = game['box_score']
  for place in box['PLAYER_NAME']:
    cells = {name: column[place] for name, column in box.items()}
    out = 'N/A' in (cells['MIN'], cells['PTS']) or cells['MIN'] == '0'
    starts = cells['START_POSITION'] != 'N/A'
    rows.append(
      {
        'first_name': cells['FIRST_NAME'],
        'last_name': cells['SECOND_NAME'],
        'name': cells['PLAYER_NAME'],
        'place': cells['TEAM_CITY'],
        'starter': SPELLINGS[len(rows) % 3] if starts else 'False',
        '+/-': '-3',
        'DOUBLE': 'none',
        **{
          NAMES.get(name, name): '0' if out else cells[name] for name in NUMBERS
        },
      }
    )
  teams = {}
  for side, line in (('home', game['home_line']), ('vis', game['vis_line'])):
    own = [row for row in rows if row['place'] == line['TEAM-CITY']]
    teams[side] = {
      'name': line['TEAM-NAME'],
      'place': line['TEAM-CITY'],
      'wins': line['TEAM-WINS'],
      'losses': int(line['TEAM-LOSSES']),
      'line_score': {
        'game': {NAMES.get(n, n): line[f'TEAM-{n}'] for n in TEAM_NUMBERS},
        'H1': {'PTS': '3025'},
        **{f'Q{n}': {'PTS': line[f'TEAM-PTS_QTR{n}']} for n in range(1, 5)},
      },
      # Not sorted by who started.
      'box_score': own[::-1],
    }
  return {
    'sportsett_id': '7',
    'game': {'day': '11', 'month': 'March', 'year': '2016', 'city': 'Easton'},
    'teams': teams,
    'summaries': [SUMMARY, 'Another.'],
  }


def test_both_layouts_give_one_game():
  ours, theirs = parse_game(game_fields()), parse_game(exported())
  assert theirs.date == ours.date
  assert theirs.teams == ours.teams
  assert theirs.summary == ours.summary
  assert {p.entity for p in theirs.players} == {p.entity for p in ours.players}
  for entity in (player.entity for player in ours.players):
    expected = dict(ours.values[entity])
    if expected['PLAYER-START_POSITION'] != 'N/A':
      expected['PLAYER-START_POSITION'] = 'starter'
    if expected['PLAYER-MIN'] == '0':
      expected |= {f'PLAYER-{name}': 'N/A' for name in NUMBERS}
    assert theirs.values[entity] == expected


def test_a_list_and_a_game_a_line(tmp_path):
  (tmp_path / 'g.json').write_text(json.dumps([exported()], indent=1))
  lines = f'{json.dumps(exported())}\n{json.dumps(game_fields())}\n'
  (tmp_path / 'g.jsonl').write_text(lines)
  [one] = read_games(tmp_path / 'g.json')
  two = read_games(tmp_path / 'g.jsonl')
  assert [game.teams for game in two] == [one.teams] * 2


@pytest.mark.parametrize(
  ('change', 'message'),
  [
    ({'teams': {'home': {}}}, "'teams.vis' must be an object"),
    ({'game': {'day': '1', 'month': 'Brumaire'}}, "month 'Brumaire'"),
  ],
)
def test_mistakes_are_named(change, message):
  with pytest.raises(InputError, match=message):
    parse_game({**exported(), **change})


def test_teams_of_one_city_keep_their_players():
  fields = exported()
  for team in fields['teams'].values():
    team['place'] = 'Easton'
  game = parse_game(fields)
  by_team = {player.entity: player.team for player in game.players}
  assert by_team['J.T. Lund'] == 'Easton Herons'
  assert by_team['Milo Quist'] == 'Easton Comets'


def test_lines_without_players():
  fields = exported()
  fields['teams']['home']['box_score'] = {'name': 'J.T. Lund'}
  with pytest.raises(InputError, match='must be a list of players'):
    parse_game(fields)
