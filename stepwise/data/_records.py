"""Records: a document as the two arrays every model reads, and examples."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, Int32

from stepwise._errors import InputError
from stepwise.data._tokenizers import Tokenizer
from stepwise.documents import Document

Example = dict[str, np.ndarray]
Mode = Literal['all', 'steps', 'sample']

SPECIAL_UNITS = ('eot', 'beg', 'eos')


@dataclass(frozen=True, eq=False)
class Record:
  """A tokenised document, not padded; special units come first.

  Attributes:
    tokens: ids of all units, one after another.
    unit_ids: the unit of every token.
    spans: characters of every unit in the text; (0, 0) for special units.
    special_units: names of the special units, in order.
    units_cut: whole units that did not fit and are gone from the end.
    units_shortened: units that lost tokens at their end.
    tokenizer: name of the tokeniser the ids belong to.
    id: that of the document.
    gains: of every unit at every step of its oracle, if they were measured;
      special units gain nothing.
    reference: ids of the summary's pieces, 0 in place of those that are no
      words, if they were kept.
    table: name of the table that it was made of; '' = of a document.
  """

  tokens: Int32[np.ndarray, ' length']
  unit_ids: Int32[np.ndarray, ' length']
  spans: tuple[tuple[int, int], ...]
  special_units: tuple[str, ...] = ()
  units_cut: int = 0
  units_shortened: int = 0
  tokenizer: str = ''
  id: str = ''
  gains: Float32[np.ndarray, 'steps units'] | None = None
  reference: Int32[np.ndarray, ' pieces'] | None = None
  table: str = ''

  @property
  def num_units(self) -> int:
    """Units in the record, special ones included."""
    return len(self.spans)

  @property
  def special(self) -> int:
    """How many special units come first."""
    return len(self.special_units)


def make_record(
  document: Document,
  tokenizer: Tokenizer,
  *,
  special_units: Sequence[str] = ('eot', 'beg'),
  max_units: int | None = None,
  max_tokens: int | None = None,
  max_unit_tokens: int | None = None,
  reference: bool = False,
) -> Record:
  """Tokenises a document and cuts it at the last whole unit that fits.

  All limits count special units and their tokens, as the tables of a model do.
  A first unit that alone is too long is cut inside, so that a record is never
  empty. Whatever is cut is counted in the record.

  Args:
    document: at least one unit.
    tokenizer: gives the ids.
    special_units: names among `eot`, `beg`, `eos`; none for extractive models.
    max_units: units in the record.
    max_tokens: tokens in the record.
    max_unit_tokens: tokens of one unit.
    reference: keep the pieces of the summary, too (`Record.reference`).

  >>> from stepwise.data import wordpiece
  >>> from stepwise.documents import make_document
  >>> document = make_document({'article': 'It rained. We left.'})
  >>> record = make_record(document, wordpiece(), max_tokens=5)
  >>> record.tokens.tolist(), record.unit_ids.tolist(), record.units_cut
  ([10, 11, 2009, 28270, 1012], [0, 1, 2, 2, 2], 1)
  """
  _check_special(special_units)
  if not document.spans:
    raise InputError(f'document {document.id!r} has no units.')
  special = [[getattr(tokenizer, name)] for name in special_units]
  room = _room(len(special), max_units, max_tokens, max_unit_tokens)
  units, shortened = _cut(tokenizer.encode_units(document.units), room)
  all_units = special + units
  return Record(
    tokens=np.array([t for unit in all_units for t in unit], np.int32),
    unit_ids=unit_ids_of([len(unit) for unit in all_units]),
    spans=((0, 0),) * len(special) + document.spans[: len(units)],
    special_units=tuple(special_units),
    units_cut=len(document.spans) - len(units),
    units_shortened=shortened,
    tokenizer=tokenizer.name,
    id=document.id,
    reference=(
      reference_pieces(document.summary, tokenizer) if reference else None
    ),
  )


def reference_pieces(
  summary: Sequence[str], tokenizer: Tokenizer
) -> Int32[np.ndarray, ' pieces']:
  """Ids of a summary, 0 in place of pieces that are no words.

  >>> from stepwise.data import wordpiece
  >>> reference_pieces(['It rained.'], wordpiece()).tolist()
  [2009, 28270, 0]
  """
  ids = [i for unit in tokenizer.encode_units(summary) for i in unit]
  found = np.array(ids, np.int32)
  return np.where(_word_pieces(tokenizer)[found], found, 0).astype(np.int32)


@functools.cache
def _word_pieces(tokenizer: Tokenizer) -> Bool[np.ndarray, ' vocab']:
  """Which ids have a letter or a digit."""
  return np.array(
    [any(map(str.isalnum, piece)) for piece in tokenizer.pieces()], bool
  )


@dataclass(frozen=True)
class _Room:
  """What is left for the units of the document."""

  units: int
  tokens: int
  tokens_per_unit: int


def _room(
  special: int,
  max_units: int | None,
  max_tokens: int | None,
  max_unit_tokens: int | None,
) -> _Room:
  def rest(name: str, limit: int | None, taken: int) -> int:
    if limit is None:
      return np.iinfo(np.int32).max
    if limit <= taken:
      raise InputError(f'{name} is {limit}; it must be more than {taken}.')
    return limit - taken

  return _Room(
    units=rest('max_units', max_units, special),
    tokens=rest('max_tokens', max_tokens, special),
    tokens_per_unit=rest('max_unit_tokens', max_unit_tokens, 0),
  )


def _cut(units: list[list[int]], room: _Room) -> tuple[list[list[int]], int]:
  """The units that fit, and how many of them lost tokens."""
  kept = [unit[: room.tokens_per_unit] for unit in units[: room.units]]
  ends = accumulate(len(unit) for unit in kept)
  fitting = sum(end <= room.tokens for end in ends)
  kept = kept[:fitting] or [kept[0][: room.tokens]]
  pairs = zip(kept, units[: len(kept)], strict=True)
  return kept, sum(len(unit) < len(whole) for unit, whole in pairs)


def _check_special(names: Sequence[str]) -> None:
  for name in names:
    if name not in SPECIAL_UNITS:
      raise InputError(
        f'special_units has {name!r}; known names are {SPECIAL_UNITS}.'
      )


def unit_ids_of(lengths: Sequence[int]) -> Int32[np.ndarray, ' length']:
  """The unit of every token, from the number of tokens of every unit."""
  return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)


def stepwise_examples(
  record: Record,
  oracle_units: Sequence[int],
  mode: Mode = 'all',
  rng: np.random.Generator | None = None,
  learn_steps: int | None = None,
) -> list[Example]:
  """Training examples of a stepwise model: `tokens, unit_ids, plan, targets`.

  At step j a model reads `plan` and then `targets[:j]`, and should choose
  `targets[j]`; the last target of a document is the stop unit. Plans and
  targets are not padded; an empty plan has no elements. If the record has
  gains or a reference, so have the examples: `gains [targets units]`,
  `reference [pieces]`.

  Args:
    record: has the special unit `eot`.
    oracle_units: indices among the units of the whole document, in the order
      to choose them; those that were cut from the record are left out. A
      sentence break is the index of `eos` counted back from the first unit of
      the document: -3 for `eos, eot, beg`.
    mode: `all`, one example with an empty plan and all targets; `steps`, one
      for every target with the targets before it as plan; `sample`, one of
      these, drawn with `rng`.
    rng: for `sample` only.
    learn_steps: forget later targets; a plan that is longer has no stop then.
  """
  if 'eot' not in record.special_units:
    raise InputError(
      f'stepwise examples need the special unit `eot`; record {record.id!r} '
      f'has {record.special_units}.'
    )
  stop = record.special_units.index('eot')
  targets = [*_units_in_record(record, oracle_units), stop]
  gains = _checked_gains(record, len(targets))
  steps = range(min(len(targets), learn_steps or len(targets)))
  if mode == 'all':
    return [_step_example(record, targets, gains, slice(0, len(steps)))]
  if mode == 'sample' and rng is not None:
    steps = [int(rng.integers(len(steps)))]
  elif mode != 'steps':
    raise InputError(
      f'mode is {mode!r}; it must be `all`, `steps`, or `sample` with an rng.'
    )
  return [_step_example(record, targets, gains, slice(j, j + 1)) for j in steps]


def _checked_gains(
  record: Record, steps: int
) -> Float32[np.ndarray, 'steps units'] | None:
  gains, needed = record.gains, (steps, record.num_units)
  if gains is not None and gains.shape != needed:
    raise InputError(
      f'gains of record {record.id!r} are {gains.shape}; {needed}, steps by '
      'units, are needed.'
    )
  return gains


def _step_example(
  record: Record,
  targets: Sequence[int],
  gains: Float32[np.ndarray, 'steps units'] | None,
  learnt: slice,
) -> Example:
  """The targets that are `learnt`, after those before them."""
  example = _example(record, targets[: learnt.start], targets[learnt])
  if gains is not None:
    example['gains'] = gains[learnt]
  if record.reference is not None:
    example['reference'] = record.reference
  return example


def extractive_example(record: Record, oracle_units: Sequence[int]) -> Example:
  """The example of a model that labels units: `targets` is the oracle set.

  Units that were cut from the record are left out; the others are in the
  order of the document.
  """
  if record.special_units:
    raise InputError(
      f'extractive records have no special units; record {record.id!r} has '
      f'{record.special_units}.'
    )
  return _example(
    record, [], sorted(set(_units_in_record(record, oracle_units)))
  )


def check_oracle(record: Record, oracle_units: Sequence[int]) -> None:
  """Raises an `InputError` unless the units are those of the document."""
  in_document = record.num_units - record.special + record.units_cut
  breaks = [
    index - record.special
    for index, name in enumerate(record.special_units)
    if name == 'eos'
  ]
  for unit in oracle_units:
    if not (0 <= unit < in_document or unit in breaks):
      raise InputError(
        f'oracle_units has {unit}; document {record.id!r} has {in_document} '
        'units, counted from 0.'
      )


def _units_in_record(record: Record, oracle_units: Sequence[int]) -> list[int]:
  check_oracle(record, oracle_units)
  units = [unit + record.special for unit in oracle_units]
  return [unit for unit in units if unit < record.num_units]


def _example(
  record: Record, plan: Sequence[int], targets: Sequence[int]
) -> Example:
  return {
    'tokens': record.tokens,
    'unit_ids': record.unit_ids,
    'plan': np.array(plan, np.int32),
    'targets': np.array(targets, np.int32),
  }
