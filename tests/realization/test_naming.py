"""Short names, where they are nobody else's."""

from stepwise.realization._naming import Naming
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields

HERONS, COMETS = 'Easton Herons', 'Port Vale Comets'


def naming(**cells):
  fields = game_fields()
  for name, value in cells.items():
    fields['box_score'][name]['0'] = value
  return Naming(parse_game(fields))


def test_teams_in_full_then_by_name_and_city():
  names = naming()
  assert not names.is_named(HERONS)
  called = [names.team(HERONS) for _ in range(6)]
  assert called == [
    'the Easton Herons',
    *('the Herons', 'the Herons', 'Easton'),
    *('the Herons', 'the Herons'),
  ]
  assert names.plural(HERONS) == 'the Herons'
  assert names.team(COMETS) == 'the Port Vale Comets'


def test_a_city_of_two_teams_is_no_name():
  fields = game_fields()
  cities = {'Easton': 'LA', 'Port Vale': 'Los Angeles'}
  for line in ('home_line', 'vis_line'):
    fields[line]['TEAM-CITY'] = cities[fields[line]['TEAM-CITY']]
  rows = fields['box_score']['TEAM_CITY']
  rows.update({row: cities[city] for row, city in rows.items()})
  names = Naming(parse_game(fields))
  for team in ('LA Herons', 'Los Angeles Comets'):
    called = {names.team(team) for _ in range(9)}
    assert called == {f'the {team}', f'the {team.split()[-1]}'}


def test_a_city_that_somebody_is_called_is_no_name():
  names = naming(SECOND_NAME='Easton')
  assert 'Easton' not in {names.team(HERONS) for _ in range(9)}


def test_players_in_full_then_by_surname():
  names = naming()
  assert [names.player('Milo Quist') for _ in range(2)] == [
    'Milo Quist',
    'Quist',
  ]
  # Two are called Abara.
  assert [names.player('Deon Abara') for _ in range(2)] == ['Deon Abara'] * 2
