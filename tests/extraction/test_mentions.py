"""Names, pronouns and the date of a game in sentences."""

import pytest

from stepwise.extraction import find_entity, read_sentences
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields

HERONS, COMETS = 'Easton Herons', 'Port Vale Comets'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def mentioned(text, game):
  return [
    (' '.join(sentence.tokens[m.start : m.end]), m.entity, m.types)
    for sentence in read_sentences(text, game)
    for m in sentence.mentions
  ]


@pytest.mark.parametrize(
  ('words', 'entity', 'types'),
  [
    ('Easton Herons', HERONS, ('TEAM-CITY', 'TEAM-NAME')),
    ('Port Vale', COMETS, ('TEAM-CITY',)),
    ('Comets', COMETS, ('TEAM-NAME',)),
    ('Milo Quist', 'Milo Quist', ('PLAYER-FIRST_NAME', 'PLAYER-SECOND_NAME')),
    ('Quist', 'Milo Quist', ('PLAYER-SECOND_NAME',)),
    ('Milo', 'Milo Quist', ('PLAYER-FIRST_NAME',)),
    ('JT Lund', 'J.T. Lund', ('PLAYER-FIRST_NAME', 'PLAYER-SECOND_NAME')),
    ('J.T', 'J.T. Lund', ('PLAYER-FIRST_NAME',)),
    ('Aron Vey', 'Aron Vey Jr.', ('PLAYER-FIRST_NAME', 'PLAYER-SECOND_NAME')),
    (
      'Aron Vey Jr.',
      'Aron Vey Jr.',
      ('PLAYER-FIRST_NAME', 'PLAYER-SECOND_NAME'),
    ),
    ('Friday', 'match', ('MATCH-DATE',)),
  ],
)
def test_names(words, entity, types, game):
  assert mentioned(f'It was {words} again .', game) == [(words, entity, types)]


@pytest.mark.parametrize('words', ['quist', 'Saturday', 'Vale', 'He'])
def test_words_that_name_nobody(words, game):
  assert mentioned(f'It was {words} again .', game) == []


def test_a_shared_surname_is_of_the_one_named_last(game):
  text = 'Abara left . Deon Abara and Cole Abara came . Abara sat .'
  names = [entity for _, entity, _ in mentioned(text, game)]
  # Before either is named, of the first in the table.
  assert names == ['Deon Abara', 'Deon Abara', 'Cole Abara', 'Cole Abara']


def test_pronouns_are_the_last_player_or_team(game):
  text = (
    'Lund beat the Comets . His passes found Quist and he smiled . '
    'They lost their way , and Easton took its chance .'
  )
  assert mentioned(text, game) == [
    ('Lund', 'J.T. Lund', ('PLAYER-SECOND_NAME',)),
    ('Comets', COMETS, ('TEAM-NAME',)),
    ('His', 'J.T. Lund', ('PLAYER-SECOND_NAME',)),
    ('Quist', 'Milo Quist', ('PLAYER-SECOND_NAME',)),
    ('he', 'Milo Quist', ('PLAYER-SECOND_NAME',)),
    ('They', COMETS, ('TEAM-NAME',)),
    ('their', COMETS, ('TEAM-NAME',)),
    ('Easton', HERONS, ('TEAM-CITY',)),
    ('its', HERONS, ('TEAM-NAME',)),
  ]
  [first, second, _] = read_sentences(text, game)
  assert [m.pronoun for m in first.mentions + second.mentions] == [
    *(False, False, True, False, True)
  ]


def test_numbers_in_names_are_no_numbers():
  fields = game_fields()
  fields['home_line']['TEAM-NAME'] = '7 Herons'
  game = parse_game(fields)
  [sentence] = read_sentences('The 7 Herons won by 12 .', game)
  assert [m.entity for m in sentence.mentions] == ['Easton 7 Herons']
  assert [n.value for n in sentence.numbers] == [12]


def test_names_in_use_for_known_teams():
  fields = game_fields()
  fields['home_line'] |= {'TEAM-NAME': 'Trail Blazers', 'TEAM-CITY': 'LA'}
  cities = fields['box_score']['TEAM_CITY']
  fields['box_score']['TEAM_CITY'] = {
    row: 'LA' if city == 'Easton' else city for row, city in cities.items()
  }
  game = parse_game(fields)
  for name in ('Blazers', 'Los Angeles Blazers', 'L.A.', 'LA Trail Blazers'):
    assert find_entity(name, game) == 'LA Trail Blazers'


def test_entities_by_name(game):
  names = ['Herons', 'Port Vale Comets', 'Lund', 'Abara', 'Nobody', '']
  assert [find_entity(name, game) for name in names] == [
    *(HERONS, COMETS, 'J.T. Lund', 'Deon Abara', None, None)
  ]
