"""A document: a text, its units as slices of it, and what kind each is."""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
  'sentence',
  'heading',
  'item',
  'row',
  'code',
  'quotation',
  'byline',
  'caption',
  'signature',
  'fragment',
]

# Kinds that a summary is made of unless more is asked for: the others are
# read, so that a model knows where a sentence stands, but not chosen.
PROSE: tuple[Kind, ...] = ('sentence', 'item')


@dataclass(frozen=True)
class Document:
  """Units are slices of `text`, so whatever is selected is verbatim.

  Attributes:
    text: the whole text, as it was read: of a page or a PDF file, its words.
    spans: `(start, end)` of every unit, in order, disjoint and never empty.
    summary: sentences of the reference summary; empty if there is none.
    id: where the document came from; free text, used in reports.
    kinds: of every unit; none at all if all are sentences.
    language: its code, such as `en`; empty if it is not known.
  """

  text: str
  spans: tuple[tuple[int, int], ...]
  summary: tuple[str, ...] = ()
  id: str = ''
  kinds: tuple[Kind, ...] = ()
  language: str = ''

  def __post_init__(self) -> None:
    if self.kinds and len(self.kinds) != len(self.spans):
      raise ValueError(
        f'kinds has {len(self.kinds)} entries, must have as many as spans, '
        f'{len(self.spans)}.'
      )

  @property
  def units(self) -> tuple[str, ...]:
    """The text of every unit."""
    return tuple(self.text[start:end] for start, end in self.spans)

  def kind(self, unit: int) -> Kind:
    """What a unit is."""
    return self.kinds[unit] if self.kinds else 'sentence'

  def of_kinds(self, kinds: Collection[str]) -> tuple[bool, ...]:
    """Which units are of one of these kinds."""
    if not self.kinds:
      return ('sentence' in kinds,) * len(self.spans)
    return tuple(kind in kinds for kind in self.kinds)

  def part(self, start: int, stop: int) -> 'Document':
    """The same text with only the units from `start` to before `stop`."""
    return dataclasses.replace(
      self, spans=self.spans[start:stop], kinds=self.kinds[start:stop]
    )
