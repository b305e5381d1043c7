from stepwise.extraction import plan_statistics
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields


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
