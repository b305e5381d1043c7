"""What is masked and hidden, and that it depends on the generator alone."""

import json

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from stepwise._errors import InputError
from stepwise.data import (
  Masking,
  WordPieces,
  byte_level_bpe,
  make_record,
  mask_record,
  pad_masked,
  word_pieces,
  wordpiece,
)
from stepwise.data._records import Record, unit_ids_of
from stepwise.documents import make_document

# Ids 0 to 9 are special; every third of the others continues a word.
VOCAB, MASK = 50, 3
WORDS = WordPieces(
  np.array([i < 10 or i % 3 > 0 for i in range(VOCAB)]),
  np.arange(10, VOCAB),
  MASK,
)


def random_record(rng, lengths, special=2):
  tokens = rng.integers(10, VOCAB, sum(lengths))
  tokens[:special] = np.arange(4, 4 + special)
  return Record(
    tokens=tokens.astype(np.int32),
    unit_ids=unit_ids_of(lengths),
    spans=((0, 0),) * len(lengths),
    special_units=('eot', 'beg')[:special],
  )


@hypothesis.given(
  lengths=st.lists(st.integers(1, 12), min_size=1, max_size=20),
  mask_rate=st.sampled_from([0.0, 0.15, 0.6]),
  hide_rate=st.sampled_from([0.0, 0.1, 0.9]),
  special=st.sampled_from([0, 2]),
  seed=st.integers(0, 99),
)
def test_examples_keep_their_promises(
  lengths, mask_rate, hide_rate, special, seed
):
  rng = np.random.default_rng(seed)
  record = random_record(rng, [1] * special + lengths, special)
  masking = Masking(mask_rate, hide_rate, hidden_tokens=20)
  sizes = masking.sizes(len(record.tokens), record.num_units)
  limit = special + 15
  made = mask_record(record, WORDS, masking, sizes, rng, limit)
  # It all fits the slots that are there for it.
  assert len(made['masked']) <= sizes.masked
  assert len(made['hidden']) <= sizes.hidden
  assert len(made['hidden_tokens']) <= sizes.hidden_tokens
  # Hidden units are masked altogether and known elsewhere.
  hidden = np.isin(record.unit_ids, made['hidden'])
  assert (made['tokens'][hidden] == MASK).all()
  np.testing.assert_array_equal(made['hidden_tokens'], record.tokens[hidden])
  owners = made['hidden'][made['hidden_slots']]
  np.testing.assert_array_equal(owners, record.unit_ids[hidden])
  assert len(made['hidden']) < max(len(lengths), 1)
  assert all(special <= unit < limit for unit in made['hidden'])
  # Of the others nothing changes but what is to be guessed.
  masked = np.isin(np.arange(len(hidden)), made['masked'])
  same = ~hidden & ~masked
  np.testing.assert_array_equal(made['tokens'][same], record.tokens[same])
  np.testing.assert_array_equal(made['labels'], record.tokens[masked])
  assert not (masked & (hidden | (record.unit_ids < special))).any()
  assert not np.isin(
    made['tokens'][masked], np.delete(np.arange(10), MASK)
  ).any()
  # Words are whole: a piece that continues one shares its fate.
  for i in range(1, len(masked)):
    if record.unit_ids[i] == record.unit_ids[i - 1]:
      assert WORDS.starts[record.tokens[i]] or masked[i] == masked[i - 1]


def test_rates_are_met():
  rng = np.random.default_rng(0)
  record = random_record(rng, [1, 1] + [20] * 100)
  masking = Masking(0.15, 0.2)
  sizes = masking.sizes(len(record.tokens), record.num_units)
  made = mask_record(record, WORDS, masking, sizes, rng)
  assert len(made['hidden']) == 20
  assert len(made['masked']) == 0.15 * 80 * 20
  now, before = made['tokens'][made['masked']], made['labels']
  assert 0.7 < (now == MASK).mean() < 0.9
  assert 0.04 < (now == before).mean() < 0.2
  replaced = now[(now != MASK) & (now != before)]
  assert 0.04 < len(replaced) / len(now) < 0.2


def test_the_generator_decides_and_nothing_else():
  record = random_record(np.random.default_rng(0), [1, 1, 9, 9, 9, 9])
  masking = Masking(hide_rate=0.3)
  sizes = masking.sizes(64, 8)

  def draw(seed):
    rng = np.random.default_rng(seed)
    made = mask_record(record, WORDS, masking, sizes, rng)
    return pad_masked([made], length=64, units=8, sizes=sizes, batch=2)

  first, same, other = draw(3), draw(3), draw(4)
  for name in first:
    np.testing.assert_array_equal(first[name], same[name])
  assert any((first[name] != other[name]).any() for name in first)
  # A row without a document is empty.
  assert first['valid'].sum(axis=1).tolist() == [6, 0]
  assert (first['unit_ids'][1] == -1).all()
  assert (first['masked'][1] == -1).all()
  assert (first['hidden'][1] == -1).all()


def test_pieces_of_wordpiece_are_words():
  tokenizer = wordpiece()
  words = word_pieces(tokenizer)
  document = make_document({'article': 'Stepwise extraction works.'})
  record = make_record(document, tokenizer, special_units=())
  pieces = np.array(tokenizer.pieces())
  assert pieces[record.tokens].tolist() == [
    *('step', '##wise', 'extraction', 'works', '.')
  ]
  assert words.starts[record.tokens].tolist() == [True, False, True, True, True]
  assert pieces[words.mask] == '[MASK]'
  drawn = pieces[words.ordinary]
  assert 'the' in drawn
  assert not set(drawn) & {'[MASK]', '[PAD]', '[CLS]', '[unused9]'}


def test_pieces_of_byte_level_bpe_are_words(tmp_path):
  pieces = ['<s>', '<pad>', '</s>', '<unk>', '<mask>']
  pieces += ['w', 'e', 'Ġ', '.', 'Ġw', 'we', 'Ġwe']
  vocab = {piece: i for i, piece in enumerate(pieces)}
  (tmp_path / 'vocab.json').write_text(json.dumps(vocab))
  merges = ['#version: 0.2', 'Ġ w', 'w e', 'Ġw e']
  (tmp_path / 'merges.txt').write_text('\n'.join(merges))
  tokenizer = byte_level_bpe(tmp_path / 'vocab.json', tmp_path / 'merges.txt')
  [ids] = tokenizer.encode_units(['we wewe.'])
  assert [pieces[i] for i in ids] == ['we', 'Ġwe', 'we', '.']
  words = word_pieces(tokenizer)
  assert words.starts[ids].tolist() == [False, True, False, True]
  assert words.mask == 4
  assert words.ordinary.tolist() == list(range(5, 12))


@pytest.mark.parametrize('rate', [-0.1, 1.0])
def test_rates_that_are_none(rate):
  with pytest.raises(InputError, match=f'mask_rate is {rate}, must be at'):
    Masking(mask_rate=rate)
