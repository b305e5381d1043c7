"""Every metric of the field for what a system wrote about some games."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from stepwise._errors import InputError
from stepwise.evaluation import (
  Bleu,
  ContentSelection,
  RelationGeneration,
  bleu,
  content_ordering,
  content_selection,
  relation_generation,
)
from stepwise.extraction._extractors import find_extractor
from stepwise.extraction._oracle import stated_strings
from stepwise.extraction._outputs import Outputs
from stepwise.extraction._strict import Matched, strict_scores
from stepwise.extraction._text import tokenize
from stepwise.rotowire import Game, game_table, planned_relations
from stepwise.tables import Relation


@dataclass(frozen=True)
class RotowireScores:
  """Scores in percent, and the extractors that they depend on.

  Attributes:
    games: how many.
    kind: of the predictions: `text`, `plan` or `tuples`. Plans are scored
      without their names, cities and dates (the paper's "planning only").
    extractor: of the predictions' relations.
    reference_extractor: of the references' relations.
    rg: None for plans, whose entries are the table's own.
    cs, co: content selection and ordering, names and amounts being those of
      the table.
    strict, raw: the same as the field's public script has them, with number
      words as digits, and with strings as they are.
    bleu: only of texts against the games' summaries.
  """

  games: int
  kind: str
  extractor: str
  reference_extractor: str
  rg: RelationGeneration | None
  cs: ContentSelection
  co: float
  strict: Matched
  raw: Matched
  bleu: Bleu | None

  def to_dict(self) -> dict:
    """Plain numbers and strings, ready for JSON."""
    return asdict(self)


def evaluate_outputs(
  predictions: Outputs,
  games: Sequence[Game],
  *,
  references: Outputs | None = None,
  extractor: str = 'lookup',
) -> RotowireScores:
  """Scores what was written about games against their human summaries.

  Args:
    predictions: one for every game.
    games: with summaries, unless `references` are given.
    references: in place of the summaries of the games.
    extractor: a name that `find_extractor` knows, for whatever is text.
  """
  truth = references or summaries(games)
  return score_relations(
    read_relations(predictions, games, extractor),
    read_relations(truth, games, extractor),
    games,
  )


@dataclass(frozen=True)
class ReadOutputs:
  """Outputs and what they state, read once for any number of scores.

  Attributes:
    outputs: texts or plans.
    relations: in the words of the table.
    strings: as the texts have them.
    extractor: that read them, or why none did.
  """

  outputs: Outputs
  relations: list[list[Relation]]
  strings: list[list[Relation]]
  extractor: str

  def only(self, places: Sequence[int]) -> 'ReadOutputs':
    """Those about the games at these places."""
    relations, strings = (
      [side[place] for place in places]
      for side in (self.relations, self.strings)
    )
    chosen = self.outputs.only(places)
    return ReadOutputs(chosen, relations, strings, self.extractor)


def read_relations(
  outputs: Outputs, games: Sequence[Game], extractor: str
) -> ReadOutputs:
  """What outputs state; `extractor` reads them if they are texts."""
  relations, strings = _relations(outputs, games, extractor)
  name = _extractor_name(outputs, extractor)
  return ReadOutputs(outputs, relations, strings, name)


def score_relations(
  found: ReadOutputs, truth: ReadOutputs, games: Sequence[Game]
) -> RotowireScores:
  """Scores of what has been read of both sides."""
  plans = found.outputs.kind == 'plan'
  said, written = found.strings, truth.strings
  return RotowireScores(
    games=len(games),
    kind=found.outputs.kind,
    extractor=found.extractor,
    reference_extractor=truth.extractor,
    rg=None if plans else _generation(found.relations, games),
    cs=content_selection(found.relations, truth.relations),
    co=content_ordering(found.relations, truth.relations),
    strict=strict_scores(said, written),
    raw=strict_scores(said, written, words_as_digits=False),
    bleu=bleu_of_outputs(found.outputs, truth.outputs),
  )


def summaries(games: Sequence[Game]) -> Outputs:
  """The human texts about games."""
  for game in games:
    if not game.summary:
      raise InputError(
        f'game {game.id!r} has no summary to compare with; give references.'
      )
  return Outputs('text', texts=tuple(game.summary for game in games))


def _relations(
  outputs: Outputs, games: Sequence[Game], extractor: str
) -> tuple[list[list[Relation]], list[list[Relation]]]:
  """In the words of the table, and as strings."""
  if outputs.kind != 'text':
    relations = [planned_relations(plan) for plan in outputs.plans]
    return relations, [*map(list, outputs.strings)] or relations
  extract = find_extractor(extractor)
  pairs = [
    stated_strings(text, game, extract)
    for text, game in zip(outputs.texts, games, strict=True)
  ]
  relations, strings = (
    [[pair[side] for pair in found] for found in pairs] for side in (0, 1)
  )
  return relations, strings


def _extractor_name(outputs: Outputs, extractor: str) -> str:
  names = {
    'text': extractor,
    'plan': 'none: a plan',
    'tuples': 'as in the file',
  }
  return names[outputs.kind]


def _generation(
  stated: Sequence[Sequence[Relation]], games: Sequence[Game]
) -> RelationGeneration:
  tables = [game_table(game, max_units=None).relations for game in games]
  return relation_generation(stated, tables)


def bleu_of_outputs(predictions: Outputs, truth: Outputs) -> Bleu | None:
  """Of texts against texts; None for anything else."""
  if predictions.kind != 'text' or truth.kind != 'text':
    return None
  texts, references = (
    [' '.join(tokenize(text)) for text in outputs.texts]
    for outputs in (predictions, truth)
  )
  return bleu(texts, references)
