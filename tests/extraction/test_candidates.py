"""Candidate pairs and their labels of distant supervision."""

from stepwise.extraction import find_candidates, read_sentences
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields


def test_all_pairs_with_the_types_of_the_table():
  game = parse_game(game_fields())
  text = (
    'It rained Friday . Vey and he of the Herons had 11 points , 2 blocks .'
  )
  sentences = read_sentences(text, game)
  candidates = find_candidates(sentences, game)
  # Aron Vey Jr. has 11 points, and 2 free throws tried, assists and turnovers
  # (`he` is Vey, too); the Herons have 11 turnovers.
  two = ('PLAYER-FTA', 'PLAYER-AST', 'PLAYER-TO')
  assert [
    (c.sentence, c.mention.entity, c.number.value, c.types) for c in candidates
  ] == [
    (1, 'Aron Vey Jr.', 11, ('PLAYER-PTS',)),
    (1, 'Aron Vey Jr.', 11, ('PLAYER-PTS',)),
    (1, 'Easton Herons', 11, ('TEAM-TOV',)),
    (1, 'Aron Vey Jr.', 2, two),
    (1, 'Aron Vey Jr.', 2, two),
    (1, 'Easton Herons', 2, ()),
  ]
  assert [c.mention.pronoun for c in candidates[:2]] == [False, True]
