"""Summaries without a trained model, for any language and any length."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from stepwise.decoding import trigram_overlap
from stepwise.documents import Document
from stepwise.summarization._base import Chosen, Summarizer
from stepwise.summarization._coverage import centrality, cover
from stepwise.summarization._encoder import UnitEncoder
from stepwise.summarization._focus import focus_on
from stepwise.summarization._options import AUTO, SummaryOptions
from stepwise.summarization._requests import Request
from stepwise.summarization._result import Step

# Names of rankers, and what each goes by.
RANKERS = {
  'lead': 'the first sentences',
  'lexrank': 'sentences like many others',
  'textrank': 'sentences that share words with many others',
  'centroid': 'sentences close to the mean of all, in a space of meanings',
  'coverage': 'sentences that cover the words of the text',
}


@dataclasses.dataclass(frozen=True, eq=False)
class RankSummarizer(Summarizer):
  """Chooses by scores that need no training.

  Attributes:
    name: one of `RANKERS`.
    load_encoder: gives the encoder for `centroid`, and for `about` where it
      knows the language; called only then.
    encoder_languages: that the encoder knows.
  """

  name: str
  load_encoder: Callable[[], UnitEncoder] | None = None
  encoder_languages: tuple[str, ...] = ('en', '')

  def choose(
    self,
    requests: Sequence[Request],
    options: SummaryOptions,
    batch_size: int | None,
  ) -> list[Chosen]:
    return [self._choose(request, options) for request in requests]

  def _choose(self, request: Request, options: SummaryOptions) -> Chosen:
    if request.limit is None and options.sentences == AUTO:
      request = request._replace(limit=auto_length(request))
    focus = None
    if options.about is not None:
      known = request.document.language in self.encoder_languages
      encoder = self.load_encoder() if known and self.load_encoder else None
      focus = focus_on(options.about, request, encoder)
    if self.name == 'coverage':
      units = [choice.unit for choice in cover(request, focus=focus)]
    else:
      scores = self.scores(request.document)
      if focus is not None:
        scores = _percentile(scores) * focus
      blocking = bool(options.trigram_blocking)
      units = take(request, scores, trigram_blocking=blocking)
    return Chosen(tuple(Step(unit) for unit in units), self.name)

  def scores(self, document: Document) -> Float[np.ndarray, ' units']:
    """How good every unit is; higher is better."""
    if self.name == 'lead':
      return -np.arange(len(document.spans), dtype=float)
    if self.name == 'centroid':
      assert self.load_encoder is not None
      return self.load_encoder().centrality(document)
    return centrality(document.units, self.name)


def auto_length(request: Request) -> int:
  """A length for a text of this size: three of 20 sentences, ten of 350."""
  return max(round(int(request.may.sum()) ** 0.39), len(request.required), 1)


def take(
  request: Request,
  scores: Float[np.ndarray, ' units'],
  *,
  trigram_blocking: bool = False,
) -> list[int]:
  """Required units, then the best affordable ones, the best first."""
  units = request.document.units
  left = request.limit if request.limit is not None else len(units)
  slots = request.most or len(units)
  chosen: list[int] = []
  order = np.argsort(-scores, kind='stable').tolist()
  for unit in [*request.required, *order]:
    if unit in chosen or not request.may[unit] or slots < 1:
      continue
    if request.costs[unit] > left:
      continue
    repeats = trigram_blocking and unit not in request.required
    if repeats and _overlaps(units, unit, chosen):
      continue
    chosen.append(unit)
    left, slots = left - int(request.costs[unit]), slots - 1
  return chosen


def _overlaps(units: Sequence[str], unit: int, chosen: list[int]) -> bool:
  overlap = trigram_overlap([units[unit], *(units[each] for each in chosen)])
  return bool(np.asarray(overlap)[0, 1:].any())


def _percentile(scores: np.ndarray) -> np.ndarray:
  order = np.argsort(np.argsort(scores, kind='stable'), kind='stable')
  return (order + 1) / len(order)
