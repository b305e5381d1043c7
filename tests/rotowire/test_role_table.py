from stepwise.rotowire import NAME_TYPES, game_table, parse_game, role_table
from tests.rotowire.games import game_fields


def texts(table):
  return [entry.text for entry in table.entries]


def test_entries_tell_the_role_of_their_entity():
  table = role_table(parse_game(game_fields()))
  assert {
    'match date Friday',
    'home winner team wins 12 of Easton Herons which is 1st best',
    'away loser team points 92 of Port Vale Comets which is 2nd best',
    'home winner first starter player points 31 of J.T. Lund which is 1st best',
    'away loser third reserve player rebounds 0 of Pim Oster which is 5th best',
  } <= {*texts(table)}


def test_a_table_of_roles_says_the_same_in_fewer_units():
  game = parse_game(game_fields())
  short, whole = role_table(game), game_table(game)
  assert short.relations < whole.relations
  assert not NAME_TYPES & {r.type for r in short.relations} - {'MATCH-DATE'}
  assert short.id == game.id


def test_the_winner_and_the_best_scorers_come_first():
  fields = game_fields()
  fields['vis_line']['TEAM-PTS'] = '120'
  entities = [e.relation.entity for e in role_table(parse_game(fields)).entries]
  assert list(dict.fromkeys(entities)) == [
    'match',
    'Port Vale Comets',
    'Easton Herons',
    'J.T. Lund',
    'Milo Quist',
    'Deon Abara',
    'Aron Vey Jr.',
    'Pim Oster',
  ]


def test_a_long_table_loses_zeros_first():
  game = parse_game(game_fields())
  whole = role_table(game)
  zeros = [e for e in whole.entries if e.droppable]
  table = role_table(game, max_units=3 + len(whole.entries) - len(zeros))
  assert not any(entry.droppable for entry in table.entries)
  assert table.zeros_dropped == len(zeros)
  assert table.entries_cut == 0
