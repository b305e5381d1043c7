"""Relations of generated and human texts: the metrics of data-to-text.

A text is the sequence of relations it states, in order; a relation is any
hashable value. Whoever extracts them decides when two are equal. As in the
field, a relation that a text states again counts once.
"""

from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain

from stepwise._errors import InputError
from stepwise._extras import needs

Relations = Sequence[Hashable]


@dataclass(frozen=True)
class RelationGeneration:
  """RG: what texts state, and how much of it their tables support.

  Attributes:
    count: supported relations per text.
    precision: supported relations in percent of all.
  """

  count: float
  precision: float


@dataclass(frozen=True)
class ContentSelection:
  """CS: relations of texts against those of references, in percent."""

  precision: float
  recall: float
  f1: float


@dataclass(frozen=True)
class Bleu:
  """A score and sacrebleu's signature of how it was computed."""

  score: float
  signature: str


def relation_generation(
  predictions: Sequence[Relations], tables: Sequence[Container[Hashable]]
) -> RelationGeneration:
  """RG over all texts together; without relations, precision is 0.

  >>> relation_generation([['a', 'b', 'a']], [{'a', 'c'}])
  RelationGeneration(count=1.0, precision=50.0)
  """
  _check_lengths(predictions, tables, 'tables')
  texts = [_distinct(prediction) for prediction in predictions]
  pairs = zip(texts, tables, strict=True)
  supported = sum(r in table for text, table in pairs for r in text)
  stated = sum(map(len, texts))
  return RelationGeneration(supported / len(texts), _percent(supported, stated))


def content_selection(
  predictions: Sequence[Relations], references: Sequence[Relations]
) -> ContentSelection:
  """CS over all texts together, so long texts weigh more, as in the field.

  >>> content_selection([['a', 'b']], [['b', 'c', 'd', 'e']])
  ContentSelection(precision=50.0, recall=25.0, f1=33.333333333333336)
  """
  _check_lengths(predictions, references, 'references')
  pairs = zip(predictions, references, strict=True)
  shared = sum(len({*text} & {*reference}) for text, reference in pairs)
  stated = sum(len({*text}) for text in predictions)
  wanted = sum(len({*reference}) for reference in references)
  return ContentSelection(
    precision=_percent(shared, stated),
    recall=_percent(shared, wanted),
    f1=_percent(2 * shared, stated + wanted),
  )


def content_ordering(
  predictions: Sequence[Relations], references: Sequence[Relations]
) -> float:
  """CO: 100 minus the normalised edit distance in percent, mean over texts.

  The distance is optimal string alignment: insertions, deletions and
  substitutions, and exchanges of neighbours that are not edited further. It is
  divided by the longer length; two empty texts are equal.

  >>> content_ordering([['b', 'a', 'x']], [['a', 'b', 'c', 'd']])
  25.0
  """
  _check_lengths(predictions, references, 'references')
  # Imported late: the command line starts without it.
  with needs('metrics', 'content ordering'):
    from rapidfuzz.distance import OSA

  scores = []
  for text, reference in zip(predictions, references, strict=True):
    first, second = _distinct(text), _distinct(reference)
    # Plain numbers, as the library compares hashes of other values.
    place = {r: i for i, r in enumerate(chain(first, second))}
    codes = [place[r] for r in first], [place[r] for r in second]
    scores.append(100 * OSA.normalized_similarity(*codes))
  return sum(scores) / len(scores)


def bleu(predictions: Sequence[str], references: Sequence[str]) -> Bleu:
  """Corpus BLEU-4 of texts that are tokenised already, case kept."""
  _check_lengths(predictions, references, 'references')
  with needs('metrics', 'BLEU'):
    from sacrebleu.metrics.bleu import BLEU

  metric = BLEU(tokenize='none', force=True)
  score = metric.corpus_score(list(predictions), [list(references)]).score
  return Bleu(score, str(metric.get_signature()))


def _distinct(relations: Relations) -> list[Hashable]:
  return list(dict.fromkeys(relations))


def _percent(part: int, whole: int) -> float:
  return 100 * part / whole if whole else 0.0


def _check_lengths(
  predictions: Sequence[object], others: Sequence[object], name: str
) -> None:
  if not predictions or len(predictions) != len(others):
    raise InputError(
      f'{len(predictions)} predictions and {len(others)} {name} cannot be '
      'compared: as many of each are needed, and at least one.'
    )
