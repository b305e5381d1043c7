"""What may be asked of a summary, and what it means for the search."""

import dataclasses
from typing import get_args

from stepwise._errors import InputError
from stepwise.data import Record
from stepwise.documents import Document
from stepwise.inference import Budget, Demands, PredictConfig
from stepwise.summarization._result import Order


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
  budget = None
  if options.words:
    budget = _word_budget(options.words, document.units[:read], must_include)
  length = _length(options, len(document.spans), budget)
  if length is not None:
    length = max(length, len(must_include), 1)
  # The stop is closed before: whoever asks for a length gets it.
  return Demands(budget, must_include, min_units=length, max_units=length)


def _length(options: Options, units: int, budget: Budget | None) -> int | None:
  """Sentences to choose, if so many fit; None if the model decides."""
  if options.ratio:
    return round(options.ratio * units)
  if options.sentences or budget is None:
    return options.sentences
  return _most_units(budget)


def search_config(options: Options, config: PredictConfig) -> PredictConfig:
  """The search that satisfies the options."""
  least = max(config.decode.min_units, 1)
  decode = dataclasses.replace(config.decode, min_units=least)
  if options.words:
    # Products of probabilities would prefer few long sentences.
    decode = dataclasses.replace(decode, length_alpha=1.0)
  blocking = options.trigram_blocking
  if blocking is None:
    blocking = config.trigram_blocking
  return dataclasses.replace(config, decode=decode, trigram_blocking=blocking)


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
