"""What the realizer reads, and which plans it takes."""

import pytest

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.extraction import oracle_plan
from stepwise.realization import (
  GameInputs,
  InputFormat,
  check_plan,
  encode_inputs,
  known_entries,
)
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.rotowire.games import game_fields

HERONS, LUND = 'Easton Herons', 'J.T. Lund'
SENTENCE = (
  Relation(LUND, 'Lund', 'PLAYER-SECOND_NAME'),
  Relation(LUND, '31', 'PLAYER-PTS'),
  Relation('Port Vale Comets', 'Comets', 'TEAM-NAME'),
)


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields())


def test_all_parts_in_the_order_of_the_paper(game):
  text = GameInputs(game)(SENTENCE, 'The Herons won (12-3).').text
  assert text == ' '.join(
    [
      'The Herons won ( 12 - 3 ) . <BEG>',
      'player second name of J.T._Lund is Lund',
      'player points scored of J.T._Lund is 31 which is 1st best',
      'team name of Port_Vale_Comets is Comets <CONTEXT>',
      'match date of match is year: 2016 month: 03 day: 11 day_of_week: 4',
      'team name of Easton_Herons is Herons',
      'team city of Easton_Herons is Easton',
      'team points scored of Easton_Herons is 104 which is 1st best',
      'team wins of Easton_Herons is 12 which is 1st best',
      'team losses of Easton_Herons is 3 which is 2nd best',
      'Easton_Herons is home team of match',
      'team name of Port_Vale_Comets is Comets',
      'team city of Port_Vale_Comets is Port_Vale',
      'team points scored of Port_Vale_Comets is 92 which is 2nd best',
      'team wins of Port_Vale_Comets is 6 which is 2nd best',
      'team losses of Port_Vale_Comets is 9 which is 1st best',
      'Port_Vale_Comets is away team of match',
      # Of the only player of the plan.
      'player starting position of J.T._Lund is G',
      'J.T._Lund is player of Easton_Herons',
    ]
  )


def test_a_substitute_has_no_starting_position(game):
  oster = Relation('Pim Oster', 'Oster', 'PLAYER-SECOND_NAME')
  context = GameInputs(game)((oster,)).context
  assert context[-1] == 'Pim_Oster is player of Port_Vale_Comets'
  assert not any('starting position' in text for text in context)


def test_separators_are_reserved_ids(game):
  tokenizer = wordpiece()
  first = GameInputs(game)(SENTENCE)
  later = GameInputs(game)(SENTENCE, 'A <BEG> <CONTEXT> trick .')
  ids, later_ids = encode_inputs([first, later], tokenizer)
  assert ids[0] == tokenizer.beg
  for encoded in (ids, later_ids):
    assert encoded.count(tokenizer.beg) == 1
    assert encoded.count(tokenizer.context) == 1
  [entries] = tokenizer.encode_units([' '.join(first.entries)])
  assert ids[1 : ids.index(tokenizer.context)] == entries
  assert later_ids[-len(ids) :] == ids


def test_without_context(game):
  made = GameInputs(game, InputFormat(context=False))(SENTENCE, 'Before .')
  assert made.context == ()
  assert made.text.startswith('Before . <BEG> player second')
  [ids] = encode_inputs([made], wordpiece())
  assert wordpiece().context not in ids


def test_entries_that_the_table_lacks_are_left_out(game):
  missing = Relation('Pim Oster', 'N/A', 'PLAYER-START_POSITION')
  plan = ((missing,), (missing, *SENTENCE))
  assert known_entries(plan, game) == (SENTENCE,)
  check_plan(known_entries(oracle_plan(game), game), game)


@pytest.mark.parametrize(
  ('plan', 'message'),
  [
    ((), 'the plan is empty: one sentence with one entry is the least'),
    ((SENTENCE, ()), 'sentence 2 of the plan has no entries'),
    (
      (SENTENCE, (Relation('Boston Celtics', '1', 'TEAM-PTS'),)),
      "sentence 2 of the plan: the game has no team or player 'Boston Celtics'",
    ),
    (
      ((Relation(LUND, '31', 'PLAYER-POINTS'),),),
      "'J.T. Lund' has no entry 'PLAYER-POINTS'; there are PLAYER-AST",
    ),
    (
      ((Relation(LUND, '13', 'PLAYER-PTS'),),),
      "PLAYER-PTS of 'J.T. Lund' is '31' in the game, not '13'",
    ),
  ],
)
def test_bad_plans_are_named(game, plan, message):
  with pytest.raises(InputError) as error:
    check_plan(plan, game)
  assert message in str(error.value)
