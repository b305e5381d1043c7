"""What is learnt from sentences that say more than a table tells."""

import pytest

from stepwise.data import report_words
from stepwise.extraction import placed_sentences
from stepwise.realization import (
  ExampleOptions,
  InputFormat,
  make_examples,
  sentence_pairs,
)
from stepwise.realization._parts import Part, told_parts
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields

SLOTS = InputFormat(context=True, slots=True)


def parts(text, usable, sentence=0):
  game = parse_game(game_fields(text))
  found = told_parts(Part(*placed_sentences(game)[sentence]), usable)
  return [' '.join(part.sentence.tokens) for part in found]


def without(*words):
  return lambda part: not set(words) & set(part.sentence.tokens)


@pytest.mark.parametrize(
  ('text', 'left'),
  [
    ('Lund had a season - high of 31 points .', 'Lund had 31 points .'),
    ('Lund had 31 points on the season .', 'Lund had 31 points .'),
    ('Rookie point guard J.T. Lund had 31 .', 'Rookie J.T. Lund had 31 .'),
    ('The rookie guard J.T. Lund had 31 .', 'The J.T. Lund had 31 .'),
    ('Lund ( sore knee ) had 31 points .', 'Lund had 31 points .'),
    ('Lund had 31 at the Grand Hall in Easton .', 'Lund had 31 in Easton .'),
    ('Lund had 31 points on the night .', 'Lund had 31 points in the game .'),
    ('Lund had a big evening with 31 .', 'Lund had a big game with 31 .'),
  ],
)
def test_what_nobody_could_know_is_left_out(text, left):
  assert parts(text, lambda part: ' '.join(part.sentence.tokens) == left) == [
    left
  ]


def test_a_sentence_that_can_be_used_stays_as_it_is():
  text = 'Lund had a season - high 31 points on the night .'
  assert parts(text, lambda part: True) == [text]


def test_clauses_are_tried_one_by_one():
  text = 'Lund had 31 points , while the Comets lost 5 times .'
  assert parts(text, without('5')) == ['Lund had 31 points .']
  text = 'After 5 games Lund rested , while Quist had 26 points .'
  assert parts(text, without('5')) == ['Quist had 26 points .']


def test_a_clause_has_somebody_who_does_something():
  assert parts('With 31 points , Lund won 5 times .', without('5')) == []
  assert parts('Lund , who had 31 points , won 5 times .', without('5')) == []


def test_a_list_that_lost_its_end_is_a_list():
  text = 'Lund had 31 points , 12 assists and 5 wins .'
  assert parts(text, without('5')) == ['Lund had 31 points and 12 assists .']
  text = 'Lund had 31 points ( 11 - 20 FG , 5 - 8 3Pt ) , a good 99 .'
  assert parts(text, without('99')) == [
    'Lund had 31 points ( 11 - 20 FG , 5 - 8 3Pt ) .'
  ]


def test_whoever_begins_is_named():
  text = 'J.T. Lund won . He had 31 points on the night .'
  usable = without('night')
  game = parse_game(game_fields(text))
  [part] = told_parts(Part(*placed_sentences(game)[1]), usable)
  assert not any(place.pronoun for place in part.places)
  # Words stay where they are; `they` is `the` and a name.
  text = 'The Herons won . They had 44 rebounds on the night .'
  assert parts(text, usable, 1) == ['the They had 44 rebounds in the game .']


def test_places_of_a_part_are_those_of_its_words():
  text = 'Star guard J.T. Lund had 31 points and 12 assists , his 5th time .'
  game = parse_game(game_fields(text))
  whole = Part(*placed_sentences(game)[0])
  [part] = told_parts(whole, without('5th'))
  for sentence, places in (whole, part):
    said = {
      place.relation: ' '.join(sentence.tokens[place.start : place.end])
      for place in places
    }
    assert {'J.T. Lund', '31', '12'} <= set(said.values())
  assert all(
    part.sentence.tokens[number.start].isdigit()
    for number in part.sentence.numbers
  )


def test_examples_say_why_sentences_are_left_out():
  text = (
    'Lund had 31 points . Quist had 26 points at Grand Hall . The Herons '
    'won . Lund had 31 points in 99 games . Lund had thirty - one lovely '
    'bright blue points overall .'
  )
  game = parse_game(game_fields(text))
  examples, report = make_examples(
    [game], report_words(), ExampleOptions(SLOTS)
  )
  assert report.partly == 1
  assert len(examples) == report.written == 2
  assert report.reasons == {
    'say no number of the table': 1,
    'have a name or a number that no entry has': 1,
    'have words that are not in the list': 1,
  }
  pairs = sentence_pairs(game, SLOTS)
  assert [pair.whole for pair in pairs if pair.covered] == [True, False]


def test_inputs_tell_the_sentence_before_and_how_long_to_be():
  game = parse_game(
    game_fields('Milo Quist had 26 points . Lund led Quist with 31 points .')
  )
  first, second = (pair.input.previous for pair in sentence_pairs(game, SLOTS))
  assert first == '[OPENING] [WORDS0]'
  # Quist is in both: what is said of him now has the same tag.
  assert second == '[LATER] [WORDS1] [PLAYER1] had [PLAYER-PTS] points .'
