"""Reads the golden fixtures and lines their weights up with our modules."""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from stepwise.layers import (
  AttentionPattern,
  ETCConfig,
  ETCEncoder,
  GlobalLocalAttention,
  GlobalLocalStack,
  PairStructure,
)

FOLDER = Path(__file__).parent.parent / 'testdata' / 'golden'
LAYER_FIXTURES = sorted(
  path.stem for path in FOLDER.glob('etc_*.npz') if path.stem != 'etc_features'
)

# Our names for the reference's modules.
_NAMES = {
  'att': 'attention',
  'long_rel': 'long_relative',
  'global_rel': 'global_relative',
  'emb': 'embedding',
  'long_att_norm': 'long_attention_norm',
  'global_att_norm': 'global_attention_norm',
  'long_ff': 'long_feed_forward',
  'global_ff': 'global_feed_forward',
  'long_ff_norm': 'long_feed_forward_norm',
  'global_ff_norm': 'global_feed_forward_norm',
}
_EMBEDDINGS = {
  'token_emb': 'tokens/embedding',
  'segment_emb': 'segments/embedding',
  'long_emb_norm/scale': 'long_norm/scale',
  'long_emb_norm/bias': 'long_norm/bias',
  'global_emb_norm/scale': 'global_norm/scale',
  'global_emb_norm/bias': 'global_norm/bias',
}


class Fixture:
  """One fixture file; weights and gradients come as our parameter trees."""

  def __init__(self, name: str, dtype) -> None:
    self.arrays = dict(np.load(FOLDER / f'{name}.npz'))
    self.options = json.loads(str(self.arrays['cfg']))
    self.kind = self.options['kind']
    self.dtype = dtype

  def float(self, key: str):
    return jnp.asarray(self.arrays[key], self.dtype)

  def tree(self, prefix: str) -> dict:
    """The arrays below `prefix` (`w`, `grad_w`, ...) as a parameter tree."""
    tree: dict = {}
    for key, value in self.arrays.items():
      if key.startswith(f'{prefix}/'):
        path = self._path(key.removeprefix(f'{prefix}/'))
        node = tree
        for part in path[:-1]:
          node = node.setdefault(part, {})
        node[path[-1]] = self._split_heads(path, jnp.asarray(value, self.dtype))
    return tree

  def structure(self) -> PairStructure:
    def get(part, kind, cast):
      value = self.arrays.get(f'in/{part}_{kind}')
      return None if value is None else cast(value)

    parts = ('l2l', 'l2g', 'g2g', 'g2l')
    masks = {
      f'{p}_mask': get(p, 'att_mask', lambda v: jnp.asarray(v > 0))
      for p in parts
    }
    labels = {
      f'{p}_labels': get(p, 'relative_att_ids', jnp.asarray) for p in parts
    }
    return PairStructure(**masks, **labels)

  def module(self, implementation: str):
    """Attention by its sizes, the others from a configuration."""
    if self.kind == 'model':
      return ETCEncoder(self.config(implementation))
    if self.kind == 'transformer':
      return GlobalLocalStack(self.config(implementation))
    options = self.options
    return GlobalLocalAttention(
      heads=options['heads'],
      dim=self.arrays_head_dim(),
      radius=options['radius'],
      max_distance=options.get('max_distance', 1),
      labels=options['rel_vocab'] or 0,
      sharing=self._sharing(),
      implementation=implementation,
    )

  def _sharing(self) -> str:
    default_qkv = self.kind != 'attention'
    qkv = self.options.get('share_qkv_projections', default_qkv)
    return 'qkv' if qkv else 'none'

  def config(self, implementation: str) -> ETCConfig:
    options = self.options
    return ETCConfig(
      vocab=options.get('vocab', 1),
      embed=options.get('long_hidden', options.get('hidden')),
      heads=options['heads'],
      dim=self.arrays_head_dim(),
      mlp=options.get('ff', 1),
      global_mlp=options.get('global_ff'),
      layers=options.get('layers', 1),
      labels=options['rel_vocab'] or 0,
      pattern=AttentionPattern(
        radius=options['radius'], max_distance=options.get('max_distance', 1)
      ),
      sharing=self._sharing(),
      share_feed_forward=options.get('share_feed_forward_params', True),
      implementation=implementation,
    )

  def arrays_head_dim(self) -> int:
    name = 'w/att' if self.kind == 'attention' else 'w/layer_0/att'
    width = self.arrays[f'{name}/long_query/bias'].size
    return width // self.options['heads']

  def _path(self, key: str) -> list[str]:
    if key in _EMBEDDINGS:
      return ['embeddings', *_EMBEDDINGS[key].split('/')]
    path = [_NAMES.get(part, part) for part in key.split('/')]
    if self.kind == 'attention':
      return path[1:]
    return ['stack', *path] if self.kind == 'model' else path

  def _split_heads(self, path: list[str], value):
    heads, dim = self.options['heads'], self.arrays_head_dim()
    if path[-2].endswith('_output') and path[-1] == 'kernel':
      return value.reshape(heads, dim, -1)
    if path[-2].endswith(('_query', '_key', '_value')):
      return value.reshape(*value.shape[:-1], heads, dim)
    return value
