"""What a summary is: sentences, and how they were chosen."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from stepwise.documents import Document

Order = Literal['document', 'selection']


@dataclass(frozen=True)
class Sentence:
  """A sentence of the document, verbatim: `text[start:end]`.

  Attributes:
    text: of the sentence.
    start, end: its characters.
    index: among the sentences of the document, from 0.
    step: at which it was chosen, from 1.
    log_prob: of the choice; None for baselines, which have no probabilities.
  """

  text: str
  start: int
  end: int
  index: int
  step: int
  log_prob: float | None = None


@dataclass(frozen=True)
class Step:
  """A choice of the model.

  Probabilities of a stepwise model are those of the next sentence, and with
  `stop` they sum to one. Those of other models are of each sentence by itself.

  Attributes:
    index: of the sentence chosen; None if the model chose to stop.
    log_prob: of the choice.
    probabilities: of all sentences that were read, in document order, before
      any constraint; empty for baselines.
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


@dataclass(frozen=True)
class Summary:
  """The chosen sentences.

  Attributes:
    sentences: in the order of the summary.
    order: which order that is.
    steps: all choices of the model, in their order.
    model: that chose them.
    warnings: what was not read and what could not be done, one sentence each.
    document: the text, and where its sentences are.
  """

  sentences: tuple[Sentence, ...]
  order: str
  steps: tuple[Step, ...]
  model: str
  warnings: tuple[str, ...] = ()
  document: Document = field(default=Document('', ()), repr=False)

  @property
  def text(self) -> str:
    """One sentence per line, each as it stands in the document."""
    return '\n'.join(sentence.text for sentence in self.sentences)

  @property
  def words(self) -> int:
    return sum(len(sentence.text.split()) for sentence in self.sentences)

  def as_dict(self) -> dict[str, Any]:
    """All but the document, as JSON can have it."""
    return {
      'model': self.model,
      'order': self.order,
      'words': self.words,
      'sentences': [asdict(sentence) for sentence in self.sentences],
      'steps': [
        asdict(step) | {'probabilities': list(step.probabilities)}
        for step in self.steps
      ],
      'warnings': list(self.warnings),
    }
