"""Of the sentences that a search finds, the one that may be written."""

import pytest

from stepwise.realization import InputFormat, TemplateRealizer
from stepwise.realization.learned._by_reference import ReferenceWriter
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

LUND = (
  Relation('J.T. Lund', 'J.T.', 'PLAYER-FIRST_NAME'),
  Relation('J.T. Lund', 'Lund', 'PLAYER-SECOND_NAME'),
  Relation('J.T. Lund', '31', 'PLAYER-PTS'),
  Relation('J.T. Lund', '12', 'PLAYER-AST'),
)
QUIST = (
  Relation('Milo Quist', 'Quist', 'PLAYER-SECOND_NAME'),
  Relation('Milo Quist', '26', 'PLAYER-PTS'),
)
# Slots 4 to 7 of the first: cities and names of the winner and the loser.
GOOD = (0, 1, 'had', 2, 'points and', 3, 'assists .')
TEXT = 'J.T. Lund had 31 points and 12 assists.'


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def authored(game, found, plan=(LUND,)):
  format = InputFormat(context=False, slots=True)
  writer = ReferenceWriter(game, plan, format)
  for number in range(len(plan)):
    writer.add(found.get(number, []))
  return writer.report('learned')


def write(game, found, plan=(LUND,)):
  return tuple(each.text for each in authored(game, found, plan))


def test_what_is_complete_and_true_is_written(game):
  assert write(game, {0: [GOOD]}) == (TEXT,)


def test_who_wrote_what(game):
  found = {0: [GOOD], 1: [('he had', 1, 'points .')]}
  names = [each.realizer for each in authored(game, found, (LUND, QUIST))]
  assert names == ['learned', 'template']


@pytest.mark.parametrize(
  'bad',
  [
    (0, 1, 'had', 2, 'points .'),
    (0, 1, 'had', 2, 'points ,', 3, 'assists and', 3, 'assists .'),
    (0, 1, 'had', 3, 'points and', 2, 'assists .'),
    ('he had', 2, 'points and', 3, 'assists .'),
    (0, 1, 'had', 2, 'points and', 3, 'assists in the loss .'),
    (0, 1, 'had', 2, 'points and', 3, 'assists off the bench .'),
    (0, 1, 'had', 2, 'points and', 3, 'assists and', 4, 'steals .'),
    (0, 1, 'had', 2, 'points . he had', 3, 'assists .'),
  ],
)
def test_what_is_not_is_passed_over(game, bad):
  assert write(game, {0: [bad, GOOD]}) == (TEXT,)
  # If there is nothing else, the template writes the sentence.
  assert write(game, {0: [bad]}) == write(game, {})


def test_without_sentences_it_is_the_report_of_templates(game):
  plan = (LUND, QUIST)
  [templates] = TemplateRealizer().realize([game], [plan])
  assert write(game, {}, plan) == templates


def test_a_report_names_the_team_that_it_turns_to(game):
  plain = (0, 'had', 1, 'points .')
  named = (0, 'had', 1, 'points for the', 5, '.')
  found = {0: [GOOD], 1: [plain, named]}
  assert write(game, found, (LUND, QUIST))[1] == (
    'Milo Quist had 26 points for the Comets.'
  )
  found[1] = [plain]
  assert write(game, found, (LUND, QUIST))[1] == (
    'For the Comets, Milo Quist had 26 points.'
  )


def test_a_report_does_not_say_everything_alike(game):
  vey = tuple(
    Relation('Aron Vey Jr.', value, type)
    for value, type in (
      ('Aron', 'PLAYER-FIRST_NAME'),
      ('Vey', 'PLAYER-SECOND_NAME'),
      ('11', 'PLAYER-PTS'),
      ('13', 'PLAYER-REB'),
    )
  )
  alike = (0, 1, 'had', 2, 'points and', 3, 'rebounds .')
  other = (0, 1, 'added', 2, 'points and', 3, 'rebounds .')
  abara = tuple(
    Relation('Deon Abara', value, type)
    for value, type in (
      ('Deon', 'PLAYER-FIRST_NAME'),
      ('Abara', 'PLAYER-SECOND_NAME'),
      ('11', 'PLAYER-PTS'),
      ('8', 'PLAYER-REB'),
    )
  )
  found = {0: [alike, other], 1: [alike, other]}
  first, second = write(game, found, (vey, abara))
  assert first == 'Aron Vey Jr. had 11 points and 13 rebounds.'
  assert (
    second == 'For the Comets, Deon Abara added 11 points and eight rebounds.'
  )


def test_a_verb_is_not_repeated_at_once(game):
  plan = (LUND, QUIST)
  first = (0, 1, 'added', 2, 'points , adding', 3, 'assists .')
  second = (0, 1, 'tallied', 2, 'points , adding', 3, 'assists .')
  same, other = (0, 'tallied', 1, 'points .'), (0, 'scored', 1, 'points .')
  found = {0: [first, second], 1: [same, other]}
  assert write(game, found, plan)[:2] == (
    'J.T. Lund tallied 31 points, adding 12 assists.',
    'For the Comets, Milo Quist scored 26 points.',
  )


def test_a_result_and_what_else_is_said_of_teams_are_two_sentences(game):
  def of(team, **values):
    return [
      Relation(team, value, f'TEAM-{type}') for type, value in values.items()
    ]

  herons, comets = 'Easton Herons', 'Port Vale Comets'
  plan = (
    (
      *of(herons, NAME='Herons', WINS='12', PTS='104'),
      *of(comets, NAME='Comets', PTS='92', FG_PCT='41'),
      *of(herons, LOSSES='3'),
    ),
  )
  writer = ReferenceWriter(game, plan, InputFormat(True, slots=True))
  assert len(writer) == 2
  # Losses follow wins.
  result = ('the', 0, '(', 1, '-', 2, ') beat the', 4, 3, '-', 5, '.')
  writer.add([result])
  [(given, _)] = writer.inputs(1)
  assert given.previous.endswith('[TEAM-PTS] - [TEAM-PTS] .')
  writer.add([('the', 0, 'shot', 1, 'percent from the field .')])
  [text] = writer.report('learned')
  assert text.said == (
    'The Herons (12-3) beat the Comets 104-92. The Comets shot 41 percent from '
    'the field.'
  )
  # If one is missing, templates write both.
  writer = ReferenceWriter(game, plan, InputFormat(True, slots=True))
  writer.add([result])
  writer.add([])
  [text] = writer.report('learned')
  assert text.realizer == 'template'


def test_sentences_are_asked_for_by_length(game):
  writer = ReferenceWriter(game, (LUND,), InputFormat(True, slots=True))
  texts = [given.previous for given, _ in writer.inputs(0, (-99, 0, 99))]
  assert texts == [
    '[OPENING] [WORDS0]',
    '[OPENING] [WORDS2]',
    '[OPENING] [WORDS9]',
  ]
