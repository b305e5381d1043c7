"""Learned record extractors, in JAX: features, classifiers, training, files."""

from stepwise.extraction.learned._extract import (
  LearnedExtractor,
  bundled_extractor,
)
from stepwise.extraction.learned._features import (
  Features,
  Vocabulary,
  featurise,
  frequent_words,
  labels,
)
from stepwise.extraction.learned._files import (
  bundled_folder,
  check_target,
  load_extractor,
  save_extractor,
)
from stepwise.extraction.learned._models import (
  Classifier,
  ClassifierConfig,
  log_probabilities,
)
from stepwise.extraction.learned._training import (
  ExtractorTraining,
  Trained,
  marginal_loss,
  train_extractor,
)

__all__ = [
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
  'featurise',
  'frequent_words',
  'labels',
  'load_extractor',
  'log_probabilities',
  'marginal_loss',
  'save_extractor',
  'train_extractor',
]
