"""Examples from summaries, and their files."""

import json

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.realization import (
  ExampleOptions,
  InputFormat,
  load_examples,
  make_examples,
  save_examples,
  sentence_pairs,
)
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields


@pytest.fixture(scope='module')
def game():
  return parse_game(game_fields(), id='test:0')


def test_one_pair_for_every_sentence_with_entries(game):
  pairs = sentence_pairs(game)
  assert len(pairs) == 5
  assert pairs[0].input.previous == ''
  # The sentence about the evening has no entries: nobody will write it.
  assert pairs[1].text.endswith('11 - of - 20 from the field .')
  assert pairs[2].text == 'Aron Vey and Deon Abara had 11 points apiece .'
  assert pairs[2].input.previous == pairs[1].text
  assert all(pair.covered for pair in pairs)


def test_numbers_that_no_entry_has_are_not_covered():
  text = 'Lund had 31 points . The Herons won by 12 . Lund won 5 times .'
  pairs = sentence_pairs(parse_game(game_fields(text)))
  # The Herons have 12 wins, which is known from the context.
  assert [pair.covered for pair in pairs] == [True, True, False]


def test_examples_are_ids(game):
  tokenizer = wordpiece()
  examples, report = make_examples([game], tokenizer)
  assert (report.sentences, report.written) == (5, 5)
  assert [example.id for example in examples] == [
    f'test:0:{i}' for i in range(5)
  ]
  for example, pair in zip(examples, sentence_pairs(game), strict=True):
    *text, end = example.targets.tolist()
    assert [text] == tokenizer.encode_units([pair.text])
    assert end == tokenizer.sep
    assert 0 not in example.inputs


def test_what_is_left_out_is_counted():
  text = (
    'Lund had 31 points . Lund won 5 times . Quist had 26 points for them .'
  )
  games = [parse_game(game_fields(text))]
  options = ExampleOptions(InputFormat(False), covered=True, max_target=6)
  examples, report = make_examples(games, wordpiece(), options)
  assert (report.sentences, report.uncovered, report.too_long) == (3, 1, 1)
  assert report.written == len(examples) == 1
  options = ExampleOptions(max_input=10)
  assert make_examples(games, wordpiece(), options)[1].too_long == 3


def test_files_keep_everything(game, tmp_path):
  tokenizer, format = wordpiece(), InputFormat(context=False)
  examples, _ = make_examples([game], tokenizer, ExampleOptions(format))
  path = tmp_path / 'examples.jsonl.gz'
  assert save_examples(path, examples, tokenizer, format) == 5
  loaded, name, loaded_format = load_examples(path)
  assert (name, loaded_format) == ('wordpiece', format)
  for ours, theirs in zip(examples, loaded, strict=True):
    assert ours.id == theirs.id
    np.testing.assert_array_equal(ours.inputs, theirs.inputs)
    np.testing.assert_array_equal(ours.targets, theirs.targets)


def test_bad_files_are_named(tmp_path):
  path = tmp_path / 'examples.jsonl'
  path.write_text('{"id": 3}\n')
  with pytest.raises(
    InputError, match=r'jsonl:1: not an example of the realiz'
  ):
    load_examples(path)
  row = {'id': 'a', 'tokenizer': 'w', 'inputs': [1], 'targets': [2]}
  rows = [json.dumps(row | {'context': context}) for context in (True, False)]
  path.write_text('\n'.join(rows))
  with pytest.raises(InputError, match='has examples of 2 formats; one is'):
    load_examples(path)
  path.write_text('')
  with pytest.raises(InputError, match='has examples of 0 formats'):
    load_examples(path)
