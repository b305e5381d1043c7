"""Wordings take turns that a game decides, and nothing else."""

from itertools import pairwise

from stepwise.realization._turns import Turns
from stepwise.rotowire import parse_game
from tests.realization.full_games import full_game
from tests.rotowire.games import game_fields

WORDINGS = ('one', 'two', 'three')


def taken(turns, count=7):
  return [turns.next(WORDINGS) for _ in range(count)]


def test_neighbours_differ_and_all_have_their_turn():
  words = taken(Turns(full_game(0)))
  assert all(a != b for a, b in pairwise(words))
  assert set(words[:3]) == set(WORDINGS)


def test_a_game_begins_alike_in_every_run():
  # A golden value: `hash` of a string would change with the process.
  assert taken(Turns(parse_game(game_fields())), 2) == ['one', 'two']
  # Wherever the game is read from.
  assert taken(Turns(parse_game(game_fields(), id='other:3')), 1) == ['one']


def test_games_begin_at_different_wordings():
  firsts = {taken(Turns(full_game(seed)), 1)[0] for seed in range(20)}
  assert firsts == set(WORDINGS)


def test_what_is_skipped():
  game = full_game(1)
  assert taken(Turns(game, skip=2), 5) == taken(Turns(game))[2:]


def test_lists_of_wordings_do_not_go_together():
  pairs = set()
  for seed in range(40):
    turns = Turns(full_game(seed))
    pairs.add((turns.next(('a', 'b')), turns.next(('c', 'd'))))
  assert len(pairs) == 4
