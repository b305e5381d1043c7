"""Tokenisers: known ids of public vocabularies, reserved ids, no empty unit."""

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.data import (
  byte_level_bpe,
  load_tokenizer,
  report_words,
  wordpiece,
)


@pytest.fixture
def bpe_files(tmp_path):
  """A byte-level vocabulary of a few pieces, in the layout of RoBERTa's."""
  pieces = ['<s>', '<pad>', '</s>', '<unk>', 'l', 'o', 'w', 'Ġ', 'lo', 'low']
  pieces += ['Ġlow']
  vocab, merges = tmp_path / 'vocab.json', tmp_path / 'merges.txt'
  vocab.write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
  merges.write_text('#version: 0.2\nl o\nlo w\nĠ low\n', 'utf-8')
  return vocab, merges


def test_wordpiece_has_the_ids_of_bert():
  tokenizer = wordpiece()
  assert tokenizer.vocab_size == 30522
  assert (tokenizer.pad, tokenizer.unk) == (0, 100)
  assert (tokenizer.cls, tokenizer.sep) == (101, 102)
  assert (tokenizer.eot, tokenizer.beg, tokenizer.eos) == (10, 11, 12)
  # Lower case, accents stripped, continuation pieces.
  assert tokenizer.encode_units(['Hello, WORLD!', 'café', 'unaffable']) == [
    [7592, 1010, 2088, 999],
    [7668],
    [14477, 20961, 3468],
  ]


def test_text_never_yields_special_pieces():
  [ids] = wordpiece().encode_units(['[SEP] [unused9] [PAD]'])
  assert not set(ids) & {0, 10, 102}


def test_bpe_has_reserved_rows_after_the_vocabulary(bpe_files):
  tokenizer = byte_level_bpe(*bpe_files)
  assert tokenizer.encode_units(['low low', ' low']) == [[9, 10], [10]]
  assert (tokenizer.cls, tokenizer.pad, tokenizer.sep) == (0, 1, 2)
  assert (tokenizer.eot, tokenizer.beg, tokenizer.eos) == (11, 12, 13)
  # 50265 public pieces make a table of 50358 rows.
  assert tokenizer.vocab_size == 11 + 50358 - 50265


def test_ids_become_text_again(bpe_files):
  words = wordpiece()
  [ids] = words.encode_units(['Café, unaffable (12-3).'])
  assert words.decode(ids) == 'cafe , unaffable ( 12 - 3 ) .'
  bpe = byte_level_bpe(*bpe_files)
  [ids] = bpe.encode_units(['low low'])
  assert bpe.decode(ids) == 'low low'
  assert words.lowercase and not bpe.lowercase


def test_pieces_are_spelled_by_id(bpe_files):
  pieces = wordpiece().pieces()
  assert len(pieces) == 30522
  assert (pieces[13], pieces[wordpiece().context]) == ('[unused12]',) * 2
  bpe = byte_level_bpe(*bpe_files)
  assert bpe.pieces()[8:12] == ['lo', 'low', 'Ġlow', '']
  assert bpe.context == 14 and len(bpe.pieces()) == bpe.vocab_size


def test_offsets_are_characters():
  text = 'Café unaffable 東京'
  [pieces] = wordpiece().encode_with_offsets([text])
  assert [text[start:end] for _, (start, end) in pieces] == [
    *('Café', 'una', 'ffa', 'ble', '東', '京')
  ]
  [ids] = wordpiece().encode_units([text])
  assert [index for index, _ in pieces] == ids


@pytest.mark.parametrize('text', ['', '\u200b', '\ufeff', ' '])
def test_a_unit_without_pieces_becomes_the_unknown_piece(text):
  tokenizer = wordpiece()
  assert tokenizer.encode_units([text]) == [[tokenizer.unk]]
  assert tokenizer.encode_with_offsets([text]) == [
    [(tokenizer.unk, (0, len(text)))]
  ]


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), max_size=5))
def test_units_are_encoded_independently_and_never_empty(texts):
  tokenizer = wordpiece()
  together = tokenizer.encode_units(texts)
  assert together == [tokenizer.encode_units([text])[0] for text in texts]
  assert all(together)


def test_words_of_reports_are_whole():
  tokenizer = report_words()
  assert load_tokenizer('reports') == tokenizer
  assert tokenizer.pad == 0
  assert len(tokenizer.slots) == 40
  text = 'led the way with a game - high'
  [ids] = tokenizer.encode_units([text])
  assert tokenizer.decode(ids) == text
  # No names, no numbers, nothing of other days.
  for word in ('Lund', '31', 'seven', 'season', 'injury', 'streak', 'Friday'):
    assert tokenizer.encode_units([word]) == [[tokenizer.unk]]
  pieces = tokenizer.pieces()
  assert len(set(pieces)) == tokenizer.vocab_size == len(pieces)


def test_tokenizers_can_be_sent_to_other_processes():
  tokenizer = pickle.loads(pickle.dumps(wordpiece()))
  assert tokenizer == wordpiece()
  assert tokenizer.encode_units(['hello']) == [[7592]]


def test_bad_vocabularies_are_named(bpe_files, tmp_path):
  vocab, merges = bpe_files
  with pytest.raises(InputError, match='nowhere: no such file'):
    byte_level_bpe(vocab, 'nowhere')
  with pytest.raises(InputError, match='are not the vocabulary and the merges'):
    byte_level_bpe(merges, vocab)
  small = tmp_path / 'small.json'
  small.write_text('{"a": 0}')
  merges.write_text('#version: 0.2\n')
  with pytest.raises(InputError, match="the vocabulary has no piece '<pad>'"):
    byte_level_bpe(small, merges)
