"""What options mean for one document."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from stepwise._errors import InputError
from stepwise.documents import Document, count_words, says_something
from stepwise.summarization._options import AUTO, SummaryOptions

# Sentences of a summary if nobody says how many.
USUAL_SENTENCES = 3
# A shorter sentence is no use of a budget: it fills what is left of it.
_FILLER_WORDS = 4


class Request(NamedTuple):
  """A document, and what is asked of its summary.

  Attributes:
    document: to summarise.
    may: units that may be chosen.
    required: units that must be.
    costs: of every unit: its words or characters, or 1.
    limit: of the costs of all that are chosen; None = as many as are usual.
    most: units that may be chosen at all; None = the costs decide.
    warnings: what could not be done as asked.
  """

  document: Document
  may: Bool[np.ndarray, ' units']
  required: tuple[int, ...]
  costs: Int[np.ndarray, ' units']
  limit: int | None
  most: int | None = None
  warnings: tuple[str, ...] = ()

  @property
  def most_units(self) -> int:
    """How many units fit if the cheapest are taken."""
    allowed = np.sort(self.costs[self.may])
    fitting = int((np.cumsum(allowed) <= (self.limit or 0)).sum())
    count = fitting if self.limit is not None else int(self.may.sum())
    return max(min(count, self.most or count), len(self.required), 1)


def make_request(document: Document, options: SummaryOptions) -> Request:
  """What is asked, in terms of the units of this document."""
  required = _find_all('must_include', options.must_include, document)
  excluded = _find_all('must_exclude', options.must_exclude, document)
  if both := sorted(set(required) & set(excluded)):
    raise InputError(f'sentence {both[0] + 1} is both included and excluded.')
  may, warnings = _candidates(document, options, required, excluded)
  request = _budget(document, options, may, required)
  request = _without_fillers(request, options)
  _check_required(options, request)
  return request._replace(warnings=(*warnings, *_shortage(request, options)))


def _candidates(
  document: Document,
  options: SummaryOptions,
  required: tuple[int, ...],
  excluded: tuple[int, ...],
) -> tuple[np.ndarray, tuple[str, ...]]:
  may = np.array(document.of_kinds(options.kinds), bool)
  if options.units != 'all':
    for index, unit in enumerate(document.units):
      if document.kind(index) == 'item':
        may[index] &= says_something(unit)
  warnings: tuple[str, ...] = ()
  if not may.any():
    may[:] = True
    warnings = (
      f'the text has no {" and no ".join(options.kinds)}: all of it may be'
      ' chosen.',
    )
  may[list(excluded)] = False
  may[list(required)] = True
  if not may.any():
    raise InputError('must_exclude leaves no sentence to choose.')
  return may, warnings


def _budget(
  document: Document,
  options: SummaryOptions,
  may: np.ndarray,
  required: tuple[int, ...],
) -> Request:
  """Words, characters, or sentences: these cost 1 each."""
  single = np.ones(len(may), int)
  most = options.sentences if isinstance(options.sentences, int) else None
  if options.words or options.characters:
    measure = count_words if options.words else len
    costs = np.array([measure(unit) for unit in document.units], int)
    limit = options.words or options.characters or 0
    return Request(document, may, required, costs, limit, most)
  if options.ratio:
    share = max(round(options.ratio * int(may.sum())), len(required), 1)
    return Request(document, may, required, single, share)
  if most is not None:
    return Request(document, may, required, single, most)
  if options.sentences == AUTO:
    return Request(document, may, required, single, None)
  usual = max(USUAL_SENTENCES, len(required))
  return Request(document, may, required, single, usual)


def _without_fillers(request: Request, options: SummaryOptions) -> Request:
  """In a budget, what is too short or too long is no candidate."""
  if not options.has_budget:
    return request
  assert request.limit is not None
  units = request.document.units
  words = np.array([count_words(unit) for unit in units])
  fitting = request.may & (request.costs <= request.limit)
  substantial = fitting & (words >= _FILLER_WORDS)
  may = substantial if substantial.any() else fitting
  if not may.any():
    # A summary is never empty: if nothing is as short, it is the shortest.
    costs = np.where(request.may, request.costs, request.costs.max() + 1)
    may[np.argmin(costs)] = True
    limit = max(request.limit, int(costs.min()))
    request = request._replace(limit=limit)
  may[list(request.required)] = True
  return request._replace(may=may)


def _check_required(options: SummaryOptions, request: Request) -> None:
  count = len(request.required)
  if isinstance(options.sentences, int) and count > options.sentences:
    raise InputError(
      f'must_include has {count} sentences but sentences is '
      f'{options.sentences}.'
    )
  needed = int(request.costs[list(request.required)].sum())
  for name in ('words', 'characters'):
    limit = getattr(options, name)
    if limit is not None and needed > limit:
      raise InputError(
        f'must_include has {needed} {name} but {name} is {limit}.'
      )


def _shortage(request: Request, options: SummaryOptions) -> Iterator[str]:
  asked, there = options.sentences, int(request.may.sum())
  if isinstance(asked, int) and not options.has_budget and asked > there:
    yield (
      f'{asked} sentences were asked for, but the text has only {there} that'
      ' can be chosen.'
    )
  for name in ('words', 'characters'):
    limit = getattr(options, name)
    if limit is not None and (request.limit or 0) > limit:
      yield (
        f'no sentence has {limit} {name} or fewer: the summary is the'
        f' shortest, of {request.limit}.'
      )


def _find_all(
  name: str, wishes: tuple[int | str, ...], document: Document
) -> tuple[int, ...]:
  return tuple(sorted({_find(name, wish, document) for wish in wishes}))


def _find(name: str, wish: int | str, document: Document) -> int:
  """The sentence of that number, or the first one with that text in it."""
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
      raise InputError(f'{name} has {wish!r}, which is in no sentence.')
    return index
  if not 1 <= wish <= total:
    raise InputError(f'{name} has sentence {wish}, there are 1 to {total}.')
  return int(wish) - 1
