"""Learned extractors: what trained classifiers say that sentences state."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from stepwise.extraction._candidates import Candidate, find_candidates
from stepwise.extraction._lookup import Extraction
from stepwise.extraction._mentions import AnnotatedSentence
from stepwise.extraction.learned._features import (
  NONE,
  Features,
  featurise,
  labels,
)
from stepwise.extraction.learned._files import bundled_folder, load_extractor
from stepwise.extraction.learned._models import (
  ClassifierConfig,
  log_probabilities,
)
from stepwise.extraction.learned._training import Trained
from stepwise.rotowire import Game
from stepwise.tables import Relation

# Rows that are classified together: one shape, so jit compiles once.
_ROWS = 128


@dataclass(frozen=True, eq=False)
class LearnedExtractor:
  """An extractor in the sense of `stepwise.extraction.Extractor`.

  Every pair of an entity and a number gets its likeliest label, by the mean
  probability of the models. Of several mentions of an entity in a sentence,
  the one that is surest of a number speaks for it.
  """

  trained: Trained

  def __call__(
    self, sentences: Sequence[AnnotatedSentence], game: Game
  ) -> list[Extraction]:
    candidates = find_candidates(sentences, game)
    if not candidates:
      return []
    features = featurise(sentences, candidates, self.trained.vocabulary)
    probabilities = self.probabilities(features)
    chosen = probabilities.argmax(axis=1)
    best: dict[tuple[Any, ...], int] = {}
    for row, candidate in enumerate(candidates):
      place = candidate.sentence, candidate.number, candidate.mention.entity
      rival = best.get(place)
      if labels()[chosen[row]] != NONE and (
        rival is None
        or probabilities[row, chosen[row]] > probabilities[rival, chosen[rival]]
      ):
        best[place] = row
    return [
      _extraction(candidates[row], labels()[chosen[row]])
      for row in sorted(best.values())
    ]

  def probabilities(
    self, features: Features
  ) -> Float[np.ndarray, 'rows labels']:
    """Of every label, the mean over the models."""
    parts = []
    for start in range(0, len(features.words), _ROWS):
      part = features.rows(slice(start, start + _ROWS))
      rows = len(part.words)
      padded = Features(
        *(np.pad(array, ((0, _ROWS - rows), (0, 0))) for array in part)
      )
      # A row of padding may have any label; without one its softmax is empty.
      padded.allowed[rows:] = True
      means = np.mean(
        [_classify(*model, padded) for model in self.trained.models], axis=0
      )
      parts.append(means[:rows])
    return np.concatenate(parts)


def _extraction(candidate: Candidate, type: str) -> Extraction:
  value = str(candidate.number.value)
  return Extraction(
    candidate.sentence,
    candidate.mention,
    candidate.number,
    Relation(candidate.mention.entity, value, type),
    type in candidate.types,
  )


@functools.partial(jax.jit, static_argnums=0)
def _classify(config: ClassifierConfig, params: Any, features: Features) -> Any:
  return jnp.exp(log_probabilities(config, params, features))


@functools.cache
def bundled_extractor(name: str) -> LearnedExtractor:
  """`conv`: the first convolutional model alone. `ensemble`: all models."""
  trained = load_extractor(bundled_folder())
  if name == 'conv':
    first = next(m for m in trained.models if m[0].kind == 'conv')
    trained = Trained(trained.vocabulary, (first,))
  return LearnedExtractor(trained)
