"""What is measured of every summary: a row per document.

Rows of several machines are joined and sorted, so that whatever is computed
from them does not depend on who measured what.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int

from stepwise._rouge import DEFAULT_METRIC, KINDS, References, Sentences
from stepwise.evaluation._lengths import count_words
from stepwise.evaluation._positions import (
  PositionStatistics,
  locate_sentences,
  position_statistics,
)
from stepwise.evaluation._redundancy import repeated_ngrams
from stepwise.evaluation._rouge import rouge_scores


@dataclass(frozen=True)
class TextMeasures:
  """Words of every text, and the share of its trigrams that repeat others."""

  words: Int[np.ndarray, ' documents']
  repeated: Float[np.ndarray, ' documents']

  def __len__(self) -> int:
    return len(self.words)

  def take(self, rows: Sequence[int]) -> 'TextMeasures':
    return TextMeasures(self.words[rows], self.repeated[rows])


@dataclass(frozen=True)
class SummaryMeasures:
  """What was measured of the summaries of one system.

  Attributes:
    rouge: of every summary.
    texts: of every summary.
    sentences: that every summary has.
    located: the unit of its document that each sentence is, -1 if none.
  """

  rouge: Float[np.ndarray, 'documents kinds 3']
  texts: TextMeasures
  sentences: Int[np.ndarray, ' documents']
  located: Int[np.ndarray, ' sentences']

  def __len__(self) -> int:
    return len(self.rouge)

  def take(self, rows: Sequence[int]) -> 'SummaryMeasures':
    """Some documents, in the order given."""
    parts = np.split(self.located, np.cumsum(self.sentences)[:-1])
    return SummaryMeasures(
      self.rouge[rows],
      self.texts.take(rows),
      self.sentences[rows],
      np.concatenate([self.located[:0], *(parts[row] for row in rows)]),
    )

  def positions(
    self, sizes: Int[np.ndarray, ' documents']
  ) -> PositionStatistics | None:
    """Where sentences come from, in documents of so many units."""
    chosen = np.split(self.located, np.cumsum(self.sentences)[:-1])
    return position_statistics(
      [units.tolist() for units in chosen], sizes.tolist()
    )

  def middles(
    self, sizes: Int[np.ndarray, ' documents']
  ) -> Float[np.ndarray, ' documents']:
    """Where the sentences of each summary come from on average, 0 to 1.

    NaN where none is found in its document.
    """
    owners = np.repeat(np.arange(len(self)), self.sentences)
    found = self.located >= 0
    owners, units = owners[found], self.located[found]
    shares = units / np.maximum(sizes[owners] - 1, 1)
    counts = np.bincount(owners, minlength=len(self))
    sums = np.bincount(owners, shares, minlength=len(self))
    return np.divide(
      sums, counts, out=np.full(len(self), np.nan), where=counts > 0
    )


def measure_texts(
  texts: Sequence[Sentences], metric: str = DEFAULT_METRIC
) -> TextMeasures:
  """Words and repetitions of every text."""
  shares = [repeated_ngrams(text, metric=metric) for text in texts]
  return TextMeasures(count_words(texts), np.array(shares, np.float64))


def measure_summaries(
  summaries: Sequence[Sentences],
  references: Sequence[References],
  documents: Sequence[Sequence[str]] | None = None,
  *,
  metric: str = DEFAULT_METRIC,
  kinds: Sequence[str] = KINDS,
  several: str = 'average',
  processes: int = 1,
) -> SummaryMeasures:
  """Measures summaries; see `rouge` and `compare_systems`."""
  scores = rouge_scores(
    summaries,
    references,
    metric,
    kinds=kinds,
    several=several,
    processes=processes,
  )
  units = [()] * len(summaries) if documents is None else documents
  located = [
    locate_sentences(summary, of_one)
    for summary, of_one in zip(summaries, units, strict=True)
  ]
  return SummaryMeasures(
    scores,
    measure_texts(summaries, metric),
    np.array([len(summary) for summary in summaries], np.int64),
    np.array([unit for units in located for unit in units], np.int64),
  )


def join_texts(parts: Sequence[TextMeasures]) -> TextMeasures:
  """Measures of all documents, in the order of the parts."""
  return TextMeasures(
    *(
      np.concatenate([getattr(part, field.name) for part in parts])
      for field in fields(TextMeasures)
    )
  )


def join_measures(parts: Sequence[SummaryMeasures]) -> SummaryMeasures:
  """The documents of all parts, one part after another."""
  return SummaryMeasures(
    np.concatenate([part.rouge for part in parts]),
    join_texts([part.texts for part in parts]),
    np.concatenate([part.sentences for part in parts]),
    np.concatenate([part.located for part in parts]),
  )
