"""What may be asked of a summary, and what it means for the search."""

import dataclasses
from typing import get_args

from stepwise._errors import InputError
from stepwise.data import Record
from stepwise.documents import Document
from stepwise.inference import (
  Budget,
  Demands,
  PredictConfig,
  inference_buckets,
)
from stepwise.models import ModelConfig
from stepwise.summarization._result import Order

# Numbers of steps to compile for, where a document decides how many it needs.
_LEAST_STEPS = 4


@dataclasses.dataclass(frozen=True)
class Options:
  """See `stepwise.summarize`."""

  sentences: int | None = None
  words: int | None = None
  ratio: float | None = None
  order: str = 'document'
  must_include: tuple[int | str, ...] = ()
  trigram_blocking: bool | None = None

  def __post_init__(self) -> None:
    for name in ('sentences', 'words'):
      value = getattr(self, name)
      if value is not None and value < 1:
        raise InputError(f'{name} is {value}, must be at least 1.')
    if self.ratio is not None and not 0 < self.ratio <= 1:
      raise InputError(f'ratio is {self.ratio}, must be above 0 and at most 1.')
    if self.ratio is not None and (self.sentences or self.words):
      raise InputError('ratio is given together with sentences or words.')
    if self.order not in get_args(Order):
      raise InputError(
        f'order is {self.order!r}, must be one of {get_args(Order)}.'
      )


def demands_of(options: Options, document: Document, record: Record) -> Demands:
  """What is asked of the choice among the sentences that were read."""
  read = record.num_units - record.special
  required = {_find(wish, document, read) for wish in options.must_include}
  must_include = tuple(sorted(required))
  if options.sentences and len(must_include) > options.sentences:
    raise InputError(
      f'must_include has {len(must_include)} sentences but sentences is '
      f'{options.sentences}.'
    )
  return Demands(_budget(options, document, read, must_include), must_include)


def _budget(
  options: Options, document: Document, read: int, required: tuple[int, ...]
) -> Budget | None:
  """Words, or sentences: if every one costs 1, one search does for all."""
  if options.words:
    return _word_budget(options.words, document.units[:read], required)
  if options.sentences:
    return Budget((1,) * read, options.sentences)
  if options.ratio:
    share = max(round(options.ratio * len(document.spans)), len(required), 1)
    return Budget((1,) * read, share)
  return None


def search_config(
  options: Options, config: PredictConfig, model: ModelConfig, demands: Demands
) -> PredictConfig:
  """The search that satisfies the options.

  Whoever asks for a length gets it, as far as the document has it: the stop
  is closed before. Otherwise the model stops by itself.
  """
  decode, top_k = config.decode, config.top_k
  steps = _steps(options, model, demands)
  if steps is not None:
    top_k = steps
    decode = dataclasses.replace(decode, max_units=steps, min_units=steps)
  else:
    least = max(len(demands.must_include), 1)
    top_k = max(top_k, least)
    decode = dataclasses.replace(
      decode,
      max_units=max(decode.max_units, least),
      min_units=max(decode.min_units, 1),
    )
  if options.words:
    # Products of probabilities would prefer few long sentences.
    decode = dataclasses.replace(decode, length_alpha=1.0)
  blocking = options.trigram_blocking
  if blocking is None:
    blocking = config.trigram_blocking
  return dataclasses.replace(
    config, decode=decode, top_k=top_k, trigram_blocking=blocking
  )


def _steps(
  options: Options, model: ModelConfig, demands: Demands
) -> int | None:
  """Most sentences that can be asked for; None if the model decides."""
  if demands.budget is None:
    return None
  limit = model.limits.plan or inference_buckets(model).units[-1]
  if options.words and options.sentences:
    # The budget holds the words.
    return min(options.sentences, limit)
  # A power of two: one compiled search for many documents.
  steps = _LEAST_STEPS
  while steps < _most_units(demands.budget):
    steps *= 2
  return min(steps, limit)


def _most_units(budget: Budget) -> int:
  """How many units fit if the cheapest are taken."""
  left, count = budget.limit, 0
  for cost in sorted(budget.costs):
    left -= cost
    if left < 0:
      break
    count += 1
  return count


def _word_budget(
  words: int, units: tuple[str, ...], required: tuple[int, ...]
) -> Budget:
  costs = tuple(len(unit.split()) for unit in units)
  needed = sum(costs[unit] for unit in required)
  if needed > words:
    raise InputError(f'must_include has {needed} words but words is {words}.')
  # A summary is never empty: if no sentence is as short, it is the shortest.
  return Budget(costs, words if required else max(words, min(costs)))


def _find(wish: int | str, document: Document, read: int) -> int:
  """The sentence of that index, or the first one with that text in it."""
  total = len(document.spans)
  if isinstance(wish, str):
    part = wish.casefold()
    matches = (
      index
      for index, unit in enumerate(document.units)
      if part in unit.casefold()
    )
    index = next(matches, None) if part.strip() else None
    if index is None:
      raise InputError(f'must_include has {wish!r}, which is in no sentence.')
  elif 0 <= wish < total:
    index = wish
  else:
    raise InputError(
      f'must_include has sentence {wish}, there are 0 to {total - 1}.'
    )
  if index >= read:
    raise InputError(
      f'must_include has sentence {index}, but the model reads only the first '
      f'{read} of {total}.'
    )
  return index
