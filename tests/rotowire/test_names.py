from stepwise.rotowire import with_names
from stepwise.tables import Relation
from tests.rotowire.season import season_game


def test_names_are_whole_once_then_short():
  game = season_game(0)
  points, rebounds = (
    Relation('J.T. Lund', game.values['J.T. Lund'][type], type)
    for type in ('PLAYER-PTS', 'PLAYER-REB')
  )
  date = Relation('match', game.date.isoformat(), 'MATCH-DATE')
  said = with_names(((points, rebounds), (date, points)), game)
  assert [[r.type for r in sentence] for sentence in said] == [
    [
      *('PLAYER-FIRST_NAME', 'PLAYER-SECOND_NAME', 'PLAYER-PTS'),
      'PLAYER-REB',
    ],
    ['MATCH-DATE', 'PLAYER-SECOND_NAME', 'PLAYER-PTS'],
  ]
