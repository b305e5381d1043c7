"""Words without numbers are true, or are not written."""

import pytest

from stepwise.realization._claims import Claims
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

NAMES = {
  'Lund': Relation('J.T. Lund', 'Lund', 'PLAYER-SECOND_NAME'),
  'Vey': Relation('Aron Vey Jr.', 'Vey', 'PLAYER-SECOND_NAME'),
  'Quist': Relation('Milo Quist', 'Quist', 'PLAYER-SECOND_NAME'),
  'Abara': Relation('Deon Abara', 'Abara', 'PLAYER-SECOND_NAME'),
  'Herons': Relation('Easton Herons', 'Herons', 'TEAM-NAME'),
  'Comets': Relation('Port Vale Comets', 'Comets', 'TEAM-NAME'),
  'Easton': Relation('Easton Herons', 'Easton', 'TEAM-CITY'),
  'Vale': Relation('Port Vale Comets', 'Port Vale', 'TEAM-CITY'),
  '31': Relation('J.T. Lund', '31', 'PLAYER-PTS'),
  '26': Relation('Milo Quist', '26', 'PLAYER-PTS'),
  '11': Relation('Deon Abara', '11', 'PLAYER-PTS'),
  '8': Relation('Deon Abara', '8', 'PLAYER-REB'),
  '44': Relation('Easton Herons', '44', 'TEAM-REB'),
  '39': Relation('Port Vale Comets', '39', 'TEAM-REB'),
  '28': Relation('Easton Herons', '28', 'TEAM-PTS_QTR4'),
}
SLOTS = list(NAMES.values())


def supported(text, **changes):
  """Whether words are; names and numbers of `NAMES` are slots."""
  fields = game_fields()
  for column, rows in changes.items():
    fields['box_score'][column].update(rows)
  places = list(NAMES)
  pieces = tuple(
    places.index(word) if word in NAMES else word for word in text.split()
  )
  return Claims(parse_game(fields)).support(pieces, SLOTS)


@pytest.mark.parametrize(
  ('true', 'false'),
  [
    ('Lund led the team with 31 points', 'Abara led the team with 11 points'),
    ('they were led by Lund with 31', 'the Comets were led by Abara with 11'),
    ('Lund had a game - high 31', 'Quist had a game - high 26'),
    ('Quist had a team - high 26', 'Abara had a team - high 11'),
    ('Lund had a double - double', 'Quist had a double - double'),
    ('Vey had a double - double', 'Vey had a triple - double'),
    ('Abara reached double figures', 'double up for Abara'),
    ('Lund had 31 in the win', 'Lund had 31 in the loss'),
    ('despite the loss , Quist had 26', 'despite the win , Quist had 26'),
    ('the Herons defeated the Comets', 'the Comets defeated the Herons'),
    ('the Herons took down the Comets', 'the Comets took down the Herons'),
    ('the Comets fell to the Herons', 'the Herons fell to the Comets'),
    ('the Herons rebounded Comets 44 - 39', 'the Comets rebounded 39 - 44'),
    ('the host Herons won', 'the visiting Herons won'),
    ('the Comets lost on the road', 'the Comets lost at home'),
    ('in Easton the Herons had 44', 'in Vale the Herons had 44'),
    (
      'Herons had 28 in the fourth quarter',
      'Herons had 28 in the first quarter',
    ),
    ('Abara had 8 rebounds', 'Abara had an assist'),
    ('Lund and his 31', 'his 31 and Lund'),
    ('Herons shot from three - point range', 'Herons had three'),
    ('starting with Lund', 'Lund came off the bench'),
    ('Lund had 31', 'Lund had 31 for the night'),
    ('Lund had 31 points', 'Lund had Easton points'),
    ('Lund ( 31 points ) won', 'Lund had 31 points )'),
    ('Lund had a game - high of 31', 'Quist had a game - high of 26'),
    ('Abara had double - digits', 'Abara had a double - double'),
    ('Abara was second on the team', 'Quist was second on the team'),
    (
      'the Herons beat the Comets , winning 44 - 39',
      'the Comets fell to the Herons , winning 39 - 44',
    ),
    ('Abara had only 11', 'Abara was the only one with 11'),
    (
      'Abara was the only other player in double figures with 11',
      'Quist was the only other player in double figures with 26',
    ),
    ('on the other side Abara had 11', 'the other team had 44'),
    ('Lund led all scorers with 31', 'Quist led all scorers with 26'),
    ('an all - around effort by Lund', 'Lund did it all'),
    ('Lund shot 11 - of - 26', 'Lund shot 11 - of - Easton'),
    ('Abara had just 11', 'Quist had just 26'),
    (
      'Lund had 31 for Easton , with 44',
      'Lund had 31 for the Easton , with 44',
    ),
    ('Quist led the way for the Comets with 26', 'Quist had 26 for the Herons'),
    ('for the Herons , Lund had 31', 'Lund had 31 for Herons'),
    ('the Herons were able to win', 'the Herons were able to Easton'),
    ('as a team the Herons had 44', 'as a team the Herons had 44 as a team'),
    ('Lund got the start', 'Herons won in overtime'),
  ],
)
def test_words_are_checked(true, false):
  # `they` must be somebody.
  assert supported(true.replace('they', 'the Herons'))
  assert not supported(false)


def test_who_came_from_the_bench():
  rows = {'START_POSITION': {'1': 'N/A'}}
  assert supported('Abara led the bench with 11 points', **rows)
  assert not supported('Abara led the bench with 11 points')
  assert not supported('starting with Abara', **rows)
  assert not supported('Abara led the bench with 11 off the bench', **rows)


def test_without_a_winner_nothing_is_certain():
  fields = game_fields()
  fields['home_line']['TEAM-PTS'] = fields['vis_line']['TEAM-PTS']
  assert not Claims(parse_game(fields)).support(('the',), [])


def impossible(*names, **changes):
  fields = game_fields()
  for column, rows in changes.items():
    fields['box_score'][column].update(rows)
  sentence = [NAMES[name] for name in names]
  return Claims(parse_game(fields)).impossible(sentence)


def test_words_that_can_be_true_of_nobody():
  lund, abara = impossible('Lund', '31'), impossible('Abara', '11')
  # He led, had the most points and won; the other did not.
  assert not {'led', 'high', 'win', 'double', 'well'} & lund
  assert {'loss', 'bench', 'second', 'triple', 'overtime', 'night'} <= lund
  assert {'led', 'high', 'win', 'bench'} <= abara
  # He scored ten points, as only one mate did.
  assert not {'loss', 'second', 'player', 'double'} & abara
  both = impossible('Lund', '31', 'Abara', '11')
  assert not {'win', 'loss', 'led', 'second'} & both
  bench = impossible('Abara', '11', START_POSITION={'1': 'N/A'})
  assert not {'bench', 'led'} & bench


def test_what_is_possible_is_not_more_than_what_is_supported():
  """A word that cannot be is in no sentence that may be written."""
  for text in (
    'Lund led the Herons with 31 points',
    'Quist had 26 in the loss',
    'Abara had 11 , second on the team',
    'Herons had 28 in the fourth quarter',
  ):
    names = [word for word in text.split() if word in NAMES]
    assert supported(text)
    assert not impossible(*names) & set(text.split())


def test_a_double_double_is_that_of_the_numbers_before_it():
  # His assists make it one, not what is said.
  four = Relation('J.T. Lund', '4', 'PLAYER-REB')
  pieces = (0, 'had a', 1, '- point ,', 2, '- rebound double - double')
  claims = Claims(parse_game(game_fields()))
  slots = [NAMES['Lund'], NAMES['31'], four]
  assert not claims.support(pieces, slots)
  twelve = Relation('J.T. Lund', '12', 'PLAYER-AST')
  pieces = (0, 'had a', 1, '- point ,', 2, '- assist double - double')
  assert claims.support(pieces, [*slots[:2], twelve])
