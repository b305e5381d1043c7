"""The summarizer that suits a text."""

import dataclasses
from collections.abc import Callable, Sequence

from stepwise.documents import Document, language_name
from stepwise.summarization._base import Chosen, Summarizer
from stepwise.summarization._options import SummaryOptions
from stepwise.summarization._rankers import RankSummarizer
from stepwise.summarization._requests import Request
from stepwise.summarization._summarizer import ModelSummarizer


@dataclasses.dataclass(frozen=True, eq=False)
class AutoSummarizer(Summarizer):
  """The packaged model for what it was trained on, a ranker for the rest.

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
    reasons = [self._against_model(each.document) for each in requests]
    found: dict[int, Chosen] = {}
    for summarizer, wanted in ((self.ranker, True), (None, False)):
      places = [i for i, why in enumerate(reasons) if bool(why) == wanted]
      if places:
        chooser = summarizer or self.load()
        group = [requests[place] for place in places]
        chosen = chooser.choose(group, options, batch_size)
        found |= dict(zip(places, chosen, strict=True))
    return [
      found[place]._replace(reason=self._reason(found[place].model, why))
      for place, why in enumerate(reasons)
    ]

  def _against_model(self, document: Document) -> str:
    """Why the ranker is better; empty if the model is."""
    language, units = document.language, len(document.spans)
    if language and language != self.language:
      return f'the text is {language_name(language)}'
    if units > self.units:
      return f'the text has {units} sentences'
    return ''

  def _reason(self, name: str, why: str) -> str:
    if why:
      return f'{name}, as {why}; default is for short English texts.'
    return f'{name}, as the text is short and English.'
