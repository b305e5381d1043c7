"""What all summarizers share: documents in, summaries out."""

import abc
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import jax

from stepwise._errors import InputError
from stepwise.documents import Document, ReadOptions
from stepwise.summarization._options import SummaryOptions
from stepwise.summarization._requests import Request, make_request
from stepwise.summarization._result import ChosenSentence, Step, Summary
from stepwise.summarization._texts import Text, as_document

# Batches that are read before the first is decoded, so that they can be filled
# with documents of similar size.
_BATCHES_AHEAD = 8


class Chosen(NamedTuple):
  """What was chosen of one document.

  Attributes:
    steps: all choices.
    model: that made them.
    warnings: what was not read.
    reason: why this model.
  """

  steps: tuple[Step, ...]
  model: str
  warnings: tuple[str, ...] = ()
  reason: str = ''


class Summarizer(abc.ABC):
  """Summarises texts by choosing sentences."""

  name: str

  @abc.abstractmethod
  def choose(
    self,
    requests: Sequence[Request],
    options: SummaryOptions,
    batch_size: int | None,
  ) -> list[Chosen]:
    """Units for every request."""

  def __call__(
    self,
    text: Text,
    options: SummaryOptions = SummaryOptions(),
    reading: ReadOptions = ReadOptions(),
  ) -> Summary:
    """Summarises one text; see `stepwise.summarize`."""
    request = make_request(as_document(text, reading), options)
    (chosen,) = self.choose([request], options, batch_size=1)
    return _summary(request, chosen, options)

  def many(
    self,
    texts: Iterable[Text | InputError],
    options: SummaryOptions = SummaryOptions(),
    reading: ReadOptions = ReadOptions(),
    *,
    batch_size: int | None = None,
  ) -> Iterator[Summary | InputError]:
    """One result per text, in order; what cannot be summarised is an error.

    Holds no more texts than a few batches.

    Args:
      texts: to summarise; one that could not even be read is passed on.
      options: of all of them.
      reading: how texts are read.
      batch_size: texts decoded together; by default one on a CPU, where more
        gain nothing, and eight elsewhere.
    """
    if batch_size is None:
      batch_size = 1 if jax.default_backend() == 'cpu' else 8
    remaining = iter(texts)
    while chunk := list(islice(remaining, _BATCHES_AHEAD * batch_size)):
      requests = [_attempt(text, options, reading) for text in chunk]
      good = [each for each in requests if isinstance(each, Request)]
      found = iter(self.choose(good, options, batch_size))
      for each in requests:
        if isinstance(each, Request):
          yield _summary(each, next(found), options)
        else:
          yield each


def _attempt(
  text: Text | InputError, options: SummaryOptions, reading: ReadOptions
) -> Request | InputError:
  if isinstance(text, InputError):
    return text
  try:
    return make_request(as_document(text, reading), options)
  except InputError as error:
    return error


def _summary(
  request: Request, chosen: Chosen, options: SummaryOptions
) -> Summary:
  sentences = _sentences(request.document, chosen.steps)
  if options.order == 'document':
    sentences = sorted(sentences, key=lambda sentence: sentence.index)
  return Summary(
    tuple(sentences),
    options.order,
    chosen.steps,
    chosen.model,
    (
      *request.warnings,
      *chosen.warnings,
      *_too_few(request, options, len(sentences)),
    ),
    request.document,
    chosen.reason,
  )


def _too_few(
  request: Request, options: SummaryOptions, chosen: int
) -> Iterator[str]:
  """Where sentences are counted, blocking may leave fewer than were asked."""
  counted = isinstance(options.sentences, int) or options.ratio
  if not counted or options.has_budget or request.limit is None:
    return
  there = int(request.may.sum())
  if chosen < min(request.limit, there):
    yield (
      f'{chosen} of {there} sentences were chosen: each of the others shares '
      'three words in a row with one of them (trigram_blocking).'
    )


def _sentences(
  document: Document, steps: Sequence[Step]
) -> list[ChosenSentence]:
  """The chosen sentences, in the order of choice."""
  sentences = []
  for number, step in enumerate(steps, start=1):
    if step.index is not None:
      start, end = document.spans[step.index]
      sentences.append(
        ChosenSentence(
          document.text[start:end],
          start,
          end,
          step.index,
          number,
          step.log_prob,
          document.kind(step.index),
        )
      )
  return sentences
