"""Candidate pairs and their labels of distant supervision."""

from stepwise.extraction import find_candidates, read_sentences
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.rotowire.games import game_fields


def test_all_pairs_with_the_types_of_the_table():
  game = parse_game(game_fields())
  text = (
    'It rained Friday . Vey and he of the Herons had 11 points , 2 blocks .'
  )
  sentences = read_sentences(text, game)
  candidates = find_candidates(sentences, game)
  # Aron Vey Jr. has 11 points, and 2 free throws tried, assists and turnovers;
  # the Herons have 11 turnovers; `he` is nobody, as in the field.
  two = ('PLAYER-FTA', 'PLAYER-AST', 'PLAYER-TO')
  assert [
    (c.sentence, c.mention.entity, c.number.value, c.types) for c in candidates
  ] == [
    (1, 'Aron Vey Jr.', 11, ('PLAYER-PTS',)),
    (1, 'Easton Herons', 11, ('TEAM-TOV',)),
    (1, 'Aron Vey Jr.', 2, two),
    (1, 'Easton Herons', 2, ()),
  ]


def test_labels_of_another_extractor():
  game = parse_game(game_fields())
  sentences = read_sentences('Vey had 11 points , Lund 11 , 11 in all .', game)
  labels = [
    Relation('Aron Vey Jr.', '11', 'PLAYER-PTS'),
    Relation('J.T. Lund', '12', 'PLAYER-AST'),
  ]
  found = find_candidates(sentences, game, labels)
  assert {(c.mention.entity, c.types) for c in found} == {
    ('Aron Vey Jr.', ('PLAYER-PTS',)),
    ('J.T. Lund', ()),
  }
