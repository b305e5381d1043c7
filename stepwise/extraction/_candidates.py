"""Candidate relations: every pair of an entity and a number of a sentence."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from stepwise.extraction._mentions import AnnotatedSentence, Mention
from stepwise.extraction._text import Number
from stepwise.rotowire import Game
from stepwise.tables import Relation


class Candidate(NamedTuple):
  """A team or player and a number beside it, for a classifier to label.

  Attributes:
    sentence: the index of their sentence.
    mention: of the entity.
    number: the other of the pair.
    types: entry types for which the table gives the entity this value, in the
      order of the table: the labels of distant supervision, often several; or
      those of the labels that were given.
  """

  sentence: int
  mention: Mention
  number: Number
  types: tuple[str, ...]


def find_candidates(
  sentences: Sequence[AnnotatedSentence],
  game: Game,
  labels: Collection[Relation] | None = None,
) -> list[Candidate]:
  """All pairs, by sentence, then number, then mention, left to right.

  As in the field, only who is named in the sentence: no pronouns.

  Args:
    sentences: of a text.
    game: it is about.
    labels: what the text states, if another extractor has told; else the
      table labels the pairs.
  """
  types = _label_types(labels) if labels is not None else None
  return [
    Candidate(
      index,
      mention,
      number,
      matching_types(game, mention.entity, number.value)
      if types is None
      else tuple(types[mention.entity, str(number.value)]),
    )
    for index, sentence in enumerate(sentences)
    for number in sentence.numbers
    for mention in sentence.mentions
    if mention.kind != 'match' and not mention.pronoun
  ]


def _label_types(
  labels: Collection[Relation],
) -> Mapping[tuple[str, str], list[str]]:
  types: dict[tuple[str, str], list[str]] = defaultdict(list)
  for entity, value, type in dict.fromkeys(labels):
    types[entity, value].append(type)
  return types


def matching_types(game: Game, entity: str, value: int) -> tuple[str, ...]:
  """Entry types of an entity that have this value."""
  text = str(value)
  values = game.values[entity]
  return tuple(type for type, cell in values.items() if cell == text)
