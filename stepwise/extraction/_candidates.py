"""Candidate relations: every pair of an entity and a number of a sentence."""

from collections.abc import Sequence
from typing import NamedTuple

from stepwise.extraction._mentions import AnnotatedSentence, Mention
from stepwise.extraction._text import Number
from stepwise.rotowire import Game


class Candidate(NamedTuple):
  """A team or player and a number beside it, for a classifier to label.

  Attributes:
    sentence: the index of their sentence.
    mention: of the entity.
    number: the other of the pair.
    types: entry types for which the table gives the entity this value, in the
      order of the table: the labels of distant supervision, often several.
  """

  sentence: int
  mention: Mention
  number: Number
  types: tuple[str, ...]


def find_candidates(
  sentences: Sequence[AnnotatedSentence], game: Game
) -> list[Candidate]:
  """All pairs, by sentence, then number, then mention, left to right."""
  return [
    Candidate(
      index,
      mention,
      number,
      matching_types(game, mention.entity, number.value),
    )
    for index, sentence in enumerate(sentences)
    for number in sentence.numbers
    for mention in sentence.mentions
    if mention.kind != 'match'
  ]


def matching_types(game: Game, entity: str, value: int) -> tuple[str, ...]:
  """Entry types of an entity that have this value."""
  text = str(value)
  values = game.values[entity]
  return tuple(type for type, cell in values.items() if cell == text)
