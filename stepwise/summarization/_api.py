"""The two functions of `stepwise` for people who just want a summary."""

from collections.abc import Iterable, Iterator
from importlib import resources

from stepwise._errors import InputError
from stepwise.documents import Document
from stepwise.summarization._models import Model, load_summarizer
from stepwise.summarization._options import Options
from stepwise.summarization._result import Order, Summary


def summarize(
  text: str,
  *,
  sentences: int | None = None,
  words: int | None = None,
  ratio: float | None = None,
  order: Order = 'document',
  model: Model = None,
  must_include: Iterable[int | str] = (),
  trigram_blocking: bool | None = None,
) -> Summary:
  """Summarises a text in a few of its own sentences.

  If no length is asked for, the model stops by itself. A text that is not
  empty always has a summary.

  Args:
    text: any text; sentences are found by `stepwise.data.split_sentences`.
    sentences: how many to choose; all, if the text has fewer.
    words: choose as many sentences as fit into so many words.
    ratio: choose this share of the sentences, above 0 and at most 1.
    order: of the summary: that of the 'document', or that of 'selection'.
    model: the folder of a bundle, a bundle from `stepwise.load`, or 'lead';
      None or 'default' is the one that comes with the package.
    must_include: sentences that are chosen in any case, each by its index
      from 0 or by a piece of its text, of which the first match counts.
    trigram_blocking: choose no sentence that shares three words in a row with
      a chosen one; None = as the model says.

  >>> text = 'It rained all day. The match was called off. Nobody minded.'
  >>> summary = summarize(text, sentences=2, model='lead', must_include=[2])
  >>> [(sentence.index, sentence.text) for sentence in summary.sentences]
  [(0, 'It rained all day.'), (2, 'Nobody minded.')]
  """
  options = Options(
    sentences, words, ratio, order, _wishes(must_include), trigram_blocking
  )
  return load_summarizer(model)(text, options)


def summarize_many(
  texts: Iterable[str | Document],
  *,
  sentences: int | None = None,
  words: int | None = None,
  ratio: float | None = None,
  order: Order = 'document',
  model: Model = None,
  must_include: Iterable[int | str] = (),
  trigram_blocking: bool | None = None,
  batch_size: int | None = None,
) -> Iterator[Summary]:
  """Summaries of many texts, one after another, in their order.

  Reads no more texts ahead than a few batches, so `texts` may be a generator
  over a file of any size. The first text that has no summary, because it is
  empty, is an `InputError`; `load_summarizer(model).many` goes on instead.

  Args:
    texts: to summarise.
    sentences, words, ratio, order, model, must_include, trigram_blocking: as
      for `summarize`, for every text.
    batch_size: texts decoded together; by default one on a CPU, where more
      gain nothing, and eight elsewhere.

  >>> texts = ('It rained. We left.', 'It snowed. We stayed.')
  >>> [s.text for s in summarize_many(texts, sentences=1, model='lead')]
  ['It rained.', 'It snowed.']
  """
  options = Options(
    sentences, words, ratio, order, _wishes(must_include), trigram_blocking
  )
  # Here and not in a generator: wrong options are told at once.
  return _raising(
    load_summarizer(model).many(texts, options, batch_size=batch_size)
  )


def _raising(results: Iterable[Summary | InputError]) -> Iterator[Summary]:
  for result in results:
    if isinstance(result, InputError):
      raise result
    yield result


def _wishes(must_include: Iterable[int | str]) -> tuple[int | str, ...]:
  # One string is meant whole, not letter by letter.
  if isinstance(must_include, str):
    return (must_include,)
  return tuple(must_include)


def sample_article() -> str:
  """A short news story written for this project."""
  folder = resources.files('stepwise.summarization')
  return (folder / 'samples' / 'harbour.txt').read_text(encoding='utf-8')
