"""The published ETC encoder, from a TensorFlow checkpoint, by a name map.

Names stand below the scope of the model, which is wherever its token table
is: `etc_document_bert` in what was published. Everything outside the scope
(heads, the global step) and optimiser slots inside it are left out.
"""

import dataclasses
import math
import os

import jax.numpy as jnp

from stepwise._errors import InputError
from stepwise.checkpoints._initial import param_shapes
from stepwise.checkpoints._matching import (
  Params,
  Shapes,
  Weights,
  below,
  check_shapes,
  stack_layers,
  unflatten,
)
from stepwise.checkpoints._tensorflow import open_tensorflow
from stepwise.layers import ETCConfig, ETCEncoder, UnitStructure

_TOKEN_TABLE = 'token_emb_lookup/embedding_table'
_SLOTS = ('/adam_m', '/adam_v', '/Adam', '/Adam_1')
_EMBEDDINGS = {
  'tokens': 'token_emb_lookup',
  'segments': 'segment_emb_lookup',
  'long_norm': 'long_emb_layer_norm',
  'global_norm': 'global_emb_layer_norm',
}
_RELATIVE = {
  'long_relative': 'long_qkv_attention/qkv_relative_attention',
  'global_relative': 'global_qkv_attention',
}
_NORMS = {
  'long_attention_norm': 'layer_norm_0',
  'global_attention_norm': 'layer_norm_1',
}
# The options whose variables have names we know from the published model.
_KNOWN = {
  'sharing': ('none', 'qkv'),
  'share_output': (False,),
  'pre_norm': (False,),
  'embedding_width': (None,),
  'long_positions': (0,),
  'global_positions': (0,),
}


def load_etc(path: str | os.PathLike[str], config: ETCConfig) -> Params:
  """Parameters of `ETCEncoder(config)`.

  All variables of the encoder must be there and no others; otherwise nothing
  is loaded and the error names each of them.
  """
  _check_known(config)
  source, checkpoint = os.fspath(path), open_tensorflow(path)
  scope = _find_scope(source, checkpoint.shapes)
  looped = dataclasses.replace(config, scan_layers=False)
  shapes = param_shapes(ETCEncoder(looped), *_inputs())
  names = {path: _their_name(path, config) for path in shapes}
  needed = {names[p]: _their_shape(p, shape) for p, shape in shapes.items()}
  check_shapes(source, _in_scope(scope, checkpoint.shapes), needed)
  weights = {
    path: checkpoint.read(f'{scope}{name}').reshape(shapes[path])
    for path, name in names.items()
  }
  return unflatten(_scan(weights, config))


def _check_known(config: ETCConfig) -> None:
  for option, known in _KNOWN.items():
    value = getattr(config, option)
    if value not in known:
      raise InputError(
        f'{option} is {value!r}, but checkpoints of ETC have {known}.'
      )


def _find_scope(source: str, variables: Shapes) -> str:
  """What stands before the names of an encoder, with its slash."""
  scopes = [
    name.removesuffix(_TOKEN_TABLE)
    for name in variables
    if f'/{name}'.endswith(f'/{_TOKEN_TABLE}')
  ]
  if len(scopes) != 1:
    raise InputError(
      f'{source} has {len(scopes)} variables named {_TOKEN_TABLE}; the one of '
      'an ETC encoder is needed.'
    )
  return scopes[0]


def _in_scope(scope: str, variables: Shapes) -> Shapes:
  """The encoder's own variables, named from its scope on."""
  return {
    name.removeprefix(scope): shape
    for name, shape in variables.items()
    if name.startswith(scope) and not name.endswith(_SLOTS)
  }


def _their_name(path: str, config: ETCConfig) -> str:
  top, *module, leaf = path.split('/')
  if top == 'embeddings':
    return f'{_EMBEDDINGS[module[0]]}/{_leaf(leaf)}'
  name = _layer_name(module[1:], leaf, module[0].removeprefix('layer_'), config)
  return f'global_local_transformer_layers/{name}'


def _layer_name(
  module: list[str], leaf: str, layer: str, config: ETCConfig
) -> str:
  """The name of a weight of a layer, from the stack on."""
  attention = f'fused_att_layer_{layer}'
  match module:
    case ['attention', ('long_relative' | 'global_relative') as side]:
      table = f'relative_{"emb" if leaf == "embedding" else "bias"}_table'
      return f'{attention}/fused_global_local_att/{_RELATIVE[side]}/{table}'
    case ['attention', part]:
      inner = '' if part.endswith('_output') else '/linear'
      projection = f'{part}_projection{inner}'
      return f'{attention}/fused_global_local_att/{projection}/{leaf}'
    case [('long_attention_norm' | 'global_attention_norm') as norm]:
      return f'{attention}/{_NORMS[norm]}/{_leaf(leaf)}'
  side = '' if config.share_feed_forward else module[0].split('_')[0] + '_'
  block = f'{side}feed_forward_layer_{layer}'
  if len(module) == 1:
    return f'{block}/layer_norm/{_leaf(leaf)}'
  dense = {'in': 'layer_0', 'out': 'layer_1'}[module[1]]
  return f'{block}/dense_layers/{dense}/{leaf}'


def _leaf(leaf: str) -> str:
  """Leaves of norms and tables; those of dense layers have our names."""
  names = {'scale': 'gamma', 'bias': 'beta', 'embedding': 'embedding_table'}
  return names[leaf]


def _their_shape(path: str, shape: tuple[int, ...]) -> tuple[int, ...]:
  """Theirs have one axis for all heads, except in relative tables."""
  if '_relative/' in path:
    return shape
  if path.endswith('_output/kernel'):
    return math.prod(shape[:2]), shape[2]
  if path.endswith('/kernel'):
    return shape[0], math.prod(shape[1:])
  return shape if path.endswith('/embedding') else (math.prod(shape),)


def _scan(weights: Weights, config: ETCConfig) -> Weights:
  """The same weights in the tree that `config.scan_layers` asks for."""
  embeddings = {k: v for k, v in weights.items() if k.startswith('embeddings/')}
  layers = [below(f'stack/layer_{i}', weights) for i in range(config.layers)]
  return {
    **embeddings,
    **stack_layers(
      layers, 'stack/layer_', 'stack/layers/layer', config.scan_layers
    ),
  }


def _inputs() -> tuple[jnp.ndarray, jnp.ndarray, UnitStructure]:
  """The smallest inputs an encoder can be initialised with."""
  one = jnp.zeros((1, 1), jnp.int32)
  return one, one, UnitStructure(one, one, one)
