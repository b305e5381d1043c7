import itertools

import pytest

from stepwise._errors import InputError
from stepwise.rotowire import (
  game_table,
  parse_game,
  short_table,
  terse_table,
)
from stepwise.rotowire._role_table import minus_points
from stepwise.rotowire._short_table import TERSE_UNITS
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


def test_what_summaries_mention_least_goes_first():
  whole = short_table(GAME, max_units=None).entries
  room = len(SPECIAL_UNITS) + len(whole) - 1
  cut = short_table(GAME, max_units=room)
  (gone,) = (e.relation for e in whole if e not in cut.entries)
  assert gone.type in ('PLAYER-FTM', 'PLAYER-FTA', 'TEAM-REB')
  whole_count = len(game_table(GAME, max_units=None).entries)
  assert cut.entries_cut == whole_count - len(cut.entries)


@pytest.mark.parametrize('max_units', [20, 30, 50])
def test_better_scorers_have_all_that_others_have(max_units):
  entries = short_table(GAME, max_units=max_units).entries
  kept: dict[str, set[str]] = {}
  for relation in (entry.relation for entry in entries):
    kept.setdefault(relation.entity, set()).add(relation.type)
  ranked = [
    player
    for player in sorted(GAME.players, key=minus_points)
    if player.entity in kept
  ]
  for better, worse in itertools.pairwise(ranked):
    missing = kept[worse.entity] - kept[better.entity]
    # Zeros are no entries.
    assert all(better.values[type] == '0' for type in missing)


def test_terse_entries_say_the_same_in_fewer_words():
  short = short_table(GAME, max_units=TERSE_UNITS).entries
  terse = terse_table(GAME).entries
  assert [e.relation for e in terse] == [e.relation for e in short]
  for new, old in zip(terse, short, strict=True):
    assert len(new.text.split()) < len(old.text.replace('_', ' ').split())
    value = new.relation.value
    assert new.relation.type == 'MATCH-DATE' or value in new.text
  (points,) = (
    e
    for e in terse
    if e.relation[::2] == (GAME.players[0].entity, 'PLAYER-PTS')
  )
  assert points.text.startswith('player points scored ')
  assert points.text.split()[-1][:-2] == str(points.rank)


@pytest.mark.parametrize('max_units', [4, 9, 30, 50])
def test_it_always_fits(max_units):
  table = short_table(GAME, max_units=max_units)
  assert 0 < len(table.entries) <= max_units - len(SPECIAL_UNITS)


def test_no_room():
  with pytest.raises(InputError, match='max_units is 3; it must be more than'):
    short_table(GAME, max_units=3)
