"""Summaries of plain texts by any model that chooses sentences."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import jax
import numpy as np

from stepwise._errors import InputError
from stepwise.data import Record, Tokenizer
from stepwise.documents import Document, split_sentences
from stepwise.inference import (
  PredictConfig,
  Prediction,
  Predictor,
  Reading,
  inference_buckets,
  read_document,
)
from stepwise.models import ModelConfig
from stepwise.summarization._options import Options, demands_of, search_config
from stepwise.summarization._result import Sentence, Step, Summary

# Batches that are read before the first is decoded, so that they can be filled
# with documents of similar size.
_BATCHES_AHEAD = 8


class _Request(NamedTuple):
  reading: Reading
  config: PredictConfig


@dataclasses.dataclass(frozen=True)
class Summarizer:
  """A model, ready for texts.

  Compiles once for every size of document; sizes are powers of two.

  Attributes:
    model: its configuration, or a baseline.
    params: its parameters.
    tokenizer: that it was trained with.
    config: how it chooses if nothing is asked.
    name: for people.
  """

  model: ModelConfig
  params: Any
  tokenizer: Tokenizer
  config: PredictConfig
  name: str

  def __call__(
    self, text: str | Document, options: Options = Options()
  ) -> Summary:
    """Summarises one text; see `stepwise.summarize`."""
    request = self._request(text, options)
    (summary,) = self._summaries([request], options, batch_size=1)
    return summary

  def many(
    self,
    texts: Iterable[str | Document | InputError],
    options: Options = Options(),
    *,
    batch_size: int | None = None,
  ) -> Iterator[Summary | InputError]:
    """One result per text, in order; what cannot be summarised is an error.

    Holds no more texts than a few batches.

    Args:
      texts: to summarise; one that could not even be read is passed on.
      options: of all of them.
      batch_size: texts decoded together; by default one on a CPU, where more
        gain nothing, and eight elsewhere.
    """
    if batch_size is None:
      batch_size = 1 if jax.default_backend() == 'cpu' else 8
    remaining = iter(texts)
    while chunk := list(islice(remaining, _BATCHES_AHEAD * batch_size)):
      requests = [self._attempt(text, options) for text in chunk]
      good = [each for each in requests if isinstance(each, _Request)]
      found = iter(self._summaries(good, options, batch_size))
      for each in requests:
        yield next(found) if isinstance(each, _Request) else each

  def _attempt(
    self, text: str | Document | InputError, options: Options
  ) -> _Request | InputError:
    if isinstance(text, InputError):
      return text
    try:
      return self._request(text, options)
    except InputError as error:
      return error

  def _request(self, text: str | Document, options: Options) -> _Request:
    document = text if isinstance(text, Document) else _document(text)
    record = read_document(document, self.tokenizer, self.model)
    demands = demands_of(options, document, record)
    config = search_config(options, self.config)
    return _Request(Reading(document, record, demands), config)

  def _summaries(
    self, requests: Sequence[_Request], options: Options, batch_size: int
  ) -> list[Summary]:
    """Decodes those together that are searched alike."""
    alike = defaultdict(list)
    for position, request in enumerate(requests):
      alike[request.config].append(position)
    summaries: dict[int, Summary] = {}
    for config, positions in alike.items():
      predictor = Predictor(
        self.model,
        self.params,
        dataclasses.replace(config, batch_size=batch_size),
        inference_buckets(self.model),
      )
      readings = [requests[position].reading for position in positions]
      found = predictor.predict(readings)
      for position, each in zip(positions, found, strict=True):
        reading = requests[position].reading
        summaries[position] = self._summary(reading, each, options)
    return [summaries[position] for position in range(len(requests))]

  def _summary(
    self, reading: Reading, prediction: Prediction, options: Options
  ) -> Summary:
    if prediction.broken:
      raise InputError(
        f'{self.name} gives scores that are not numbers: its weights are'
        ' broken.'
      )
    # Baselines score by position: what would follow is no probability.
    steps = (
      _steps(prediction)
      if self.model.gives_probabilities
      else tuple(Step(unit) for unit in prediction.units)
    )
    sentences = _sentences(reading.document, steps)
    if options.order == 'document':
      sentences = sorted(sentences, key=lambda sentence: sentence.index)
    summary = Summary(
      tuple(sentences),
      options.order,
      steps,
      self.name,
      document=reading.document,
    )
    warnings = (*_cuts(reading.record), *_excess(summary, options))
    return dataclasses.replace(summary, warnings=warnings)


def _document(text: str) -> Document:
  if not isinstance(text, str):
    raise InputError(
      f'a text is of type {type(text).__name__}, must be str or Document.'
    )
  try:
    text.encode()
  except UnicodeEncodeError as error:
    raise InputError(
      f'the text has half a surrogate pair at character {error.start}.'
    ) from None
  spans = tuple(split_sentences(text))
  if not spans:
    raise InputError('the text is empty: there is nothing to summarise.')
  return Document(text, spans)


def _steps(prediction: Prediction) -> tuple[Step, ...]:
  """Every choice, the stop included if it was one."""
  indices = [*prediction.units, None]
  return tuple(
    Step(
      indices[step],
      float(log_prob),
      tuple(np.exp(prediction.rankings[step]).astype(float).tolist()),
      float(np.exp(prediction.stops[step])),
    )
    for step, log_prob in enumerate(prediction.log_probs)
  )


def _sentences(document: Document, steps: Sequence[Step]) -> list[Sentence]:
  """The chosen sentences, in the order of choice."""
  sentences = []
  for number, step in enumerate(steps, start=1):
    if step.index is not None:
      start, end = document.spans[step.index]
      text = document.text[start:end]
      sentences.append(
        Sentence(text, start, end, step.index, number, step.log_prob)
      )
  return sentences


def _cuts(record: Record) -> Iterator[str]:
  read = record.num_units - record.special
  if record.units_cut:
    yield (
      f'only the first {read} of {read + record.units_cut} sentences were'
      ' read: the document is longer than the model reads.'
    )
  if record.units_shortened:
    yield (
      f'{record.units_shortened} of {read} sentences were read only in part:'
      ' they are longer than the model reads.'
    )


def _excess(summary: Summary, options: Options) -> Iterator[str]:
  if options.words and summary.words > options.words:
    yield (
      f'no sentence has {options.words} words or fewer: the summary is the'
      f' shortest, of {summary.words}.'
    )
