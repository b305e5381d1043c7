from stepwise.rotowire import count_shared, parse_game, plan_statistics
from tests.rotowire.games import game_fields
from tests.rotowire.season import season_game


def test_entries_and_sentences_of_a_known_plan():
  summary = 'Herons won on Friday . Fans sang . J.T. Lund had 31 points .'
  game = parse_game(game_fields(summary))
  silent = parse_game(game_fields(''))
  found = plan_statistics([game, silent])
  # The team, the date; two names and the points.
  assert found.to_dict() == {
    'games': 2,
    'without_summary': 1,
    'entries': 5.0,
    'sentences': 2.0,
    'relations': 1.0,
    'longest': 8,
  }


def test_shared_games_are_counted_by_day_and_teams():
  first = [season_game(seed) for seed in (0, 1, 1, 2)]
  second = [season_game(seed) for seed in (2, 1, 5)]
  assert count_shared([first, second]) == {(0, 0): 1, (0, 1): 2, (1, 1): 0}
