"""The ETC encoder (Ainslie et al. 2020): global-local transformer layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen.spmd import with_logical_constraint

from stepwise._errors import InputError
from stepwise._typing import Array, DTypeLike, Float, Int
from stepwise.layers._global_local import (
  IMPLEMENTATIONS,
  global_local_attention,
)
from stepwise.layers._heads import (
  AttentionHeads,
  RelativeTable,
  RelativeTables,
)
from stepwise.layers._hierarchical import mean_by_unit
from stepwise.layers._modules import (
  ACTIVATIONS,
  Dense,
  Embedding,
  FeedForward,
  Norm,
  head_projection,
  kernel_init,
  output_projection,
  zeros_init,
)
from stepwise.layers._positions import num_labels
from stepwise.layers._products import DotGeneral, find_products
from stepwise.layers._softmax import attention_dropout
from stepwise.layers._structure import (
  AttentionPattern,
  Structure,
  UnitStructure,
)

# Which projection serves a slot that has none of its own. 'kv' shares by the
# side that queries; 'qkv' uses one query, one key and one value everywhere.
SHARING: dict[str, dict[str, str]] = {
  'none': {},
  'kv': {
    'l2g_key': 'l2l_key',
    'l2g_value': 'l2l_value',
    'g2l_key': 'g2g_key',
    'g2l_value': 'g2g_value',
  },
  'qkv': {
    'global_query': 'long_query',
    **{f'{part}_key': 'l2l_key' for part in ('l2g', 'g2g', 'g2l')},
    **{f'{part}_value': 'l2l_value' for part in ('l2g', 'g2g', 'g2l')},
  },
}
_LOCAL = ('long_query', 'l2l_key', 'l2l_value')
_FROM_LONG = (*_LOCAL, 'g2l_key', 'g2l_value')

Streams = tuple[
  Float[Array, 'batch length embed'], Float[Array, 'batch globals width']
]


@dataclass(frozen=True)
class ETCConfig:
  """Sizes and options of an ETC encoder; the defaults are this paper's.

  Attributes:
    vocab: rows of the token table, used by long and global tokens.
    embed: width of the long stream.
    heads: attention heads.
    mlp: inner width of the feed-forward block.
    layers: number of layers.
    pattern: radius, clipping distance and hard masks of the attention.
    radii: a radius for every layer; () = that of the pattern.
    labels: rows of every relative table; 0 = no relative terms.
    segments: rows of the segment table.
    dim: size of a head; None = `embed / heads`.
    global_mlp: inner width of an unshared global feed-forward; None = `mlp`.
    embedding_width: width of the token table if it is projected to `embed`.
    long_positions: rows of an absolute position table; 0 = none.
    global_positions: the same for global tokens.
    sharing: projections shared between parts, `'none'`, `'kv'` or `'qkv'`.
    share_output: one output projection for long and global rows.
    share_feed_forward: one feed-forward block and norm for both streams.
    pre_norm: norms at the input of a block instead of after its residual.
    activation: `'gelu_tanh'` or `'gelu_exact'`.
    epsilon: of the norms.
    dropout: rate after embeddings, of probabilities, and of every update.
    remat_period: layers per recomputed group, the remainder first and the
      last group never; 0 = no rematerialisation. Under `scan_layers` any
      positive period recomputes every layer.
    scan_layers: one compiled layer, parameters stacked on a `layers` axis.
    implementation: `'blocked'` or `'dense'` attention.
    block: long tokens per block of `'blocked'`; None = chosen.
    dtype: dtype of activations; None = that of the parameters.
    products: precision of products, one of `PRODUCTS`.
    global_means: add to the embedding of a global token the mean of those of
      its unit's tokens. Without it all units look the same to each other until
      a layer has read them, and a short training is spent on learning that.
  """

  vocab: int = 30522
  embed: int = 768
  heads: int = 12
  mlp: int = 3072
  layers: int = 12
  pattern: AttentionPattern = AttentionPattern(hard_g2l=True)
  radii: tuple[int, ...] = ()
  labels: int = 32
  segments: int = 16
  dim: int | None = None
  global_mlp: int | None = None
  embedding_width: int | None = None
  long_positions: int = 0
  global_positions: int = 0
  sharing: str = 'none'
  share_output: bool = False
  share_feed_forward: bool = True
  pre_norm: bool = False
  activation: str = 'gelu_tanh'
  epsilon: float = 1e-12
  dropout: float = 0.1
  remat_period: int = 0
  scan_layers: bool = False
  implementation: str = 'blocked'
  block: int | None = None
  dtype: DTypeLike | None = None
  products: str = 'float32'
  global_means: bool = False

  def __post_init__(self) -> None:
    if self.dim is None and self.embed % self.heads:
      raise InputError(
        f'embed is {self.embed}, must be a multiple of heads={self.heads}'
        ' unless dim is given.'
      )
    if self.sharing not in SHARING:
      raise InputError(
        f'sharing is {self.sharing!r}, must be one of {tuple(SHARING)}.'
      )
    if self.implementation not in IMPLEMENTATIONS:
      raise InputError(
        f'implementation is {self.implementation!r}, must be one of'
        f' {IMPLEMENTATIONS}.'
      )
    if self.activation not in ACTIVATIONS:
      raise InputError(
        f'activation is {self.activation!r}, must be one of'
        f' {tuple(ACTIVATIONS)}.'
      )
    if self.radii and len(self.radii) != self.layers:
      raise InputError(
        f'radii has {len(self.radii)} numbers, layers is {self.layers}: one'
        ' for every layer is needed.'
      )
    if self.scan_layers and len(set(self.radii)) > 1:
      raise InputError(
        f'radii are {self.radii}, must be equal: scan_layers compiles one'
        ' layer for all.'
      )
    find_products(self.products)

  @property
  def head_dim(self) -> int:
    return self.dim or self.embed // self.heads

  @property
  def dot_general(self) -> DotGeneral:
    return find_products(self.products)

  def radius(self, layer: int) -> int:
    return self.radii[layer] if self.radii else self.pattern.radius


class RelativeEmbedding(nn.Module):
  """Owns a relative table: vectors and biases of labels."""

  labels: int
  heads: int
  dim: int

  @nn.compact
  def __call__(self) -> RelativeTable:
    return RelativeTable(
      self.param(
        'embedding',
        kernel_init('labels', 'heads', 'kv', stddev=0.5),
        (self.labels, self.heads, self.dim),
      ),
      self.param(
        'bias', zeros_init('labels', 'heads'), (self.labels, self.heads)
      ),
    )


class GlobalLocalAttention(nn.Module):
  """Projections, relative tables and outputs around the pure function.

  `attention(long, glob, structure)`; without global tokens
  `attention(long, None, UnitStructure.local(examples))`, which returns None
  for them and has no parameters that only they would use.

  Attributes:
    heads, dim: how many heads, and the size of each.
    radius: long tokens read so many neighbours on either side.
    max_distance: distances are clipped here before they are labelled.
    hard_g2l: a global token reads only long tokens of its own unit.
    hard_l2g: a long token reads only the global tokens of its own unit.
    labels: rows of either relative table; None = as many as `max_distance`
      needs, 0 = no relative terms.
    sharing: projections shared between parts, `'none'`, `'kv'` or `'qkv'`.
    share_output: one output projection for long and global rows.
    dropout: rate, of probabilities.
    implementation: `'blocked'` or `'dense'`.
    block: long tokens per block of `'blocked'`; None = chosen.
    dtype: of activations; None = that of inputs and parameters.
    dot_general: the product.
  """

  heads: int
  dim: int
  radius: int = 84
  max_distance: int = 12
  hard_g2l: bool = False
  hard_l2g: bool = False
  labels: int | None = None
  sharing: str = 'none'
  share_output: bool = False
  dropout: float = 0.0
  implementation: str = 'blocked'
  block: int | None = None
  dtype: DTypeLike | None = None
  dot_general: DotGeneral = jax.lax.dot_general

  @nn.compact
  def __call__(
    self,
    long: Float[Array, 'batch length embed'],
    glob: Float[Array, 'batch globals width'] | None,
    structure: Structure,
    deterministic: bool = True,
  ) -> tuple[
    Float[Array, 'batch length embed'],
    Float[Array, 'batch globals width'] | None,
  ]:
    self._check_widths(long, glob)
    outputs = global_local_attention(
      self._heads(long, glob),
      structure,
      AttentionPattern(
        self.radius, self.max_distance, self.hard_g2l, self.hard_l2g
      ),
      self._tables(glob is not None),
      implementation=self._implementation(),
      block=self.block,
      dropout=attention_dropout(self, self.dropout, deterministic),
      dot_general=self.dot_general,
    )
    to_long = self._output(long, 'long_output')
    if glob is None:
      return to_long(outputs[0]), None
    to_global = to_long
    if not self.share_output:
      to_global = self._output(glob, 'global_output')
    return to_long(outputs[0]), to_global(outputs[1])

  def _check_widths(self, long: Array, glob: Array | None) -> None:
    if self.sharing not in SHARING:
      raise InputError(
        f'sharing is {self.sharing!r}, must be one of {tuple(SHARING)}.'
      )
    if glob is None or glob.shape[-1] == long.shape[-1]:
      return
    if self.sharing == 'qkv' or self.share_output:
      raise InputError(
        f'global tokens have width {glob.shape[-1]} and long tokens'
        f' {long.shape[-1]}, must be equal when both share a projection.'
      )

  def _output(self, stream: Array, name: str) -> Dense:
    return output_projection(
      stream.shape[-1], self.dtype, self.dot_general, name=name
    )

  def _heads(
    self,
    long: Float[Array, 'batch length embed'],
    glob: Float[Array, 'batch globals width'] | None,
  ) -> AttentionHeads:
    shared = SHARING[self.sharing]
    slots = AttentionHeads._fields if glob is not None else _LOCAL
    projections = {
      slot: head_projection(
        self.heads, self.dim, self.dtype, self.dot_general, name=slot
      )
      for slot in slots
      if slot not in shared
    }
    heads = {}
    for slot in slots:
      stream = long if slot in _FROM_LONG or glob is None else glob
      array = projections[shared.get(slot, slot)](stream)
      axes = ('batch', _axis(slot), 'heads', 'kv')
      heads[slot] = with_logical_constraint(array, axes)
    if glob is None:
      return AttentionHeads.shared(tuple(heads[slot] for slot in _LOCAL))
    return AttentionHeads(**heads)

  def _implementation(self) -> str:
    # Parameters do not depend on it, and are made from inputs that are too
    # small to spread, before there is a mesh.
    if self.implementation == 'sequence' and self.is_initializing():
      return 'blocked'
    return self.implementation

  def _tables(self, has_globals: bool) -> RelativeTables:
    labels = self.labels
    if labels is None:
      labels = num_labels(self.max_distance)
    if not labels:
      return RelativeTables()
    sizes = (labels, self.heads, self.dim)
    return RelativeTables(
      RelativeEmbedding(*sizes, name='long_relative')(),
      RelativeEmbedding(*sizes, name='global_relative')()
      if has_globals
      else None,
    )


def _axis(slot: str) -> str:
  return 'length' if slot in _FROM_LONG else 'global'


def layer_attention(
  config: ETCConfig, index: int = 0, name: str | None = None
) -> GlobalLocalAttention:
  """The attention of layer `index`."""
  return GlobalLocalAttention(
    heads=config.heads,
    dim=config.head_dim,
    radius=config.radius(index),
    max_distance=config.pattern.max_distance,
    hard_g2l=config.pattern.hard_g2l,
    hard_l2g=config.pattern.hard_l2g,
    labels=config.labels,
    sharing=config.sharing,
    share_output=config.share_output,
    dropout=config.dropout,
    implementation=config.implementation,
    block=config.block,
    dtype=config.dtype,
    dot_general=config.dot_general,
    name=name,
  )


class GlobalLocalLayer(nn.Module):
  """Attention and feed-forward, each with residual, dropout and norm.

  post-norm:  x <- LN(x + drop(f(x)))      pre-norm:  x <- x + drop(f(LN(x)))

  Attributes:
    config: sizes and options.
    index: of this layer, which may have a radius of its own.
  """

  config: ETCConfig
  index: int = 0

  @nn.compact
  def __call__(
    self,
    long: Float[Array, 'batch length embed'],
    glob: Float[Array, 'batch globals width'],
    structure: Structure,
    deterministic: bool = True,
  ) -> Streams:
    attention = layer_attention(self.config, self.index, name='attention')
    long_block, global_block = self._feed_forwards()
    streams = self._residual(
      (long, glob),
      lambda x, y: attention(x, y, structure, deterministic),
      (self._norm('long_attention_norm'), self._norm('global_attention_norm')),
      deterministic,
    )
    return self._residual(
      streams,
      lambda x, y: (long_block[0](x), global_block[0](y)),
      (long_block[1], global_block[1]),
      deterministic,
    )

  def _residual(
    self,
    streams: Streams,
    function: Any,
    norms: tuple[Norm, Norm],
    deterministic: bool,
  ) -> Streams:
    drop = nn.Dropout(self.config.dropout, deterministic=deterministic)
    if self.config.pre_norm:
      normed = [norm(x) for norm, x in zip(norms, streams, strict=True)]
      updates = function(*normed)
      out = [x + drop(u) for x, u in zip(streams, updates, strict=True)]
    else:
      updates = function(*streams)
      out = [
        norm(x + drop(u))
        for norm, x, u in zip(norms, streams, updates, strict=True)
      ]
    return _constrain(out[0], 'length'), _constrain(out[1], 'global')

  def _feed_forwards(
    self,
  ) -> tuple[tuple[FeedForward, Norm], tuple[FeedForward, Norm]]:
    config = self.config
    long = self._feed_forward(config.mlp, 'long_feed_forward')
    if config.share_feed_forward:
      return long, long
    mlp = config.global_mlp or config.mlp
    return long, self._feed_forward(mlp, 'global_feed_forward')

  def _feed_forward(self, mlp: int, name: str) -> tuple[FeedForward, Norm]:
    config = self.config
    block = FeedForward(
      mlp, config.activation, config.dtype, config.dot_general, name=name
    )
    return block, self._norm(f'{name}_norm')

  def _norm(self, name: str) -> Norm:
    return Norm(self.config.epsilon, self.config.dtype, name=name)


def _constrain(array: Array, axis: str) -> Array:
  return with_logical_constraint(array, ('batch', axis, 'embed'))


class _ScannedLayer(nn.Module):
  """A layer in the form `nn.scan` wants: carry in, carry out."""

  config: ETCConfig

  @nn.compact
  def __call__(
    self, streams: Streams, structure: Structure, deterministic: bool
  ) -> tuple[Streams, None]:
    layer = GlobalLocalLayer(self.config, name='layer')
    return layer(*streams, structure, deterministic), None


class GlobalLocalStack(nn.Module):
  """The layers of an ETC encoder, as a loop or as a scan."""

  config: ETCConfig

  def setup(self) -> None:
    config = self.config
    if config.scan_layers:
      body = _ScannedLayer
      if config.remat_period:
        # Argument 3 is `deterministic`; a loop needs no barriers.
        body = nn.remat(body, prevent_cse=False, static_argnums=(3,))
      self.layers = nn.scan(
        body,
        variable_axes={'params': 0},
        split_rngs={'params': True, 'dropout': True},
        in_axes=nn.broadcast,  # pyright: ignore[reportArgumentType]
        length=config.layers,
        metadata_params={nn.PARTITION_NAME: 'layers'},
      )(config)
    else:
      # Flax names these layer_0, layer_1, ...
      self.layer = [GlobalLocalLayer(config, i) for i in range(config.layers)]

  def __call__(
    self,
    long: Float[Array, 'batch length embed'],
    glob: Float[Array, 'batch globals width'],
    structure: Structure,
    deterministic: bool = True,
  ) -> Streams:
    streams = long, glob
    if self.config.scan_layers:
      streams, _ = self.layers(streams, structure, deterministic)
      return streams
    period = self.config.remat_period
    groups = remat_groups(range(self.config.layers), period)
    for position, group in enumerate(groups):

      def run(stack, streams, structure, group=group):
        for index in group:
          streams = stack.layer[index](*streams, structure, deterministic)
        return streams

      recompute = period and position < len(groups) - 1
      streams = (nn.remat(run) if recompute else run)(self, streams, structure)
    return streams


def remat_groups(layers: Sequence[Any], period: int) -> list[Sequence[Any]]:
  """Groups of `period` layers, the remainder first; 0 = one group.

  >>> remat_groups('abcde', 2)
  ['a', 'bc', 'de']
  """
  if not period:
    return [layers]
  first = len(layers) % period
  starts = ([0] if first else []) + list(range(first, len(layers), period))
  return [
    layers[a:b] for a, b in zip(starts, [*starts[1:], len(layers)], strict=True)
  ]


class ETCEncoder(nn.Module):
  """Embeddings and the global-local stack.

  Long and global tokens use the same token and segment tables, but norms of
  their own. Without segment ids every long token is of segment 1 and every
  global token of segment 0.
  """

  config: ETCConfig

  @nn.compact
  def __call__(
    self,
    tokens: Int[Array, 'batch length'],
    global_tokens: Int[Array, 'batch globals'],
    structure: Structure,
    segments: Int[Array, 'batch length'] | None = None,
    global_segments: Int[Array, 'batch globals'] | None = None,
    positions: Int[Array, 'batch length'] | None = None,
    global_positions: Int[Array, 'batch globals'] | None = None,
    deterministic: bool = True,
  ) -> Streams:
    """Encodes.

    `positions` and `global_positions` are rows of the tables of
    `long_positions` and `global_positions`; None = 0, 1, 2, ...
    """
    embed = ETCEmbeddings(self.config, name='embeddings')
    long, glob = embed(
      (tokens, global_tokens),
      (segments, global_segments),
      (positions, global_positions),
      self._owners(structure),
      deterministic,
    )
    stack = GlobalLocalStack(self.config, name='stack')
    return stack(long, glob, structure, deterministic)

  def _owners(self, structure: Structure) -> Int[Array, 'batch length'] | None:
    if not self.config.global_means:
      return None
    if not isinstance(structure, UnitStructure):
      raise InputError(
        'global_means is set, but the structure has pairs: a UnitStructure,'
        ' which knows the tokens of a unit, is needed.'
      )
    return structure.unit_ids


class ETCEmbeddings(nn.Module):
  """token + segment (+ position) (+ mean of own tokens) -> norm -> dropout.

  Own tokens are those that have a global token for `owners`, as embedded.
  """

  config: ETCConfig

  @nn.compact
  def __call__(
    self,
    tokens: tuple[Array, Array],
    segments: tuple[Array | None, Array | None],
    positions: tuple[Array | None, Array | None] = (None, None),
    owners: Int[Array, 'batch length'] | None = None,
    deterministic: bool = True,
  ) -> Streams:
    config = self.config
    look_up = self._token_lookup()
    segment_table = Embedding(
      config.segments,
      config.embed,
      ('segments', 'embed'),
      config.dtype,
      name='segments',
    )
    drop = nn.Dropout(config.dropout, deterministic=deterministic)
    outputs = []
    for side, axis, rows, default in (
      (0, 'long', config.long_positions, 1),
      (1, 'global', config.global_positions, 0),
    ):
      ids, segment_ids = tokens[side], segments[side]
      if segment_ids is None:
        segment_ids = jnp.full_like(ids, default)
      total = look_up(ids) + segment_table(segment_ids)
      if rows:
        total += self._positions(axis, rows, ids, positions[side])
      if owners is not None and outputs:
        total += mean_by_unit(outputs[0], owners, ids.shape[1])
      norm = Norm(config.epsilon, config.dtype, name=f'{axis}_norm')
      outputs.append(drop(norm(total)))
    return _constrain(outputs[0], 'length'), _constrain(outputs[1], 'global')

  def _token_lookup(self) -> Any:
    config = self.config
    width = config.embedding_width or config.embed
    table = Embedding(config.vocab, width, dtype=config.dtype, name='tokens')
    if config.embedding_width is None:
      return table
    projection = Dense(
      (config.embed,),
      ('embedding', 'embed'),
      config.dtype,
      stddev=width**-0.5,
      dot_general=config.dot_general,
      name='projection',
    )
    return lambda ids: projection(table(ids))

  def _positions(
    self,
    axis: str,
    rows: int,
    ids: Int[Array, 'batch tokens'],
    positions: Int[Array, 'batch tokens'] | None,
  ) -> Float[Array, '#batch tokens embed']:
    if positions is None:
      if ids.shape[1] > rows:
        raise InputError(
          f'{axis} input has {ids.shape[1]} tokens, but {axis}_positions is'
          f' {rows}: give a larger table or a shorter input.'
        )
      positions = jnp.arange(ids.shape[1])[None]
    table = Embedding(
      rows,
      self.config.embed,
      ('positions', 'embed'),
      self.config.dtype,
      name=f'{axis}_positions',
    )
    return table(positions)
