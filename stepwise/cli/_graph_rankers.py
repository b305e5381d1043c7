"""TextRank and LexRank of the `sumy` package, on our sentences."""

import re
from collections.abc import Sequence
from typing import Any

from stepwise._errors import InputError

RANKERS = ('textrank', 'lexrank')
_WORD = re.compile(r'[^\W_]+')


def rank_sentences(ranker: str, units: Sequence[str], count: int) -> list[int]:
  """The `count` most central sentences, in the order of the document.

  sumy splits text with downloaded models; here the sentences are given, words
  are runs of letters and digits, stemmed, English stop words left out.
  """
  summarizer, document = _load(ranker), _document(units)
  # Equal sentences are one to sumy: tell them apart by identity.
  places = {id(sentence): i for i, sentence in enumerate(document.sentences)}
  chosen = summarizer(document, count)
  return sorted(places[id(sentence)] for sentence in chosen)


class _Words:
  """What sumy's sentences ask of a tokeniser."""

  def to_words(self, text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def _document(units: Sequence[str]) -> Any:
  from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence

  sentences = [Sentence(unit, _Words()) for unit in units]
  return ObjectDocumentModel([Paragraph(sentences)])


def _load(ranker: str) -> Any:
  try:
    from sumy.nlp.stemmers import Stemmer
    from sumy.summarizers.lex_rank import LexRankSummarizer
    from sumy.summarizers.text_rank import TextRankSummarizer
    from sumy.utils import get_stop_words
  except ImportError as error:
    raise InputError(
      f"{ranker} needs the package sumy: pip install 'stepwise[baselines]'."
    ) from error
  kinds = {'textrank': TextRankSummarizer, 'lexrank': LexRankSummarizer}
  summarizer = kinds[ranker](Stemmer('english'))
  summarizer.stop_words = get_stop_words('english')
  return summarizer
