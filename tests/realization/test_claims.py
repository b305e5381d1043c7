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
