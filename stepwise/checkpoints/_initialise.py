"""Starts our models from a pretrained BERT or RoBERTa encoder.

Fresh parameters come back with the pretrained weights in place; what has no
counterpart (scorer, positions of units, relative labels, spare rows of the
vocabulary) keeps its fresh values.

A target without token types gets row 0 of the source's, added to every
position: each token has one position, so the outputs are the same.
"""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from stepwise._errors import InputError
from stepwise.checkpoints._huggingface import Pretrained
from stepwise.checkpoints._matching import (
  Params,
  Weights,
  below,
  graft,
  stack_layers,
  to_numpy,
  under,
)
from stepwise.layers import ETCConfig, TransformerConfig
from stepwise.models import ModelConfig

_WHAT = 'the pretrained encoder'
# Fresh relative vectors have a spread of 0.5, as ETC learns them from scratch;
# pretrained attention is hardly disturbed by that of other fresh weights.
_RELATIVE_SCALE = 0.02 / 0.5

# Our projections of global-local attention, and where they come from.
_ETC_ATTENTION = {
  'long_query': 'query',
  'global_query': 'query',
  **{f'{part}_key': 'key' for part in ('l2l', 'l2g', 'g2g', 'g2l')},
  **{f'{part}_value': 'value' for part in ('l2l', 'l2g', 'g2g', 'g2l')},
  'long_output': 'output',
  'global_output': 'output',
}
_ETC_LAYER = {
  **{
    f'attention/{k}': f'self_attention/{v}' for k, v in _ETC_ATTENTION.items()
  },
  'long_attention_norm': 'self_norm',
  'global_attention_norm': 'self_norm',
  'long_feed_forward': 'feed_forward',
  'global_feed_forward': 'feed_forward',
  'long_feed_forward_norm': 'feed_norm',
  'global_feed_forward_norm': 'feed_norm',
}


def initialise(
  params: Params, source: Pretrained, config: ModelConfig
) -> Params:
  """Fresh `params` of a configuration, started from `source`.

  The configuration says where the parts of the source go. A cross attention
  and its norm are the self attention and norm of the same layer.
  """
  check_fit(source, config)
  parts = config.pretrained_parts(source.config.layers)
  initial = to_numpy(params)
  encoder = _global_local_encoder if parts.global_local else _encoder
  inside = below(parts.path, initial) if parts.path else initial
  weights = encoder(source, parts.sizes, inside)
  if parts.path:
    weights = under(parts.path, weights)
  layers = _layers(source, parts.further.values())
  for path, layer in zip(parts.further, layers, strict=True):
    weights |= under(path, _with_cross(layer))
  present = {
    path: array
    for path, array in weights.items()
    if path in initial or '/cross_' not in path
  }
  return graft(_WHAT, params, present, fresh=parts.fresh)


def adopt_numerics(config: ModelConfig, source: TransformerConfig) -> Any:
  """`config` with the activation and the norms' epsilon of the source.

  Pretrained weights mean what they did only under these.
  """
  return config.with_settings(
    activation=source.activation, norm_epsilon=source.norm_epsilon
  )


def check_fit(source: Pretrained, config: ModelConfig) -> None:
  """Refuses a source of other sizes, before anything is drawn or copied.

  Names every size that does not fit.
  """
  given = source.config
  parts = config.pretrained_parts(given.layers)
  target = parts.sizes
  equal = ['embed', 'heads', 'mlp', 'pre_norm']
  at_least = {'positions': parts.positions}
  if parts.min_layers is None:
    equal.append('layers')
  else:
    at_least = {'layers': parts.min_layers} | at_least
  wrong = [
    f'{name} is {getattr(given, name)} but {getattr(target, name)} is needed'
    for name in equal
    if getattr(given, name) != getattr(target, name)
  ]
  wrong += [
    f'{name} is {getattr(given, name)} but {needed} or more are needed'
    for name, needed in at_least.items()
    if getattr(given, name) < needed
  ]
  if given.vocab > target.vocab:
    wrong.append(
      f'vocab is {given.vocab} but {target.vocab} or fewer are needed'
    )
  if wrong:
    raise InputError(f'{_WHAT} does not fit: {"; ".join(wrong)}.')


def _encoder(
  source: Pretrained, target: TransformerConfig, initial: Weights
) -> Weights:
  """Embeddings and bottom layers, as a `TransformerEncoder` has them."""
  layers = map(_with_cross, _layers(source, range(target.layers)))
  return {
    **_embeddings(source, initial),
    **stack_layers(
      list(layers), 'stack/layers_', 'stack/layers', target.scan_layers
    ),
  }


def _global_local_encoder(
  source: Pretrained, target: ETCConfig, initial: Weights
) -> Weights:
  """Both streams and all four parts of attention start as the source.

  Long and global tokens keep the source's absolute positions if the target has
  tables of them. Without one, segment rows are token type 0 plus the mean
  position, so that embeddings keep their centre. The relative vectors are
  fresh and small; if they were zero, the radius full and nothing masked,
  long and global tokens together would be encoded as one sequence by the
  source.
  """
  weights = _etc_embeddings(source, initial)
  looped, scanned = 'stack/layer_', 'stack/layers/layer'
  first = scanned if target.scan_layers else f'{looped}0'
  present = below(first, initial).keys()
  layers = [
    _etc_layer(layer, present)
    for layer in _layers(source, range(target.layers))
  ]
  weights |= stack_layers(layers, looped, scanned, target.scan_layers)
  return weights | {
    path: array * _RELATIVE_SCALE
    for path, array in initial.items()
    if '_relative/' in path
  }


def _embeddings(source: Pretrained, initial: Weights) -> Weights:
  weights = to_numpy(source.params)
  kept = {k: v for k, v in weights.items() if k.startswith('embeddings/norm/')}
  token, position, types = (
    f'embeddings/{name}/embedding'
    for name in ('token', 'position', 'token_type')
  )
  kept[token] = _fit_rows(weights[token], initial[token])
  kept[position] = _fit_rows(weights[position], initial[position])
  if types in initial:
    kept[types] = _fit_rows(weights[types], initial[types])
  elif types in weights:
    kept[position] = kept[position] + weights[types][:1]
  return kept


def _etc_embeddings(source: Pretrained, initial: Weights) -> Weights:
  embeddings = below('embeddings', to_numpy(source.params))
  kept = under('long_norm', below('norm', embeddings))
  kept |= under('global_norm', below('norm', embeddings))
  token = 'tokens/embedding'
  kept[token] = _fit_rows(
    embeddings['token/embedding'], initial[f'embeddings/{token}']
  )
  centre = embeddings['position/embedding'].mean(axis=0, keepdims=True)
  rows = np.repeat(
    centre, len(initial['embeddings/segments/embedding']), axis=0
  )
  # Long tokens are of segment 1 and more, global ones of segment 0.
  for axis, segments in (('long', slice(1, None)), ('global', slice(1))):
    table = f'{axis}_positions/embedding'
    if (fresh := initial.get(f'embeddings/{table}')) is not None:
      kept[table] = embeddings['position/embedding'][: len(fresh)]
      rows[segments] = 0
  if source.config.token_types:
    rows = rows + embeddings['token_type/embedding'][:1]
  kept['segments/embedding'] = rows
  return under('embeddings', kept)


def _etc_layer(layer: Weights, present: Collection[str]) -> Weights:
  """A global-local layer whose every part is that of a plain layer.

  What the target shares between its streams is not `present` a second time.
  """
  weights = {}
  for ours, theirs in _ETC_LAYER.items():
    weights |= under(ours, below(theirs, layer))
  return {path: array for path, array in weights.items() if path in present}


def _layers(source: Pretrained, indices: Iterable[int]) -> list[Weights]:
  stack = below('stack', to_numpy(source.params))
  return [below(f'layers_{index}', stack) for index in indices]


def _with_cross(layer: Weights) -> Weights:
  return {
    **layer,
    **under('cross_attention', below('self_attention', layer)),
    **under('cross_norm', below('self_norm', layer)),
  }


def _fit_rows(rows: np.ndarray, initial: np.ndarray) -> np.ndarray:
  """As many rows as `initial` has, its own after the last given one."""
  return np.concatenate([rows[: len(initial)], initial[len(rows) :]])
