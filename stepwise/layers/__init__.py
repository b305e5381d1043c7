"""Layers for long and structured documents: JAX and Flax, nothing else."""

from stepwise.layers._attend import attend, causal_mask, key_mask
from stepwise.layers._axes import split_axes
from stepwise.layers._encoder_decoder import (
  DecodeCache,
  EncoderDecoder,
  LayerCache,
)
from stepwise.layers._etc import (
  ETCConfig,
  ETCEncoder,
  GlobalLocalAttention,
  GlobalLocalLayer,
  GlobalLocalStack,
)
from stepwise.layers._global_local import (
  IMPLEMENTATIONS,
  global_local_attention,
)
from stepwise.layers._heads import (
  AttentionHeads,
  RelativeTable,
  RelativeTables,
)
from stepwise.layers._hierarchical import (
  HierarchicalConfig,
  HierarchicalEncoder,
  HierarchicalMemory,
  masked_mean,
  mean_by_unit,
)
from stepwise.layers._modules import Dense, Embedding, Norm
from stepwise.layers._plot import pattern_kinds, plot_pattern
from stepwise.layers._positions import (
  distance_labels,
  example_ids_from_breakpoints,
  full_labels,
  member_label,
  num_labels,
  outside_label,
  separate_segments,
  window_labels,
)
from stepwise.layers._products import (
  PRODUCTS,
  DotGeneral,
  bfloat16_products,
  choose_products,
  find_products,
  with_products,
)
from stepwise.layers._sharding import (
  DEFAULT_RULES,
  PARAM_RULES,
  MeshAxes,
  Rules,
  change_rules,
  init_sharded,
  make_mesh,
  num_params,
  on_mesh,
  param_shardings,
)
from stepwise.layers._softmax import Dropout
from stepwise.layers._structure import (
  AttentionPattern,
  PairStructure,
  UnitStructure,
  fixed_units,
  pair_structure,
)
from stepwise.layers._transformer import (
  KeyValues,
  MultiHeadAttention,
  TransformerConfig,
  TransformerEncoder,
  TransformerLayer,
)

__all__ = [
  'DEFAULT_RULES',
  'IMPLEMENTATIONS',
  'PARAM_RULES',
  'PRODUCTS',
  'AttentionHeads',
  'AttentionPattern',
  'DecodeCache',
  'Dense',
  'DotGeneral',
  'Dropout',
  'ETCConfig',
  'ETCEncoder',
  'Embedding',
  'EncoderDecoder',
  'GlobalLocalAttention',
  'GlobalLocalLayer',
  'GlobalLocalStack',
  'HierarchicalConfig',
  'HierarchicalEncoder',
  'HierarchicalMemory',
  'KeyValues',
  'LayerCache',
  'MeshAxes',
  'MultiHeadAttention',
  'Norm',
  'PairStructure',
  'RelativeTable',
  'RelativeTables',
  'Rules',
  'TransformerConfig',
  'TransformerEncoder',
  'TransformerLayer',
  'UnitStructure',
  'attend',
  'bfloat16_products',
  'causal_mask',
  'change_rules',
  'choose_products',
  'distance_labels',
  'example_ids_from_breakpoints',
  'find_products',
  'fixed_units',
  'full_labels',
  'global_local_attention',
  'init_sharded',
  'key_mask',
  'make_mesh',
  'masked_mean',
  'mean_by_unit',
  'member_label',
  'num_labels',
  'num_params',
  'on_mesh',
  'outside_label',
  'pair_structure',
  'param_shardings',
  'pattern_kinds',
  'plot_pattern',
  'separate_segments',
  'split_axes',
  'window_labels',
  'with_products',
]
