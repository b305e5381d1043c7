"""The rule-based extractor on sentences about the invented game."""

import pytest

from stepwise.extraction import lookup_relations, read_sentences
from stepwise.rotowire import parse_game
from tests.rotowire.games import SUMMARY, game_fields

HERONS, COMETS = 'Easton Herons', 'Port Vale Comets'
LUND, VEY, QUIST, ABARA = (
  *('J.T. Lund', 'Aron Vey Jr.', 'Milo Quist', 'Deon Abara'),
)


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def extract(text, game, supported=True):
  found = lookup_relations(read_sentences(text, game), game)
  return [tuple(x.relation) for x in found if x.supported == supported]


def test_a_whole_summary(game):
  assert extract(SUMMARY, game) == [
    (HERONS, '12', 'TEAM-WINS'),
    (HERONS, '3', 'TEAM-LOSSES'),
    (COMETS, '6', 'TEAM-WINS'),
    (COMETS, '9', 'TEAM-LOSSES'),
    (HERONS, '104', 'TEAM-PTS'),
    (COMETS, '92', 'TEAM-PTS'),
    (LUND, '31', 'PLAYER-PTS'),
    (LUND, '12', 'PLAYER-AST'),
    (LUND, '4', 'PLAYER-REB'),
    (LUND, '11', 'PLAYER-FGM'),
    (LUND, '20', 'PLAYER-FGA'),
    (VEY, '11', 'PLAYER-PTS'),
    (ABARA, '11', 'PLAYER-PTS'),
    (COMETS, '41', 'TEAM-FG_PCT'),
    (QUIST, '26', 'PLAYER-PTS'),
  ]
  assert extract(SUMMARY, game, supported=False) == []


@pytest.mark.parametrize(
  ('text', 'relations'),
  [
    # A score may come the other way round.
    (
      'The Comets lost 92 - 104 to Easton .',
      [(COMETS, '92', 'TEAM-PTS'), (HERONS, '104', 'TEAM-PTS')],
    ),
    # Only a team that the sentence names gets its part.
    ('The Comets lost 104 - 92 .', [(COMETS, '92', 'TEAM-PTS')]),
    (
      'Easton won the first quarter 30 - 20 .',
      [(HERONS, '30', 'TEAM-PTS_QTR1')],
    ),
    (
      'The Herons beat the Comets 44 - 39 on the rebounds .',
      [(HERONS, '44', 'TEAM-REB'), (COMETS, '39', 'TEAM-REB')],
    ),
    # 11 turnovers of the Herons, 11 field goals of Lund, 11 points of Vey.
    ('The Herons had only 11 turnovers .', [(HERONS, '11', 'TEAM-TOV')]),
    (
      'Lund made 5 - of - 8 from beyond the arc .',
      [(LUND, '5', 'PLAYER-FG3M'), (LUND, '8', 'PLAYER-FG3A')],
    ),
    (
      'Lund ( 11 - 20 FG , 4 - 4 FT ) beat Quist .',
      [
        (LUND, '11', 'PLAYER-FGM'),
        (LUND, '20', 'PLAYER-FGA'),
        (LUND, '4', 'PLAYER-FTM'),
        (LUND, '4', 'PLAYER-FTA'),
      ],
    ),
    # The value decides between the entities, the nearest before comes first.
    (
      'While Lund watched Quist , 31 points were his and 26 the others .',
      [(LUND, '31', 'PLAYER-PTS')],
    ),
    ('With 26 points , Quist led .', [(QUIST, '26', 'PLAYER-PTS')]),
    # A surname that two share, nobody named before: the first of the table.
    ('Vey watched as Abara had 11 points .', [(ABARA, '11', 'PLAYER-PTS')]),
    # Points by the verb alone, shots without `of`.
    ('Quist scored 26 to lead them .', [(QUIST, '26', 'PLAYER-PTS')]),
    (
      'Lund shot 11 - 20 from the field .',
      [(LUND, '11', 'PLAYER-FGM'), (LUND, '20', 'PLAYER-FGA')],
    ),
    # A sum, though each of them has eleven.
    ('Vey and Deon Abara combined for 11 points .', []),
    # Not listed together: only the nearer of the two.
    (
      'Vey watched as Deon Abara had 11 points .',
      [(ABARA, '11', 'PLAYER-PTS')],
    ),
    # A team's statistic through a pronoun.
    ('The Comets ran . They had 15 turnovers .', [(COMETS, '15', 'TEAM-TOV')]),
    ('Fans saw 31 points .', []),
    ('The Herons won 5 straight games .', []),
  ],
)
def test_sentences(text, relations, game):
  assert extract(text, game) == relations


@pytest.mark.parametrize(
  ('text', 'relations'),
  [
    ('Lund had 33 points .', [(LUND, '33', 'PLAYER-PTS')]),
    ('The Comets shot 50 percent .', [(COMETS, '50', 'TEAM-FG_PCT')]),
    ('The Comets ( 6 - 8 ) lost .', [(COMETS, '8', 'TEAM-LOSSES')]),
    (
      'The Comets ( 5 - 8 ) lost .',
      [(COMETS, '5', 'TEAM-WINS'), (COMETS, '8', 'TEAM-LOSSES')],
    ),
    ('Lund left . He had 33 points .', [(LUND, '33', 'PLAYER-PTS')]),
    (
      'The Herons beat the Comets 140 - 92 .',
      [(HERONS, '140', 'TEAM-PTS')],
    ),
    (
      'Lund was 9 - of - 21 from the field .',
      [(LUND, '9', 'PLAYER-FGM'), (LUND, '21', 'PLAYER-FGA')],
    ),
    # Not of this game, not all of it, no cue, a team's points.
    ('Lund is averaging 33 points .', []),
    ('Lund had 9 points by halftime .', []),
    ('Lund had more than 33 points .', []),
    ('Lund led with 33 .', []),
    ('The Comets bench had 33 points .', []),
  ],
)
def test_claims_that_the_table_does_not_support(text, relations, game):
  assert extract(text, game, supported=False) == relations


def test_extractions_know_their_place(game):
  sentences = read_sentences('It rained . Lund had 31 points .', game)
  [found] = lookup_relations(sentences, game)
  assert found.sentence == 1
  assert sentences[1].tokens[found.number.start] == '31'
  assert sentences[1].tokens[found.mention.start] == 'Lund'
