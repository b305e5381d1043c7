"""Which numerals may be written, piece by piece."""

import json

import jax
import jax.numpy as jnp
import pytest

from stepwise.data import byte_level_bpe, wordpiece
from stepwise.realization.learned import Numerals
from stepwise.realization.learned._numerals import allowed_tokens, next_node

VALUES = ('104', '7', '31', 'Easton', '76ers', 'Sevenson', '12', '2016')


@pytest.fixture(scope='module')
def numerals():
  return Numerals(wordpiece())


def may_write(numerals, values, text):
  """Whether a sentence may have this text and then end."""
  batch = numerals.tries([values])
  trie = jax.tree.map(lambda field: jnp.asarray(field[0]), batch)
  classes = jax.tree.map(jnp.asarray, numerals.classes)
  node = jnp.asarray(0)
  [ids] = numerals.tokenizer.encode_units([text])
  for token in [*ids, numerals.tokenizer.encode_units(['.'])[0][0]]:
    if not bool(allowed_tokens(trie, classes, node)[token]):
      return False
    node = next_node(trie, node, jnp.asarray(token))
  return True


@pytest.mark.parametrize(
  'text',
  [
    'Lund had 31 points and seven rebounds',
    'the Herons ( 31 - 7 ) won 104 - 31',
    'the 76ers of 2016',
    'Sevenson was one of the best',
    'he made a three - pointer from 3 - point range',
  ],
)
def test_allowed(numerals, text):
  assert may_write(numerals, VALUES, text)


@pytest.mark.parametrize(
  'text',
  [
    *('32 points', '10 points', '1043 points', '4 points', '201 points'),
    *('eight rebounds', 'twenty points', 'thirty - one points', 'zero'),
    *('one rebound', 'three rebounds', '3 points', 'three - of - seven'),
    *('76 points', '7th', 'x104', '104s', '½'),
  ],
)
def test_forbidden(numerals, text):
  assert not may_write(numerals, VALUES, text)


def test_a_number_that_is_known_is_free(numerals):
  for text in ('three rebounds', 'one rebound', '3 - of - 3', 'three of 1'):
    assert may_write(numerals, ('3', '1'), text)


def test_without_values_only_phrases_are_left(numerals):
  assert may_write(numerals, (), 'one of them hit a three - pointer')
  assert not may_write(numerals, (), 'one hit three')


def test_words_that_contain_number_words_are_text(numerals):
  for word in ('tennis', 'someone', 'often', 'gladstone', 'first'):
    assert may_write(numerals, (), word)


def test_rows_do_not_mix(numerals):
  batch = numerals.tries([('31',), (), ('104', '7')])
  classes = numerals.classes
  [tokens] = numerals.tokenizer.encode_units(['31 104 7'])
  rows = [
    allowed_tokens(
      jax.tree.map(lambda field, row=row: jnp.asarray(field[row]), batch),
      jax.tree.map(jnp.asarray, classes),
      jnp.asarray(0),
    )
    for row in range(3)
  ]
  found = [[bool(row[token]) for token in tokens] for row in rows]
  assert found == [
    [True, False, False],
    [False, False, False],
    [False, True, True],
  ]


def test_special_pieces_are_not_text(numerals):
  tokenizer, writable = numerals.tokenizer, numerals.classes.writable
  ids = [tokenizer.pad, tokenizer.cls, tokenizer.beg, tokenizer.context, 1, 100]
  assert not writable[ids].any()
  assert writable[tokenizer.encode_units(['a [ ] ! ##'])[0]].all()


def test_byte_level_pieces(tmp_path):
  pieces = ['<s>', '<pad>', '</s>', '<unk>', *'0123456789-.x', 'Ġ', '10', 'Ġ10']
  vocab, merges = tmp_path / 'vocab.json', tmp_path / 'merges.txt'
  vocab.write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
  merges.write_text('#version: 0.2\n1 0\nĠ 10\n', 'utf-8')
  numerals = Numerals(byte_level_bpe(vocab, merges))
  assert not numerals.classes.writable[[0, 1, 2, 3, 25]].any()
  for text, expected in {
    '104 - 10': True,
    '10 4': False,
    '1042': False,
  }.items():
    assert may_write(numerals, ('104', '10'), text) == expected
  assert not may_write(numerals, ('104',), '10')
