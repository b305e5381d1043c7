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
  truth = references or _summaries(games)
  stated, said = _relations(predictions, games, extractor)
  wanted, written = _relations(truth, games, extractor)
  return RotowireScores(
    games=len(games),
    kind=predictions.kind,
    extractor=_extractor_name(predictions, extractor),
    reference_extractor=_extractor_name(truth, extractor),
    rg=None if predictions.kind == 'plan' else _generation(stated, games),
    cs=content_selection(stated, wanted),
    co=content_ordering(stated, wanted),
    strict=strict_scores(said, written),
    raw=strict_scores(said, written, words_as_digits=False),
    bleu=_bleu(predictions, truth),
  )


def _summaries(games: Sequence[Game]) -> Outputs:
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


def _bleu(predictions: Outputs, truth: Outputs) -> Bleu | None:
  if predictions.kind != 'text' or truth.kind != 'text':
    return None
  texts, references = (
    [' '.join(tokenize(text)) for text in outputs.texts]
    for outputs in (predictions, truth)
  )
  return bleu(texts, references)
