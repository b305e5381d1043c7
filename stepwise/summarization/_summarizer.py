"""Summaries of plain texts by any system of the registry."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import jax
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.data import (
  Buckets,
  Document,
  Record,
  Tokenizer,
  make_record,
  pad_batch,
  split_sentences,
  wordpiece,
)
from stepwise.models import Batch, System, find_system, select

# What a system without limits of its own reads of a document.
_MAX_TOKENS, _MAX_UNITS = 8192, 512


@dataclass(frozen=True)
class Sentence:
  """A sentence of the document, verbatim: `text[start:end]`."""

  text: str
  start: int
  end: int
  index: int


@dataclass(frozen=True)
class Summary:
  """The chosen sentences.

  Attributes:
    sentences: in the order of the summary.
    system: the system that chose them.
    warnings: what was not read, one sentence each.
  """

  sentences: tuple[Sentence, ...]
  system: str
  warnings: tuple[str, ...] = ()

  @property
  def text(self) -> str:
    """One sentence per line."""
    return '\n'.join(sentence.text for sentence in self.sentences)

  @property
  def words(self) -> int:
    return len(self.text.split())


@dataclass(frozen=True)
class Summarizer:
  """A system with its weights, ready for texts.

  Compiles once for every size of document; sizes are powers of two.
  """

  system: System
  model: nn.Module
  variables: Any
  tokenizer: Tokenizer
  buckets: Buckets = field(
    default_factory=lambda: Buckets.geometric(_MAX_TOKENS, _MAX_UNITS, least=32)
  )

  def __call__(self, text: str, sentences: int = 3) -> Summary:
    """Summarises one text; see `stepwise.summarize`."""
    if sentences < 1:
      raise InputError(f'sentences is {sentences}, must be at least 1.')
    document = Document(text, tuple(split_sentences(text)))
    if not document.spans:
      raise InputError('the text is empty: there is nothing to summarise.')
    record = self._record(document)
    batch = self._batch(record)
    chosen = _select(self.model, self.variables, batch, sentences)[0]
    return self._summary(document, record, [int(u) for u in chosen if u >= 0])

  def _record(self, document: Document) -> Record:
    return make_record(
      document,
      self.tokenizer,
      special_units=(),
      max_units=self.buckets.units[-1],
      max_tokens=self.buckets.lengths[-1],
    )

  def _batch(self, record: Record) -> Batch:
    length, units = self.buckets.bucket(len(record.tokens), record.num_units)
    return Batch.of(
      pad_batch([record], length=length, units=units, steps=1, batch=1)
    )

  def _summary(
    self, document: Document, record: Record, units: Sequence[int]
  ) -> Summary:
    sentences = []
    for unit in units:
      start, end = document.spans[unit]
      sentences.append(Sentence(document.text[start:end], start, end, unit))
    return Summary(tuple(sentences), self.system.name, _warnings(record))


@functools.partial(jax.jit, static_argnums=(0, 3))
def _select(
  model: nn.Module, variables: Any, batch: Batch, count: int
) -> jax.Array:
  return select(model, variables, batch, count)


def _warnings(record: Record) -> tuple[str, ...]:
  warnings = []
  if record.units_cut:
    warnings.append(
      f'the last {record.units_cut} sentences were not read: the document is'
      ' longer than the model reads.'
    )
  if record.units_shortened:
    warnings.append(
      f'{record.units_shortened} sentences were read only in part: they are'
      ' longer than the model reads.'
    )
  return tuple(warnings)


@functools.cache
def load_summarizer(model: str = 'lead') -> Summarizer:
  """A summarizer by name; only baselines can do without trained weights."""
  system = find_system(model)
  if system.config is not None or system.stepwise:
    raise InputError(
      f'{model} needs trained weights, and none are bundled: use lead.'
    )
  return Summarizer(system, system.build(), {}, wordpiece())


def summarize(text: str, *, sentences: int = 3, model: str = 'lead') -> Summary:
  """Summarises a text in a few of its own sentences.

  Args:
    text: any text; sentences are found by `stepwise.data.split_sentences`.
    sentences: how many to choose.
    model: a system of `stepwise models` that needs no trained weights.

  >>> summary = summarize('It rained all day. The match was called off.',
  ...                     sentences=1)
  >>> summary.text
  'It rained all day.'
  """
  return load_summarizer(model)(text, sentences)


def sample_article() -> str:
  """A short news story written for this project."""
  folder = resources.files('stepwise.summarization')
  return (folder / 'samples' / 'harbour.txt').read_text(encoding='utf-8')
