"""Sentences as vectors, by the encoder of a summarizer."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from stepwise.data import Record, Tokenizer, batches, restore_order
from stepwise.documents import Document
from stepwise.inference import inference_buckets, read_document
from stepwise.models import Batch, ModelConfig

# Units that are read together, where a model sets no limit.
_PART_UNITS = 512


@dataclasses.dataclass(frozen=True, eq=False)
class UnitEncoder:
  """The part of a hierarchical model that reads units.

  Attributes:
    model: its configuration.
    params: its parameters.
    tokenizer: that it was trained with.
    languages: that it was trained on.
  """

  model: ModelConfig
  params: Any
  tokenizer: Tokenizer
  languages: tuple[str, ...] = ('en',)

  def knows(self, language: str) -> bool:
    return not language or language in self.languages

  def centrality(self, document: Document) -> Float[np.ndarray, ' units']:
    """Likeness of every unit to the mean of all."""
    vectors = _unit_length(self.vectors(document))
    return vectors @ _unit_length(vectors.mean(axis=0, keepdims=True))[0]

  def likeness(
    self, text: str, document: Document
  ) -> Float[np.ndarray, ' units']:
    """Likeness of every unit to a text, 0 where there is none.

    What all units have in common is taken away: it tells nothing.
    """
    vectors = self.vectors(document)
    (asked,) = self.vectors(Document(text, ((0, len(text)),)))
    mean = vectors.mean(axis=0)
    centred = _unit_length(vectors - mean)
    return np.maximum(centred @ _unit_length(asked - mean), 0.0)

  def vectors(self, document: Document) -> Float[np.ndarray, 'units embed']:
    """A vector for every unit, read in as many parts as it takes."""
    parts = parts_of(document, self.tokenizer, self.model)
    records = [record for _, record in parts]
    grouped = batches(
      iter(records), inference_buckets(self.model), steps=1, batch_size=1
    )
    found = restore_order(
      (batch.index, self._encode(batch.arrays)) for batch in grouped
    )
    return np.concatenate(
      [
        vectors[record.special : record.num_units]
        for vectors, record in zip(found, records, strict=True)
      ]
    )

  def _encode(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
    read: Any = {k: arrays[k] for k in ('tokens', 'unit_ids', 'valid')}
    module = self.model.build()
    return jax.device_get(
      _units(module, {'params': self.params}, Batch(**read))
    )


def parts_of(
  document: Document, tokenizer: Tokenizer, model: ModelConfig
) -> Iterator[tuple[Document, Record]]:
  """Parts that cover all units, each as long as the model reads."""
  start, most = 0, model.limits.units or _PART_UNITS
  while start < len(document.spans):
    part = document.part(start, start + most)
    record = read_document(part, tokenizer, model)
    read = record.num_units - record.special
    yield part.part(0, read), record
    start += read


def _unit_length(vectors: np.ndarray) -> np.ndarray:
  norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
  return vectors / np.maximum(norms, 1e-12)


@functools.partial(jax.jit, static_argnums=0)
def _units(module: Any, variables: Any, batch: Batch) -> Any:
  return module.apply(variables, batch, method='encode').units
