"""Trained classifiers in a folder.

words.txt            the vocabulary, one word a line
config.json          sizes of every classifier
model.safetensors    weights, by number of the classifier and path; float16
README.md            the model card
"""

import dataclasses
import json
import os
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import jax
import numpy as np
from flax import traverse_util
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from stepwise._errors import InputError
from stepwise._files import replacing_folder
from stepwise.extraction.learned._features import Vocabulary, labels
from stepwise.extraction.learned._models import Classifier, ClassifierConfig
from stepwise.extraction.learned._training import Trained

_WORDS, _CONFIG = 'words.txt', 'config.json'
_WEIGHTS, _CARD = 'model.safetensors', 'README.md'
_FILES = frozenset({_WORDS, _CONFIG, _WEIGHTS, _CARD})


def bundled_folder() -> Path:
  """Where the classifiers are that come with the package."""
  return Path(str(resources.files('stepwise.extraction.learned'))) / 'bundle'


def check_target(folder: str | os.PathLike[str]) -> None:
  """Refuses a folder that holds anything but an extractor."""
  folder = Path(folder)
  if not folder.absolute().parent.is_dir():
    raise InputError(f'{folder}: no such folder: {folder.absolute().parent}.')
  if folder.exists() and (
    not folder.is_dir() or {path.name for path in folder.iterdir()} - _FILES
  ):
    raise InputError(
      f'{folder} exists and is not an extractor: it will not be replaced.'
    )


def save_extractor(
  folder: str | os.PathLike[str], trained: Trained, card: str
) -> None:
  """Writes the files beside `folder`, then moves them into it."""
  folder = Path(folder)
  check_target(folder)
  weights = {}
  for index, (_, params) in enumerate(trained.models):
    flat = traverse_util.flatten_dict(params, sep='/')
    for name, array in flat.items():
      weights[f'{index}/{name}'] = np.asarray(array, np.float16)
  sizes = [dataclasses.asdict(config) for config, _ in trained.models]
  content = {'labels': labels(), 'models': sizes}
  with replacing_folder(folder) as beside:
    words = ''.join(f'{word}\n' for word in trained.vocabulary.words)
    (beside / _WORDS).write_text(words, encoding='utf-8')
    (beside / _CONFIG).write_text(json.dumps(content, indent=2) + '\n')
    (beside / _CARD).write_text(card, encoding='utf-8')
    save_file(weights, beside / _WEIGHTS)
    # The library makes a file that nobody else may read.
    shutil.copymode(beside / _CONFIG, beside / _WEIGHTS)


def load_extractor(folder: str | os.PathLike[str]) -> Trained:
  """Reads what `save_extractor` wrote; weights are float32 again."""
  folder = Path(folder)
  if not (folder / _CONFIG).is_file():
    raise InputError(f'{folder}: not the folder of an extractor.')
  try:
    content = json.loads((folder / _CONFIG).read_text())
    words = (folder / _WORDS).read_text(encoding='utf-8').splitlines()
    weights = load_file(folder / _WEIGHTS)
    configs = [_config(sizes) for sizes in content['models']]
    known = tuple(content['labels'])
  except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
    raise InputError(
      f'{folder}: the extractor cannot be read: {error}.'
    ) from error
  if known != labels():
    raise InputError(f'{folder}: made for other entry types than ours.')
  models = [
    (config, _params(folder, config, index, weights))
    for index, config in enumerate(configs)
  ]
  return Trained(Vocabulary(tuple(words)), tuple(models))


def _config(sizes: dict[str, Any]) -> ClassifierConfig:
  return ClassifierConfig(**{**sizes, 'widths': tuple(sizes['widths'])})


def _params(
  folder: Path, config: ClassifierConfig, index: int, weights: dict[str, Any]
) -> Any:
  prefix = f'{index}/'
  flat = {
    name.removeprefix(prefix): array.astype(np.float32)
    for name, array in weights.items()
    if name.startswith(prefix)
  }
  shapes = {name: array.shape for name, array in flat.items()}
  if shapes != _shapes(config):
    raise InputError(f'{folder}: weights of model {index} do not fit its sizes')
  return traverse_util.unflatten_dict(flat, sep='/')


def _shapes(config: ClassifierConfig) -> dict[str, tuple[int, ...]]:
  words = jax.ShapeDtypeStruct((1, 1), np.int32)
  variables = jax.eval_shape(
    Classifier(config).init, jax.random.key(0), words, words, words
  )
  flat: Any = traverse_util.flatten_dict(variables['params'], sep='/')
  return {name: leaf.shape for name, leaf in flat.items()}
