"""Foreign checkpoint in, bundle out."""

import importlib.resources
import os
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise.checkpoints._bundle import (
  Bundle,
  WeightDType,
  bundle_tokenizer,
  is_bundle,
  load_bundle,
  save_bundle,
)
from stepwise.checkpoints._etc import load_etc
from stepwise.checkpoints._huggingface import load_huggingface, model_type
from stepwise.checkpoints._initial import initial_params
from stepwise.checkpoints._initialise import (
  adopt_numerics,
  check_fit,
  initialise,
)
from stepwise.checkpoints._matching import (
  Params,
  below,
  graft,
  to_numpy,
  under,
)
from stepwise.checkpoints._tensorflow import is_tensorflow
from stepwise.models import ModelConfig, find_config

# The delimiter that opens a text.
_FIRST_TOKEN = {'bert': 101, 'roberta': 0}


def convert(
  source: str | os.PathLike[str],
  out: str | os.PathLike[str],
  name: str,
  *,
  seed: int = 0,
  dtype: WeightDType = 'float32',
) -> None:
  """Starts a named configuration from a checkpoint and saves it as a bundle.

  Args:
    source: a Hugging Face folder of BERT or RoBERTa with its vocabulary, a
      TensorFlow checkpoint of ETC (for ETCSum), or a bundle whose encoder the
      configuration has, too: of a bare encoder for ETCSum, or the other way
      round.
    out: the bundle.
    name: of the configuration. The bundle's own configuration has the
      activation and the norms' epsilon of a Hugging Face source.
    seed: of all weights that the source does not have.
    dtype: of the stored weights.
  """
  config, source = find_config(name), Path(source)
  if is_bundle(source):
    bundle = load_bundle(source)
    tokenizer = bundle_tokenizer(bundle, source)
    config = config.with_settings(**bundle.config.numerics)
    params = start_from(bundle, config, seed)
  elif (source / 'config.json').is_file():
    tokenizer = _vocabulary(source)
    _check_delimiter(source, config)
    pretrained = load_huggingface(source)
    check_fit(pretrained, config)
    config = adopt_numerics(config, pretrained.config)
    params = initialise(initial_params(config, seed), pretrained, config)
  elif is_tensorflow(source):
    tokenizer = 'wordpiece'
    params = _etcsum_from_tensorflow(source, config, name, seed)
  else:
    raise InputError(
      f'{source} is neither a Hugging Face folder (no config.json in it) nor a '
      'TensorFlow checkpoint nor a bundle.'
    )
  card = (
    f'Configuration `{name}`, started from the checkpoint `{source.name}`; '
    f'weights it does not have are fresh, drawn with seed {seed}. Not '
    'fine-tuned: its choices mean nothing before it is trained.'
  )
  save_bundle(out, config, params, tokenizer=tokenizer, card=card, dtype=dtype)


def start_from(bundle: Bundle, config: ModelConfig, seed: int = 0) -> Params:
  """Fresh parameters with the encoder of a bundle of another kind in place.

  Args:
    bundle: of a model that starts from a pretrained encoder.
    config: another model, whose encoder must be of the same sizes.
    seed: of what only the second model has: a scorer, or the head of a bare
      encoder.
  """
  theirs, ours = (c.pretrained_parts(layers=0) for c in (bundle.config, config))
  what = f'the encoder of {bundle.name}'
  if theirs.global_local != ours.global_local:
    raise InputError(f'{what} is of another kind than the model has.')
  weights = below(theirs.path, to_numpy(bundle.variables['params']))
  initial = initial_params(config, seed)
  return graft(what, initial, under(ours.path, weights), fresh=ours.fresh)


def _etcsum_from_tensorflow(
  source: Path, config: ModelConfig, name: str, seed: int
) -> dict[str, Any]:
  parts = config.pretrained_parts(layers=0)
  if not parts.global_local:
    raise InputError(
      f'{source} is a TensorFlow checkpoint, from which only ETCSum starts, '
      f'not {name}.'
    )
  weights = under(parts.path, to_numpy(load_etc(source, parts.sizes)))
  initial = initial_params(config, seed)
  return graft(str(source), initial, weights, fresh=parts.fresh)


def _vocabulary(folder: Path) -> str | Path:
  """The tokeniser of a folder, as `save_bundle` wants it named."""
  if model_type(folder) == 'roberta':
    return folder
  path = folder / 'vocab.txt'
  if not path.is_file():
    raise InputError(f'{path}: no such file.')
  ours = importlib.resources.files('stepwise.data') / 'vocab/bert_uncased.txt'
  if path.read_text('utf-8').split() != ours.read_text('utf-8').split():
    raise InputError(
      f'{path} is not the vocabulary of uncased English BERT, the only one of '
      'BERT that is known.'
    )
  return 'wordpiece'


def _check_delimiter(folder: Path, config: ModelConfig) -> None:
  """A configuration is made for the ids of one vocabulary."""
  needed = config.pretrained_parts(layers=0).first_token
  kind = model_type(folder)
  if needed not in (None, _FIRST_TOKEN[kind]):
    raise InputError(
      f'{folder} is of type {kind}, whose texts begin with token '
      f'{_FIRST_TOKEN[kind]}, but the configuration begins them with {needed}.'
    )
