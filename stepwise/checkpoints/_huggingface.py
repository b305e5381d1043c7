"""BERT and RoBERTa from a Hugging Face folder.

The folder holds `config.json` and `model.safetensors` or `pytorch_model.bin`.
Linear weights are stored `[out, in]`, ours are `[in, out]` with heads split;
RoBERTa's position table begins with rows of padding that no token reads.
"""

import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepwise._errors import InputError
from stepwise.checkpoints._files import read_json, read_safetensors
from stepwise.checkpoints._initial import param_shapes
from stepwise.checkpoints._matching import (
  Params,
  Weights,
  check_shapes,
  shapes_of,
  unflatten,
)
from stepwise.checkpoints._torch_file import read_torch_file
from stepwise.layers import TransformerConfig, TransformerEncoder

_ACTIVATIONS = {
  'gelu': 'gelu_exact',
  'gelu_new': 'gelu_tanh',
  'gelu_pytorch_tanh': 'gelu_tanh',
}
_EMBEDDINGS = {
  'token': 'word_embeddings',
  'position': 'position_embeddings',
  'token_type': 'token_type_embeddings',
  'norm': 'LayerNorm',
}
_LAYER = {
  'self_attention/query': 'attention.self.query',
  'self_attention/key': 'attention.self.key',
  'self_attention/value': 'attention.self.value',
  'self_attention/output': 'attention.output.dense',
  'self_norm': 'attention.output.LayerNorm',
  'feed_forward/in': 'intermediate.dense',
  'feed_forward/out': 'output.dense',
  'feed_norm': 'output.LayerNorm',
}
_FIELDS = {
  'vocab': 'vocab_size',
  'embed': 'hidden_size',
  'heads': 'num_attention_heads',
  'mlp': 'intermediate_size',
  'layers': 'num_hidden_layers',
  'positions': 'max_position_embeddings',
  'token_types': 'type_vocab_size',
}
# Heads that we do not use, and constants.
_IGNORED = (
  'pooler.',
  'cls.',
  'lm_head.',
  'classifier.',
  'qa_outputs.',
  'embeddings.position_ids',
  'embeddings.token_type_ids',
)


class Pretrained(NamedTuple):
  """A pretrained encoder: `params` are those of `TransformerEncoder`."""

  config: TransformerConfig
  params: Params


def load_huggingface(folder: str | os.PathLike[str]) -> Pretrained:
  """BERT or RoBERTa; heads and pooler are left out.

  All weights must be there and no others; otherwise nothing is loaded and the
  error names each of them.
  """
  folder = Path(folder)
  if not folder.is_dir():
    raise InputError(f'{folder}: no such folder.')
  config, reserved = _read_config(folder / 'config.json')
  shapes = param_shapes(TransformerEncoder(config), *_encoder_inputs())
  needed = {
    _their_name(path): _their_shape(path, shape, reserved)
    for path, shape in shapes.items()
  }
  weights = _read_weights(folder)
  check_shapes(str(folder), shapes_of(weights), needed)
  return Pretrained(
    config,
    unflatten(
      {
        path: _ours(path, weights[_their_name(path)], shape, reserved)
        for path, shape in shapes.items()
      }
    ),
  )


def model_type(folder: Path) -> str:
  """`bert` or `roberta`."""
  path = folder / 'config.json'
  kind = read_json(path).get('model_type')
  if kind not in ('bert', 'roberta'):
    raise InputError(f'{path}: model_type is {kind!r}; bert or roberta needed.')
  return kind


def _read_config(path: Path) -> tuple[TransformerConfig, int]:
  """The configuration, and how many position rows are reserved."""
  values = read_json(path)
  kind = model_type(path.parent)
  missing = [name for name in _FIELDS.values() if name not in values]
  if missing:
    raise InputError(f'{path} lacks {", ".join(missing)}.')
  sizes = {field: values[name] for field, name in _FIELDS.items()}
  wrong = [
    f'{_FIELDS[field]}={size!r}'
    for field, size in sizes.items()
    if type(size) is not int or size < 1
  ]
  if wrong:
    raise InputError(f'{path}: {", ".join(wrong)}; positive numbers needed.')
  # RoBERTa numbers positions from the padding id + 1 on.
  reserved = 0
  if kind == 'roberta':
    reserved = int(_number(path, values, 'pad_token_id', 1)) + 1
  return TransformerConfig(
    **{**sizes, 'positions': sizes['positions'] - reserved},
    activation=_activation(path, values),
    norm_epsilon=_number(path, values, 'layer_norm_eps', 1e-12),
    dropout=_number(path, values, 'hidden_dropout_prob', 0.1),
  ), reserved


def _number(
  path: Path, values: dict[str, Any], name: str, default: float | int
) -> float:
  value = values.get(name, default)
  if type(value) not in (int, float):
    raise InputError(f'{path}: {name} is {value!r}; a number is needed.')
  return float(value)


def _activation(path: Path, values: dict[str, Any]) -> str:
  kind = values.get('position_embedding_type', 'absolute')
  if kind != 'absolute':
    raise InputError(
      f'{path}: position_embedding_type is {kind!r}; only absolute is known.'
    )
  name = values.get('hidden_act', 'gelu')
  if name not in _ACTIVATIONS:
    raise InputError(
      f'{path}: hidden_act is {name!r}; known are {sorted(_ACTIVATIONS)}.'
    )
  return _ACTIVATIONS[name]


def _read_weights(folder: Path) -> Weights:
  """Weights of the body, under their names without a prefix."""
  safe, pickled = folder / 'model.safetensors', folder / 'pytorch_model.bin'
  if safe.is_file():
    weights = read_safetensors(safe)
  elif pickled.is_file():
    weights = read_torch_file(pickled)
  else:
    raise InputError(
      f'{folder} has neither model.safetensors nor pytorch_model.bin.'
    )
  named = {_plain_name(name): array for name, array in weights.items()}
  return {k: v for k, v in named.items() if not k.startswith(_IGNORED)}


def _plain_name(name: str) -> str:
  """Without the model's prefix, norms under their present names."""
  name = name.removeprefix('bert.').removeprefix('roberta.')
  if name.endswith('LayerNorm.gamma'):
    return name.removesuffix('gamma') + 'weight'
  if name.endswith('LayerNorm.beta'):
    return name.removesuffix('beta') + 'bias'
  return name


def _their_name(path: str) -> str:
  top, *module, leaf = path.split('/')
  suffix = 'bias' if leaf == 'bias' else 'weight'
  if top == 'embeddings':
    return f'embeddings.{_EMBEDDINGS[module[0]]}.{suffix}'
  layer = module[0].removeprefix('layers_')
  return f'encoder.layer.{layer}.{_LAYER["/".join(module[1:])]}.{suffix}'


def _their_shape(
  path: str, shape: tuple[int, ...], reserved: int
) -> tuple[int, ...]:
  if path.endswith('/kernel'):
    inputs = 2 if path.endswith('self_attention/output/kernel') else 1
    return math.prod(shape[inputs:]), math.prod(shape[:inputs])
  if path.endswith('position/embedding'):
    return shape[0] + reserved, shape[1]
  if path.endswith('/embedding'):
    return shape
  return (math.prod(shape),)


def _ours(
  path: str, theirs: np.ndarray, shape: tuple[int, ...], reserved: int
) -> np.ndarray:
  if path.endswith('/kernel'):
    theirs = theirs.T
  if path.endswith('position/embedding'):
    theirs = theirs[reserved:]
  return theirs.astype(np.float32).reshape(shape)


def _encoder_inputs() -> tuple[np.ndarray, np.ndarray]:
  return np.zeros((1, 1), np.int32), np.ones((1, 1), bool)
