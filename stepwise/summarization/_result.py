"""What a summary is: sentences, and how they were chosen."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from stepwise.documents import Document, Kind, count_words
from stepwise.pages import Html, html, tag

Order = Literal['document', 'selection']

# A notebook shows the whole text if it has no more units than this.
_SHOWN_UNITS = 400


@dataclass(frozen=True)
class ChosenSentence:
  """A sentence of the document, verbatim: `text[start:end]`.

  Attributes:
    text: of the sentence.
    start, end: its characters.
    index: among the units of the document, from 0, for code.
    step: at which it was chosen, from 1.
    log_prob: of the choice; None where there are no probabilities.
    kind: what it is, if more than sentences were asked for.
  """

  text: str
  start: int
  end: int
  index: int
  step: int
  log_prob: float | None = None
  kind: Kind = 'sentence'

  @property
  def number(self) -> int:
    """Among the units of the document, from 1, for people."""
    return self.index + 1

  def __str__(self) -> str:
    return self.text

  def to_dict(self) -> dict[str, Any]:
    return {
      'number': self.number,
      'text': self.text,
      'start': self.start,
      'end': self.end,
      'step': self.step,
      'log_prob': self.log_prob,
      'kind': self.kind,
    }


@dataclass(frozen=True)
class Step:
  """A choice of the model.

  Probabilities of a stepwise model are those of the next sentence, and with
  `stop` they sum to one. Those of other models are of each sentence by itself.

  Attributes:
    index: of the sentence chosen; None if the model chose to stop.
    log_prob: of the choice.
    probabilities: of all sentences that were read, in document order, before
      any constraint; empty where there are none, as for rankers.
    stop: probability of ending the summary here.
  """

  index: int | None
  log_prob: float | None = None
  probabilities: tuple[float, ...] = ()
  stop: float = 0.0

  @property
  def ranking(self) -> tuple[int, ...]:
    """All sentences that were read, the most probable first."""
    return tuple(
      sorted(
        range(len(self.probabilities)),
        key=lambda index: -self.probabilities[index],
      )
    )

  def to_dict(self) -> dict[str, Any]:
    return {
      'number': None if self.index is None else self.index + 1,
      'log_prob': self.log_prob,
      'probabilities': list(self.probabilities),
      'stop': self.stop,
    }


@dataclass(frozen=True)
class Summary:
  """The chosen sentences; `str` gives their text, iterating them one by one.

  Attributes:
    sentences: in the order of the summary.
    order: which order that is.
    steps: all choices of the model, in their order.
    model: that chose them: a model's name, or a ranker's.
    warnings: what was not read and what could not be done, one sentence each.
    document: the text, and where its sentences are.
    reason: why this model, if `auto` chose it.
  """

  sentences: tuple[ChosenSentence, ...]
  order: str
  steps: tuple[Step, ...] = field(repr=False)
  model: str
  warnings: tuple[str, ...] = ()
  document: Document = field(default=Document('', ()), repr=False)
  reason: str = ''

  @property
  def text(self) -> str:
    """One sentence per line, each as it stands in the document."""
    return '\n'.join(sentence.text for sentence in self.sentences)

  @property
  def words(self) -> int:
    return sum(count_words(sentence.text) for sentence in self.sentences)

  def __str__(self) -> str:
    return self.text

  def __iter__(self) -> Iterator[ChosenSentence]:
    return iter(self.sentences)

  def __len__(self) -> int:
    return len(self.sentences)

  def to_dict(self) -> dict[str, Any]:
    """All but the document, as JSON can have it."""
    return {
      'model': self.model,
      'reason': self.reason,
      'language': self.document.language,
      'order': self.order,
      'words': self.words,
      'summary': [sentence.text for sentence in self.sentences],
      'sentences': [sentence.to_dict() for sentence in self.sentences],
      'steps': [step.to_dict() for step in self.steps],
      'warnings': list(self.warnings),
    }

  def to_markdown(self) -> str:
    """A list of the sentences, each with its number in the document."""
    lines = (' '.join(each.text.split()) for each in self.sentences)
    numbers = (each.number for each in self.sentences)
    return ''.join(
      f'- {_escape(line)} [{number}]\n'
      for line, number in zip(lines, numbers, strict=True)
    )

  def _repr_html_(self) -> str:
    """The text with the chosen sentences marked, for notebooks."""
    chosen = {each.index: each for each in self.sentences}
    units, end = [], 0
    whole = len(self.document.spans) <= _SHOWN_UNITS
    for index, (start, stop) in enumerate(self.document.spans):
      if whole and self.document.text.count('\n', end, start) > 1:
        units.append(tag('br'))
      if index in chosen:
        title = f'Sentence {index + 1}, step {chosen[index].step}'
        unit = tag('mark', self.document.text[start:stop], title=title)
        units += [unit, Html(' ')]
      elif whole:
        units += [html(self.document.text[start:stop]), Html(' ')]
      end = stop
    lead = f'{len(self)} of {len(self.document.spans)} sentences, {self.model}'
    notes = (tag('p', tag('small', warning)) for warning in self.warnings)
    return tag('div', tag('p', tag('small', lead)), tag('p', *units), *notes)


def _escape(line: str) -> str:
  """Text that Markdown shows as it is."""
  return ''.join(f'\\{c}' if c in '\\`*_{}[]<>#|' else c for c in line)
