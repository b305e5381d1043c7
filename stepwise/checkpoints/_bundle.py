"""A model in one folder.

config.json          format, configuration, tokeniser, how to choose
model.safetensors    weights by path, float32, float16 or int8
vocab.json, merges.txt   of byte-level BPE; WordPiece is in this package
README.md            the model card
"""

import json
import os
import shutil
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from flax import linen as nn
from safetensors.numpy import save_file

from stepwise._errors import InputError
from stepwise._files import replacing_folder
from stepwise.checkpoints._config_json import (
  config_from_json,
  config_to_json,
  decoding_from_json,
  decoding_to_json,
)
from stepwise.checkpoints._files import read_json, read_safetensors
from stepwise.checkpoints._initial import config_shapes
from stepwise.checkpoints._matching import (
  Params,
  Weights,
  check_shapes,
  shapes_of,
  to_numpy,
  unflatten,
)
from stepwise.checkpoints._quantised import dequantise, quantise
from stepwise.data import BPE_FILES, Tokenizer, load_tokenizer
from stepwise.inference import PredictConfig
from stepwise.models import ModelConfig

# Format 1 had neither `decoding` nor int8.
FORMAT = 2
_CONFIG, _WEIGHTS, _CARD = 'config.json', 'model.safetensors', 'README.md'
# What some kinds of models keep beside: what the inputs of a realizer are, how
# a planner plans, and of which tables.
OTHER_FILES = ('realizer.json', 'planner.json', 'schema.json')
WeightDType = Literal['float32', 'float16', 'int8']
_NEEDED = {'format', 'model', 'tokenizer'}


class Bundle(NamedTuple):
  """A model that can be run: `model.apply(variables, batch)`.

  Attributes:
    config: of the model.
    model: the module.
    variables: its parameters.
    tokenizer: None if the model reads token ids only.
    decoding: how the model chooses best; None if the bundle does not say.
    name: of the folder.
  """

  config: Any
  model: nn.Module
  variables: dict[str, Params]
  tokenizer: Tokenizer | None
  decoding: PredictConfig | None = None
  name: str = ''


def save_bundle(
  folder: str | os.PathLike[str],
  config: ModelConfig,
  params: Params,
  *,
  tokenizer: str | os.PathLike[str] | None = 'wordpiece',
  card: str = '',
  dtype: WeightDType = 'float32',
  decoding: PredictConfig | None = None,
  files: Mapping[str, str] = {},
) -> None:
  """Writes a bundle beside `folder` and renames it; replaces an older bundle.

  Args:
    folder: to write; if it exists it must be a bundle, or empty.
    config: of the model.
    params: of the model, all of them.
    tokenizer: `'wordpiece'`, a folder with the `vocab.json` and `merges.txt`
      of byte-level BPE, or None if the model reads token ids only.
    card: Markdown that follows the facts in the model card: training data,
      scores, limits.
    dtype: of the stored weights; float16 halves the file and rounds, int8
      rounds large matrices to eight bits, row by row, and the rest to float16.
    decoding: how the model chooses if nobody asks for anything else.
    files: texts of other files, by their names in `OTHER_FILES`.
  """
  folder = Path(folder)
  _check_target(folder)
  weights = to_numpy(nn.unbox(params))
  check_shapes('params', shapes_of(weights), config_shapes(config))
  total = sum(array.size for array in weights.values())
  weights = _cast(weights, dtype)
  name = _check_tokenizer(config, tokenizer)
  description: dict[str, Any] = {
    'format': FORMAT,
    'model': config_to_json(config),
    'tokenizer': name,
  }
  if decoding is not None:
    description['decoding'] = decoding_to_json(decoding)
  with replacing_folder(folder) as partial:
    _write_text(partial / _CONFIG, json.dumps(description, indent=2) + '\n')
    save_file(weights, partial / _WEIGHTS)
    # The library makes a file that nobody else may read.
    shutil.copymode(partial / _CONFIG, partial / _WEIGHTS)
    facts = f'{total:,} parameters ({dtype})'
    _write_text(partial / _CARD, _model_card(folder.name, config, facts, card))
    for file, text in files.items():
      _write_text(partial / file, text)
    if name == 'byte_level_bpe' and tokenizer is not None:
      for file in BPE_FILES:
        shutil.copyfile(Path(tokenizer) / file, partial / file)


def load_bundle(
  folder: str | os.PathLike[str], *, check: bool = True
) -> Bundle:
  """Reads what `save_bundle` wrote; weights are float32 again.

  Args:
    folder: the bundle.
    check: whether all weights are there and have their shapes. Without it
      loading takes half the time; for bundles that have been checked before.
  """
  folder = Path(folder)
  if not folder.is_dir():
    raise InputError(f'{folder}: no such folder.')
  if not (folder / _CONFIG).exists():
    raise InputError(
      f'{folder} is not the folder of a model: `stepwise export` writes such.'
    )
  description = _read_description(folder / _CONFIG)
  config = config_from_json(str(folder / _CONFIG), description['model'])
  decoding = description.get('decoding')
  if decoding is not None:
    decoding = decoding_from_json(f'{folder / _CONFIG}: decoding', decoding)
  stored = read_safetensors(folder / _WEIGHTS)
  weights = dequantise(str(folder / _WEIGHTS), stored)
  if check:
    check_shapes(
      str(folder / _WEIGHTS), shapes_of(weights), config_shapes(config)
    )
  return Bundle(
    config,
    config.build(),
    {'params': unflatten(weights)},
    _load_tokenizer(folder, description['tokenizer']),
    decoding,
    folder.name,
  )


def is_bundle(folder: Path) -> bool:
  """Whether a folder looks like one: foreign models have a config.json, too."""
  path = folder / _CONFIG
  return path.is_file() and read_json(path).keys() >= _NEEDED


def bundle_tokenizer(bundle: Bundle, folder: Path) -> str | Path | None:
  """The tokeniser of a bundle, as `save_bundle` wants it named."""
  if bundle.tokenizer is None:
    return None
  name = bundle.tokenizer.name
  return folder if name == 'byte_level_bpe' else name


def twin_params(bundle: Bundle) -> Params:
  """Of a stepwise bundle, the weights that its non-stepwise twin has too."""
  shapes = config_shapes(bundle.config.twin())
  weights = to_numpy(bundle.variables['params'])
  return unflatten({name: weights[name] for name in shapes})


def _read_description(path: Path) -> dict[str, Any]:
  description = read_json(path)
  version = description.get('format')
  if type(version) is not int:
    raise InputError(f'{path} is not the configuration of a stepwise bundle.')
  if version > FORMAT:
    raise InputError(
      f'{path}: the bundle has format {version}, but this version of stepwise '
      f'reads format {FORMAT}: upgrade stepwise.'
    )
  if not _NEEDED <= description.keys() <= _NEEDED | {'decoding'}:
    raise InputError(
      f'{path} has {sorted(description)}; format, model and tokenizer are '
      'needed, decoding is possible.'
    )
  return description


def _load_tokenizer(folder: Path, name: Any) -> Tokenizer | None:
  match name:
    case None:
      return None
    case 'wordpiece' | 'reports':
      return load_tokenizer(name)
    case 'byte_level_bpe':
      return load_tokenizer(folder)
  raise InputError(
    f'{folder / _CONFIG}: tokenizer is {name!r}; wordpiece, reports or '
    'byte_level_bpe is needed.'
  )


def _check_tokenizer(
  config: ModelConfig, tokenizer: str | os.PathLike[str] | None
) -> str | None:
  """The tokeniser's name, if the model has a row for each of its ids."""
  if tokenizer is None:
    return None
  loaded = load_tokenizer(tokenizer)
  if config.vocab < loaded.vocab_size:
    raise InputError(
      f'the model has {config.vocab} token rows, but {loaded.name} has '
      f'{loaded.vocab_size} ids.'
    )
  return loaded.name


def _cast(weights: Weights, dtype: WeightDType) -> Weights:
  known = typing.get_args(WeightDType)
  if dtype not in known:
    raise InputError(
      f'dtype is {dtype!r}; one of {", ".join(known)} is needed.'
    )
  if dtype == 'int8':
    stored = quantise(weights)
    rest = {name: a for name, a in stored.items() if a is weights.get(name)}
    return stored | _cast(rest, 'float16')
  with np.errstate(over='ignore'):
    cast = {name: array.astype(dtype) for name, array in weights.items()}
  overflowing = [
    name
    for name, array in cast.items()
    if not np.isfinite(array).all() and np.isfinite(weights[name]).all()
  ]
  if overflowing:
    raise InputError(
      f'values of {", ".join(overflowing)} are too large for {dtype}.'
    )
  # Views and transposes would be written in the order of memory.
  return {name: np.ascontiguousarray(array) for name, array in cast.items()}


def _model_card(name: str, config: ModelConfig, facts: str, card: str) -> str:
  model = type(config.build()).__name__
  head = f"""# {name}

{model} of stepwise, {facts}.

```python
import stepwise

bundle = stepwise.load('{name}')
{_example(config)}```
"""
  return f'{head}\n{card.strip()}\n' if card else head


def _example(config: ModelConfig) -> str:
  """Summarizers are called; planners and realizers have commands."""
  # Plans of tables have sentence breaks.
  if not config.chooses_units or 'eos' in config.special_units:
    return ''
  return "print(stepwise.summarize('article.txt', model=bundle))\n"


def card_text(folder: str | os.PathLike[str]) -> str:
  """What follows the facts in the model card of a bundle."""
  path = Path(folder) / _CARD
  text = path.read_text(encoding='utf-8') if path.is_file() else ''
  # The facts end with the one example of code.
  head, fence, rest = text.partition('```python')
  return rest.partition('```')[2].strip() if fence else head.strip()


def _check_target(folder: Path) -> None:
  """Refuses to replace anything but a bundle."""
  if not folder.absolute().parent.is_dir():
    raise InputError(f'{folder}: no such folder: {folder.absolute().parent}.')
  if not folder.exists():
    return
  if not folder.is_dir():
    raise InputError(f'{folder} exists and is not a folder.')
  names = {path.name for path in folder.iterdir()}
  known = {_CONFIG, _WEIGHTS, _CARD, *BPE_FILES, *OTHER_FILES}
  if names and not names <= known:
    raise InputError(
      f'{folder} exists and is not a bundle: it will not be replaced.'
    )


def _write_text(path: Path, text: str) -> None:
  path.write_text(text, encoding='utf-8')
