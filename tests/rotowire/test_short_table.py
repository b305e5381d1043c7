import pytest

from stepwise._errors import InputError
from stepwise.rotowire import game_table, parse_game, short_table
from stepwise.tables import SPECIAL_UNITS
from tests.rotowire.games import game_fields

GAME = parse_game(game_fields())


def test_its_entries_are_those_of_the_paper_in_their_order():
  whole = game_table(GAME, max_units=None).entries
  short = short_table(GAME, max_units=None).entries
  assert 0 < len(short) < len(whole)
  places = [whole.index(entry) for entry in short]
  assert places == sorted(places)


def test_zeros_and_what_nobody_mentions_go():
  entries = short_table(GAME, max_units=None).entries
  types = {entry.relation.type for entry in entries}
  assert not any(entry.droppable for entry in entries)
  assert not {'PLAYER-PF', 'PLAYER-START_POSITION', 'TEAM-PTS_QTR2'} & types
  assert {'PLAYER-SECOND_NAME', 'PLAYER-TEAM', 'TEAM-SIDE'} <= types


def test_players_with_the_fewest_points_go_first():
  whole = short_table(GAME, max_units=None).entries
  room = len(SPECIAL_UNITS) + len(whole) - 1
  cut = short_table(GAME, max_units=room)
  everybody = {entry.relation.entity for entry in whole}
  kept = {entry.relation.entity for entry in cut.entries}
  (gone,) = everybody - kept
  points = {p.entity: p.values['PLAYER-PTS'] for p in GAME.players}
  numbers = {who: int(n) if n.isdigit() else -1 for who, n in points.items()}
  assert numbers[gone] == min(
    number for who, number in numbers.items() if who in everybody
  )
  whole_count = len(game_table(GAME, max_units=None).entries)
  assert cut.entries_cut == whole_count - len(cut.entries)


@pytest.mark.parametrize('max_units', [4, 9, 30, 50])
def test_it_always_fits(max_units):
  table = short_table(GAME, max_units=max_units)
  assert 0 < len(table.entries) <= max_units - len(SPECIAL_UNITS)


def test_no_room():
  with pytest.raises(InputError, match='max_units is 3; it must be more than'):
    short_table(GAME, max_units=3)
