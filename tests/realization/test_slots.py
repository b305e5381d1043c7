"""Slots: values out of sentences, and the same values in again."""

import pytest

from stepwise._errors import InputError
from stepwise.data import report_words
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
  with_ones,
  with_unknown,
)
from stepwise.rotowire import parse_game
from stepwise.tables import Relation
from tests.realization.runs import SENTENCES, report_game
from tests.rotowire.games import game_fields

SLOTS = InputFormat(context=False, slots=True)


def placed(text):
  game = parse_game(game_fields(text))
  return game, placed_sentences(game)


def taken(sentence, places):
  slots = [*dict.fromkeys(place.relation for place in places)]
  return take_out(sentence, places, slots), slots


def test_what_is_taken_out_can_be_put_in_again():
  game = report_game()
  found = placed_sentences(game)
  assert len(found) == len(SENTENCES)
  named = {'Milo Quist', 'J.T. Lund'}
  for sentence, places in found:
    pieces, slots = taken(sentence, places)
    assert pieces is not None
    # Whole names have their suffix.
    text = put_in(pieces, slots, game, named).replace(' Jr.', '')
    assert text == ' '.join(sentence.tokens)
    # Nothing of the table is left in the words.
    words = ' '.join(piece for piece in pieces if isinstance(piece, str))
    assert not any(map(str.isdigit, words))
    assert 'lund' not in words
    assert 'herons' not in words


def test_a_pronoun_stays_a_word():
  _, found = placed('J.T. Lund had 31 points . He had 12 assists .')
  pieces, _ = taken(*found[1])
  assert pieces == ('he had', 1, 'assists .')


def test_what_is_said_twice_has_one_slot():
  _, [found] = placed('Lund had 31 points and Lund won .')
  pieces, slots = taken(*found)
  assert pieces == (0, 'had', 1, 'points and', 0, 'won .')
  assert len(slots) == 2


def test_nobody_knows_when_a_game_was_played():
  _, [found] = placed('The Herons beat the Comets 104 - 92 on Friday night .')
  pieces, slots = taken(*found)
  assert pieces[-2:] == (len(slots) - 1, '.')


def test_sentences_with_what_no_entry_has_are_refused():
  for text in (
    'Lund had 31 points in 99 games .',
    'Lund had 31 points at Grand Hall .',
  ):
    _, [found] = placed(text)
    assert taken(*found)[0] is None


def test_an_assist_is_one():
  game, [(sentence, places)] = placed(
    'Deon Abara had 11 points , an assist and a steal .'
  )
  pieces, slots = taken(sentence, with_ones(sentence, places, game))
  assert Relation('Deon Abara', '1', 'PLAYER-AST') in slots
  # He had no steal: the words stay, and are found to be wrong.
  assert pieces[-1] == 'assist and a steal .'


def test_a_pair_is_two():
  game, [(sentence, places)] = placed(
    'Quist had 26 points and a pair of steals .'
  )
  pieces, slots = taken(sentence, with_ones(sentence, places, game))
  assert pieces[-1] == 'steals .'
  assert slots[-1] == Relation('Milo Quist', '2', 'PLAYER-STL')


def test_words_are_unknown_by_place():
  pieces = (0, 'led the way with', 1, 'points .')
  assert with_unknown(pieces, [1, 6]) == (
    *(0, '[UNK] the way with', 1),
    '[UNK] .',
  )


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


def test_names_are_whole_at_first_and_where_others_share_them():
  game = report_game()
  slots = [
    Relation('J.T. Lund', 'Lund', 'PLAYER-SECOND_NAME'),
    Relation('Deon Abara', 'Abara', 'PLAYER-SECOND_NAME'),
  ]
  text = put_in((0, 'and', 0, ',', 1, 'and', 1), slots, game)
  assert text == 'J.T. Lund and Lund , Deon Abara and Deon Abara'


def test_ids_are_words_and_slots():
  tokenizer = report_words()
  pieces = (0, 'led the way for the', 3, 2, ', scoring', 1, '.')
  [ids] = encode_pieces([pieces], tokenizer)
  assert decode_pieces(ids, tokenizer) == pieces
  assert ids[0] == tokenizer.slots[0]
  assert tokenizer.unk not in ids


def test_entries_of_an_input_begin_with_their_slots():
  game, tokenizer = report_game(), report_words()
  make = GameInputs(game, SLOTS)
  for pair in sentence_pairs(game, SLOTS):
    [ids] = encode_inputs([pair.input], tokenizer, slots=True)
    slots = [index for index in ids if index in tokenizer.slots]
    count = len(pair.input.entries) + len(pair.input.context)
    assert slots == list(tokenizer.slots[:count])
    # All of it are cues that the list has.
    assert tokenizer.unk not in ids
    # Without them it is the same input.
    [plain] = encode_inputs([pair.input], tokenizer)
    assert [i for i in ids if i not in tokenizer.slots] == plain
  sentence = tuple(place.relation for place in placed_sentences(game)[0][1])
  slots = make.slots(sentence)
  assert slots[: len(sentence)] == sentence
  assert len(slots) == len(sentence) + len(make(sentence).context)
  with pytest.raises(InputError, match='there are only 40 slots: break'):
    long = make(sentence)._replace(entries=('[LATER]',) * 41)
    encode_inputs([long], tokenizer, slots=True)


def test_examples_and_their_files_know_their_slots(tmp_path):
  tokenizer, path = report_words(), tmp_path / 'examples.jsonl'
  game = parse_game(
    game_fields(
      'Lund had 31 points . Lund won 5 times . Quist led the Comets with 26 '
      'points . Deon Abara led the Comets with 11 points .'
    )
  )
  examples, report = make_examples([game], tokenizer, ExampleOptions(SLOTS))
  # A number that nobody has.
  assert (report.sentences, report.uncovered) == (4, 1)
  # Somebody who did not lead: the word is not learnt.
  assert (examples[2].targets == tokenizer.unk).sum() == 1
  save_examples(path, examples, tokenizer, SLOTS)
  loaded, _, format = load_examples(path)
  assert format == SLOTS
  first = decode_pieces(loaded[0].targets[:-1].tolist(), tokenizer)
  assert first == (0, 'had', 1, 'points .')
