"""Slots: values out of sentences, and the same values in again."""

import pytest

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.extraction import placed_sentences
from stepwise.realization import (
  ExampleOptions,
  GameInputs,
  InputFormat,
  encode_inputs,
  load_examples,
  make_examples,
  save_examples,
  sentence_pairs,
)
from stepwise.realization._slots import (
  decode_pieces,
  encode_pieces,
  put_in,
  take_out,
)
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.realization.runs import SENTENCES, report_game
from tests.rotowire.games import game_fields

SLOTS = InputFormat(context=False, slots=True)


def placed(text):
  game = parse_game(game_fields(text))
  return game, placed_sentences(game)


def test_what_is_taken_out_can_be_put_in_again():
  game = report_game()
  found = placed_sentences(game)
  assert len(found) == len(SENTENCES)
  for sentence, places in found:
    pieces = take_out(sentence, places)
    assert pieces is not None
    entries = [place.relation for place in places]
    assert put_in(pieces, entries, game) == ' '.join(sentence.tokens)
    # Nothing of the table is left in the words.
    words = ' '.join(piece for piece in pieces if isinstance(piece, str))
    assert not any(map(str.isdigit, words))
    assert 'Lund' not in words
    assert 'Herons' not in words


def test_a_pronoun_stays_a_word():
  _, found = placed('J.T. Lund had 31 points . He had 12 assists .')
  sentence, places = found[1]
  assert take_out(sentence, places) == ('He had', 1, 'assists .')


def test_sentences_with_what_no_entry_has_are_refused():
  for text in (
    'Lund had 31 points in 99 games .',
    'Lund had 31 points at Grand Hall .',
  ):
    _, [(sentence, places)] = placed(text)
    assert take_out(sentence, places) is None


def test_numbers_may_be_those_of_the_context():
  game, [(sentence, places)] = placed('Lund won 12 times .')
  wins = Relation('Easton Herons', '12', 'TEAM-WINS')
  assert take_out(sentence, places) is None
  pieces = take_out(sentence, places, [wins])
  assert pieces == (0, 'won', len(places), 'times .')
  entries = [*(place.relation for place in places), wins]
  assert put_in(pieces, entries, game) == 'Lund won 12 times .'


@pytest.mark.parametrize(
  ('pieces', 'text'),
  [
    (('He had', 0, 'assists .'), 'He had eight assists .'),
    (('He shot', 0, '- of -', 1, '.'), 'He shot 8 - of - 9 .'),
    (('They ( ', 0, '-', 1, ') won .'), 'They (  8 - 9 ) won .'),
    (('They shot', 0, 'percent .'), 'They shot 8 percent .'),
    ((1, 'players scored .'), 'Nine players scored .'),
  ],
)
def test_amounts_are_written_as_people_do(pieces, text):
  entries = [Relation('X', value, 'PLAYER-PTS') for value in ('8', '9')]
  assert put_in(pieces, entries, report_game()) == text


def test_ids_are_words_and_slots():
  tokenizer = wordpiece()
  pieces = (0, 'led the way for the', 3, 2, ', scoring', 1, '.')
  [ids] = encode_pieces([pieces], tokenizer)
  assert decode_pieces(ids, tokenizer) == pieces
  assert ids[0] == tokenizer.slots[0]


def test_entries_of_an_input_begin_with_their_slots():
  game, tokenizer = report_game(), wordpiece()
  for format in (SLOTS, InputFormat(slots=True)):
    make = GameInputs(game, format)
    for pair in sentence_pairs(game, format):
      [ids] = encode_inputs([pair.input], tokenizer, slots=True)
      slots = [index for index in ids if index in tokenizer.slots]
      count = len(pair.input.entries) + len(pair.input.context)
      assert slots == list(tokenizer.slots[:count])
      # Without them it is the same input.
      [plain] = encode_inputs([pair.input], tokenizer)
      assert [i for i in ids if i not in tokenizer.slots] == plain
    sentence = tuple(place.relation for place in placed_sentences(game)[0][1])
    slots = make.slots(sentence)
    assert slots[: len(sentence)] == sentence
    assert len(slots) == len(sentence) + len(make(sentence).context)
  with pytest.raises(InputError, match='there are only 80 slots: break'):
    long = make(sentence * 12)
    encode_inputs([long], tokenizer, slots=True)


def test_examples_and_their_files_know_their_slots(tmp_path):
  tokenizer, path = wordpiece(), tmp_path / 'examples.jsonl'
  game = parse_game(
    game_fields('Lund had 31 points . Lund won 5 times . Quist had 26 points .')
  )
  examples, report = make_examples([game], tokenizer, ExampleOptions(SLOTS))
  assert (report.sentences, report.uncovered) == (3, 1)
  save_examples(path, examples, tokenizer, SLOTS)
  loaded, _, format = load_examples(path)
  assert format == SLOTS
  first = decode_pieces(loaded[0].targets[:-1].tolist(), tokenizer)
  assert first == (0, 'had', 1, 'points .')
