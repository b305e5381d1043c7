"""The two functions of `stepwise` for people who just want a summary."""

import warnings
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any, TypedDict, Unpack

from stepwise._errors import InputError
from stepwise.documents import ReadOptions
from stepwise.summarization._base import Summarizer
from stepwise.summarization._models import Model, load_summarizer
from stepwise.summarization._options import SummaryOptions, make_options
from stepwise.summarization._result import Order, Summary
from stepwise.summarization._texts import Text


class Asked(TypedDict, total=False):
  """What `summarize` and `summarize_many` may be asked; see there."""

  sentences: int | str | None
  words: int | None
  ratio: float | None
  characters: int | None
  order: Order
  model: Model
  must_include: Iterable[int | str] | int
  must_exclude: Iterable[int | str] | int
  about: str | None
  units: str | tuple[str, ...]
  split: str
  language: str | None
  trigram_blocking: bool | None


class SummaryWarning(UserWarning):
  """Something was not read, or could not be done as asked."""


def summarize(
  text: Text,
  **asked: Unpack[Asked],
) -> Summary:
  """Summarises a text in a few of its own sentences.

  If no length is asked for, it is three sentences; of English news two to four,
  as the model likes; a bundle of your own may say otherwise. A text that is not
  empty always has a summary. Whatever was not read or not done as asked is a
  `SummaryWarning`, and in `warnings` of the summary.

  Args:
    text: any text; or the path of a file of any kind that `stepwise.documents`
      reads; or a list of sentences, which stay as they are.
    sentences: how many to choose, or 'auto' for as many as the text needs; of
      news these are as many words as people write, about two sentences.
    words: choose the best sentences that fit into so many words.
    ratio: choose this share of the sentences, above 0 and at most 1.
    characters: choose the best sentences that fit into so many characters.
    order: of the summary: that of the 'document', or that of 'selection'.
    model: 'auto' (or None) takes what suits the text, and the summary says
      which: 'default', the model that comes with the package and knows English
      news, or 'coverage', a ranker for all else. Other rankers are 'lead',
      'lexrank', 'textrank' and 'centroid'. Or the folder of a bundle, or a
      bundle from `stepwise.load`.
    must_include: sentences that are chosen in any case, each by its number from
      1 or by a piece of its text, of which the first match counts.
    must_exclude: sentences that are not chosen, named in the same way.
    about: what the summary should be about, in a few words.
    units: kinds of units that may be chosen: 'prose', that is sentences and
      items of lists that say something; 'all'; or some of the kinds of
      `stepwise.documents.Kind`, such as 'sentence,quotation'.
    split: what a unit is: 'auto', a sentence; 'paragraphs'; 'never', a line.
    language: of the text, such as 'de'; None = as it looks.
    trigram_blocking: choose no sentence that shares three words in a row with
      a chosen one; None = as the model says.

  >>> text = 'It rained all day. The match was called off. Nobody minded.'
  >>> summary = summarize(text, sentences=2, model='lead', must_include=3)
  >>> [(sentence.number, str(sentence)) for sentence in summary]
  [(1, 'It rained all day.'), (3, 'Nobody minded.')]
  """
  summarizer, options, reading = _understand(**asked)
  return _warn(summarizer(text, options, reading))


def summarize_many(
  texts: Iterable[Text],
  *,
  batch_size: int | None = None,
  **asked: Unpack[Asked],
) -> Iterator[Summary | InputError]:
  """Summaries of many texts, one after another, in their order.

  Reads no more texts ahead than a few batches, so `texts` may be a generator
  over a file of any size. In the place of a text that has no summary, because
  it is empty or no text, is the `InputError` that says so.

  Args:
    texts: to summarise, each as `summarize` takes one.
    batch_size: texts decoded together; by default one on a CPU, where more
      gain nothing, and eight elsewhere.
    **asked: as for `summarize`, for every text.

  >>> texts = ('It rained. We left.', 'It snowed. We stayed.')
  >>> [str(s) for s in summarize_many(texts, sentences=1, model='lead')]
  ['It rained.', 'It snowed.']
  """
  if isinstance(texts, str | bytes):
    raise InputError(
      f'texts is one {type(texts).__name__}, must be many: call summarize for '
      'one text.'
    )
  # Here and not in a generator: wrong options are told at once.
  summarizer, options, reading = _understand(**asked)
  results = summarizer.many(texts, options, reading, batch_size=batch_size)
  return (
    result if isinstance(result, InputError) else _warn(result)
    for result in results
  )


def _understand(
  *,
  model: Model = None,
  split: str = 'auto',
  language: str | None = None,
  **wishes: Any,
) -> tuple[Summarizer, SummaryOptions, ReadOptions]:
  """Who summarises, what is asked, and how texts are read."""
  options, reading = make_options(**wishes), ReadOptions(split, language)
  return load_summarizer(model), options, reading


def _warn(summary: Summary) -> Summary:
  for warning in summary.warnings:
    warnings.warn(warning, SummaryWarning, stacklevel=3)
  return summary


def sample_article() -> str:
  """A short news story written for this project."""
  folder = resources.files('stepwise.summarization')
  return (folder / 'samples' / 'harbour.txt').read_text(encoding='utf-8')
