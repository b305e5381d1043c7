"""The plans behind texts: what a report of a game says, in its order."""

from typing import NamedTuple

from stepwise.extraction._extractors import Extractor
from stepwise.extraction._lookup import lookup_relations
from stepwise.extraction._mentions import (
  AnnotatedSentence,
  Mention,
  read_sentences,
  without_strangers,
)
from stepwise.rotowire import DATE, MATCH, Game
from stepwise.tables import Plan, Relation


def oracle_plan(
  game: Game, extractor: Extractor = lookup_relations, text: str | None = None
) -> Plan:
  """The plan behind a summary, or behind another `text` about the game.

  Each sentence has its entries in the order of the words that state them:
  cities, names, the date and supported relations, as often as they are stated,
  and the name of whoever a pronoun stands for. Sentences without are left out.
  """
  planned = planned_sentences(game, extractor, text)
  return tuple(relations for _, relations in planned if relations)


def planned_sentences(
  game: Game, extractor: Extractor = lookup_relations, text: str | None = None
) -> list[tuple[AnnotatedSentence, tuple[Relation, ...]]]:
  """All sentences of a summary, each with its part of the oracle plan."""
  return [
    (sentence, tuple(place.relation for place in places))
    for sentence, places in placed_sentences(game, extractor, text)
  ]


class Place(NamedTuple):
  """Words of a sentence that state an entry, `tokens[start:end]`.

  Attributes:
    start, end: of a number, or of all words of a name.
    rank: among the entries of the same words.
    relation: the entry.
    pronoun: the words stand for the name.
  """

  start: int
  rank: int
  relation: Relation
  end: int
  pronoun: bool = False


def placed_sentences(
  game: Game, extractor: Extractor = lookup_relations, text: str | None = None
) -> list[tuple[AnnotatedSentence, list[Place]]]:
  """All sentences of a summary, and where they state their entries."""
  sentences = read_sentences(game.summary if text is None else text, game)
  stated: list[list[Place]] = [[] for _ in sentences]
  for index, sentence in enumerate(sentences):
    for mention in sentence.mentions:
      stated[index] += _names(mention, game)
  for found in extractor(sentences, game):
    if found.supported:
      start, end, _ = found.number
      place = Place(start, found.mention.start, found.relation, end)
      stated[found.sentence].append(place)
  return [
    (sentence, sorted(places))
    for sentence, places in zip(sentences, stated, strict=True)
  ]


def stated_relations(
  text: str, game: Game, extractor: Extractor = lookup_relations
) -> list[Relation]:
  """Relations that a text states, true or not: what RG, CS and CO compare.

  As in the field, of whoever is named in the same sentence: `he` is nobody in a
  sentence without a name.
  """
  return [relation for relation, _ in stated_strings(text, game, extractor)]


def stated_strings(
  text: str, game: Game, extractor: Extractor = lookup_relations
) -> list[tuple[Relation, Relation]]:
  """The same, each beside its name and amount as the text writes them.

  Whoever a pronoun stands for is written as in the table.
  """
  sentences = [*map(without_strangers, read_sentences(text, game))]
  pairs = []
  for found in extractor(sentences, game):
    tokens, (start, end, *_) = sentences[found.sentence].tokens, found.mention
    words = Relation(
      found.relation.entity
      if found.mention.pronoun
      else ' '.join(tokens[start:end]),
      ' '.join(tokens[found.number.start : found.number.end]),
      found.relation.type,
    )
    pairs.append((found.relation, words))
  return pairs


def _names(mention: Mention, game: Game) -> list[Place]:
  """The entries of a mention."""
  if mention.entity == MATCH:
    values = {DATE: game.date.isoformat()}
  else:
    values = game.values[mention.entity]
  return [
    Place(
      mention.start,
      rank,
      Relation(mention.entity, values[type], type),
      mention.end,
      mention.pronoun,
    )
    for rank, type in enumerate(mention.types)
  ]
