"""Learned record extractors, in JAX; the rules are in `stepwise.rotowire`.

Importing it adds the bundled extractors to `stepwise.rotowire.EXTRACTORS`:
`conv`, one convolutional model, as in the paper, and `ensemble`, convolutional
and LSTM models, as the metrics of the field use.
"""

from collections.abc import Sequence

from stepwise.extraction._evaluation import Agreement, evaluate_extractor
from stepwise.extraction._extract import LearnedExtractor, bundled_extractor
from stepwise.extraction._features import (
  Features,
  Vocabulary,
  featurise,
  frequent_words,
  labels,
)
from stepwise.extraction._files import (
  bundled_folder,
  check_target,
  load_extractor,
  save_extractor,
)
from stepwise.extraction._models import (
  Classifier,
  ClassifierConfig,
  log_probabilities,
)
from stepwise.extraction._training import (
  ExtractorTraining,
  Trained,
  marginal_loss,
  train_extractor,
)
from stepwise.rotowire import EXTRACTORS, Extraction, Game, Sentence

__all__ = [
  'Agreement',
  'Classifier',
  'ClassifierConfig',
  'ExtractorTraining',
  'Features',
  'LearnedExtractor',
  'Trained',
  'Vocabulary',
  'bundled_extractor',
  'bundled_folder',
  'check_target',
  'conv_relations',
  'ensemble_relations',
  'evaluate_extractor',
  'featurise',
  'frequent_words',
  'labels',
  'load_extractor',
  'log_probabilities',
  'marginal_loss',
  'save_extractor',
  'train_extractor',
]


def conv_relations(
  sentences: Sequence[Sentence], game: Game
) -> list[Extraction]:
  """The `conv` extractor; its weights are loaded when it is first used."""
  return bundled_extractor('conv')(sentences, game)


def ensemble_relations(
  sentences: Sequence[Sentence], game: Game
) -> list[Extraction]:
  """The `ensemble` extractor, likewise."""
  return bundled_extractor('ensemble')(sentences, game)


EXTRACTORS.update(conv=conv_relations, ensemble=ensemble_relations)
