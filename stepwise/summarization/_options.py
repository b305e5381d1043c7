"""What a person may ask of a summary."""

import dataclasses
import numbers
from collections.abc import Iterable
from typing import Any, get_args

from stepwise._errors import InputError
from stepwise.documents import PROSE, Kind
from stepwise.summarization._result import Order

AUTO = 'auto'


@dataclasses.dataclass(frozen=True)
class SummaryOptions:
  """See `stepwise.summarize`."""

  sentences: int | str | None = None
  words: int | None = None
  ratio: float | None = None
  characters: int | None = None
  order: str = 'document'
  must_include: tuple[int | str, ...] = ()
  must_exclude: tuple[int | str, ...] = ()
  about: str | None = None
  units: str | tuple[str, ...] = PROSE
  trigram_blocking: bool | None = None

  def __post_init__(self) -> None:
    if self.sentences != AUTO:
      _check_count('sentences', self.sentences, ' or "auto"')
    _check_count('words', self.words)
    _check_count('characters', self.characters)
    _check_ratio(self.ratio)
    self._check_lengths()
    if self.order not in get_args(Order):
      raise InputError(
        f'order is {self.order!r}, must be one of {get_args(Order)}.'
      )
    if self.about is not None and not str(self.about).strip():
      raise InputError('about is empty: it must say what to look for.')
    self._check_units()

  def _check_lengths(self) -> None:
    given = [
      name
      for name in ('words', 'ratio', 'characters')
      if getattr(self, name) is not None
    ]
    if len(given) > 1:
      raise InputError(f'{given[0]} is given together with {given[1]}.')
    if self.sentences is not None and self.ratio is not None:
      raise InputError('ratio is given together with sentences.')

  def _check_units(self) -> None:
    unknown = sorted(set(self.kinds) - set(get_args(Kind)))
    if unknown:
      raise InputError(
        f'units has {unknown[0]!r}, must be all, prose or some of '
        f'{", ".join(get_args(Kind))}.'
      )

  @property
  def kinds(self) -> tuple[str, ...]:
    """Kinds of units that may be chosen."""
    if self.units == 'all':
      return get_args(Kind)
    if self.units == 'prose':
      return PROSE
    if isinstance(self.units, str):
      return tuple(self.units.replace(',', ' ').split())
    return tuple(self.units)

  @property
  def has_budget(self) -> bool:
    """Whether the length is one of words or characters."""
    return self.words is not None or self.characters is not None

  @property
  def has_length(self) -> bool:
    """Whether a length is asked for."""
    lengths = (self.sentences, self.words, self.ratio, self.characters)
    return any(length is not None for length in lengths)


def make_options(
  *,
  must_include: Iterable[int | str] | int = (),
  must_exclude: Iterable[int | str] | int = (),
  **options: Any,
) -> SummaryOptions:
  """Options with sentences named alone or in any collection."""
  return SummaryOptions(
    must_include=_wishes('must_include', must_include),
    must_exclude=_wishes('must_exclude', must_exclude),
    **options,
  )


def _wishes(name: str, value: Any) -> tuple[int | str, ...]:
  # One string is meant whole, not letter by letter.
  wishes = (value,) if isinstance(value, str | int) else tuple(value)
  for wish in wishes:
    if isinstance(wish, bool) or not isinstance(wish, str | numbers.Integral):
      raise InputError(
        f'{name} has {wish!r} of type {type(wish).__name__}, must be the '
        'number or a piece of the text of a sentence.'
      )
  return wishes


def _check_count(name: str, value: Any, also: str = '') -> None:
  if value is None:
    return
  if isinstance(value, bool) or not isinstance(value, numbers.Integral):
    raise InputError(
      f'{name} is {value!r} of type {type(value).__name__}, must be a whole '
      f'number{also}.'
    )
  if value < 1:
    raise InputError(f'{name} is {value}, must be at least 1.')


def _check_ratio(value: Any) -> None:
  if value is None:
    return
  if isinstance(value, bool) or not isinstance(value, float | int):
    raise InputError(
      f'ratio is {value!r} of type {type(value).__name__}, must be a number.'
    )
  if not 0 < value <= 1:
    raise InputError(f'ratio is {value}, must be above 0 and at most 1.')
