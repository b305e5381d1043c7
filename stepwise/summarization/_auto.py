"""The summarizer that suits a text."""

import dataclasses
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from stepwise.documents import PROSE, Document, count_words, language_name
from stepwise.summarization._base import Chosen, Summarizer
from stepwise.summarization._options import SummaryOptions
from stepwise.summarization._rankers import RankSummarizer
from stepwise.summarization._requests import Request
from stepwise.summarization._summarizer import ModelSummarizer

# A line without a stop that is longer is a caption more often than a heading.
_HEADING_WORDS = 6
# A section has at least so many sentences.
_SECTION_SENTENCES = 2


class _Plan(NamedTuple):
  """Who chooses, and why."""

  chooser: Literal['model', 'both', 'ranker']
  reason: str


@dataclasses.dataclass(frozen=True, eq=False)
class AutoSummarizer(Summarizer):
  """The packaged model for what it was trained on, a ranker for the rest.

  The model knows news, which is one piece. Of a text with sections, such as a
  report or a paper, it likes much that is no news there, so what it likes is
  weighed with what the text says, as it is where words are counted.

  Attributes:
    load: gives the model; called only if some text is for it.
    ranker: for all others.
    language: that the model was trained on.
    units: that it reads at once.
  """

  load: Callable[[], ModelSummarizer]
  ranker: RankSummarizer
  language: str = 'en'
  units: int = 130
  name: str = 'auto'

  def choose(
    self,
    requests: Sequence[Request],
    options: SummaryOptions,
    batch_size: int | None,
  ) -> list[Chosen]:
    plans = [self._plan(each.document) for each in requests]
    found: dict[int, Chosen] = {}
    for name in sorted({plan.chooser for plan in plans}):
      places = [i for i, plan in enumerate(plans) if plan.chooser == name]
      group = [requests[place] for place in places]
      chosen = self._chooser(name).choose(group, options, batch_size)
      found |= dict(zip(places, chosen, strict=True))
    return [
      found[place]._replace(reason=f'{found[place].model}{plan.reason}')
      for place, plan in enumerate(plans)
    ]

  def _chooser(self, name: str) -> Summarizer:
    if name == 'ranker':
      return self.ranker
    model = self.load()
    return model if name == 'model' else dataclasses.replace(model, covers=True)

  def _plan(self, document: Document) -> '_Plan':
    if why := self._against_model(document):
      return _Plan('ranker', f', as {why}; default is for short English texts.')
    if has_sections(document):
      return _Plan('both', ' and coverage, as the text has sections.')
    return _Plan('model', ', as the text is short and English.')

  def _against_model(self, document: Document) -> str:
    """Why the ranker is better; empty if the model is."""
    language, units = document.language, len(document.spans)
    if language and language != self.language:
      return f'the text is {language_name(language)}'
    if units > self.units:
      return f'the text has {units} sentences'
    return ''


def has_sections(document: Document) -> bool:
  """Whether headings divide a text, besides the one above it."""
  kinds = [document.kind(unit) for unit in range(len(document.spans))]
  headings = [
    unit
    for unit, kind in enumerate(kinds)
    if kind == 'heading' and any(each in PROSE for each in kinds[:unit])
  ]
  for start, stop in pairwise([*headings, len(kinds)]):
    text = document.text[slice(*document.spans[start])]
    sentences = sum(kind in PROSE for kind in kinds[start:stop])
    if count_words(text) <= _HEADING_WORDS and sentences >= _SECTION_SENTENCES:
      return True
  return False
