"""How well an extractor agrees with the labels of distant supervision."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from stepwise.extraction._candidates import find_candidates
from stepwise.extraction._extractors import Extractor
from stepwise.extraction._mentions import read_sentences
from stepwise.rotowire import Game


@dataclass(frozen=True)
class Agreement:
  """Pairs of held-out texts, against what the table supports.

  A pair is a number of a sentence and an entity of that sentence. Accidental
  agreement is part of the labels: a pair whose value the table has, though the
  sentence does not say so, counts against recall.

  Attributes:
    games: how many texts.
    pairs: of all texts.
    labelled: pairs that some entry of the table supports.
    extracted: pairs that the extractor gives a type.
    precision: extracted pairs whose type the table supports, in percent.
    recall: labelled pairs that are extracted with a supported type, in percent.
  """

  games: int
  pairs: int
  labelled: int
  extracted: int
  precision: float
  recall: float

  def to_dict(self) -> dict:
    """Plain numbers, ready for JSON."""
    return asdict(self)


def evaluate_extractor(
  extractor: Extractor, games: Sequence[Game]
) -> Agreement:
  """Agreement of an extractor with the tables of games, on their summaries."""
  pairs = labelled = extracted = right = 0
  for game in games:
    sentences = read_sentences(game.summary, game)
    support = {
      (c.sentence, c.number, c.mention.entity): bool(c.types)
      for c in find_candidates(sentences, game)
    }
    found = {
      (f.sentence, f.number, f.mention.entity, f.relation.type): f.supported
      for f in extractor(sentences, game)
    }
    pairs += len(support)
    labelled += sum(support.values())
    extracted += len(found)
    right += sum(found.values())
  return Agreement(
    games=len(games),
    pairs=pairs,
    labelled=labelled,
    extracted=extracted,
    precision=100 * right / max(extracted, 1),
    recall=100 * right / max(labelled, 1),
  )
