"""Spaces and capital letters."""

import pytest

from stepwise.data import wordpiece
from stepwise.extraction import tokenize
from stepwise.realization.learned._text import (
  join_tokens,
  name_spellings,
  restore_case,
)
from stepwise.rotowire import parse_game
from tests.rotowire.games import game_fields


@pytest.mark.parametrize(
  ('tokens', 'text'),
  [
    ('They shot 7 - of - 11 , or 63 % .', 'They shot 7-of-11, or 63%.'),
    ("Lund 's night , the Comets ' loss", "Lund's night, the Comets' loss"),
    (
      "It didn ' t end : 4 . 5 blocks ; he ' ll",
      "It didn't end: 4.5 blocks; he'll",
    ),
    ('a ( 12 - 3 ) record', 'a (12-3) record'),
  ],
)
def test_tokens_are_joined(tokens, text):
  assert join_tokens(tokens) == text


def test_joining_keeps_what_is_evaluated():
  text = "The Herons ( 12 - 3 ) led , 104 - 92 ; Lund 's 31 - point night ."
  assert tokenize(join_tokens(text)) == text.split()


def test_names_are_spelled_as_in_the_table():
  game, tokenizer = parse_game(game_fields()), wordpiece()
  text = (
    'On Friday the Port Vale Comets lost ; J.T. Lund and Aron Vey Jr. won .'
  )
  lower = tokenizer.decode(tokenizer.encode_units([text])[0])
  assert lower.startswith('on friday the port vale comets lost ; j . t . lund')
  spellings = name_spellings(game, [], tokenizer)
  assert join_tokens(restore_case(lower, spellings)) == text.replace(
    ' ;', ';'
  ).replace(' .', '.')


def test_surnames_only_of_who_was_named():
  game, tokenizer = parse_game(game_fields()), wordpiece()
  named = name_spellings(game, ['J.T. Lund'], tokenizer)
  assert (
    restore_case('then lund passed to quist', named)
    == 'Then Lund passed to quist'
  )
