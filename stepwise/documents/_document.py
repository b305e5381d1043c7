"""A document: a text, its units as slices of it, and a reference summary."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
  """Units are slices of `text`, so whatever is selected is verbatim.

  Attributes:
    text: the whole text, exactly as read.
    spans: `(start, end)` of every unit, in order, disjoint and never empty.
    summary: sentences of the reference summary; empty if there is none.
    id: where the document came from; free text, used in reports.
  """

  text: str
  spans: tuple[tuple[int, int], ...]
  summary: tuple[str, ...] = ()
  id: str = ''

  @property
  def units(self) -> tuple[str, ...]:
    """The text of every unit."""
    return tuple(self.text[start:end] for start, end in self.spans)
