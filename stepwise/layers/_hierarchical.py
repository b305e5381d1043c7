"""Hierarchical encoder: tokens to unit vectors, units to document states.

Stepwise HiBERT (Narayan et al., 2020). Each unit is encoded on its own, or,
with a `window`, as the mean of its tokens in the running text; the plan gathers
the vectors of the units chosen so far:

  u_i = sentence_encoder(tokens of unit i)[first token]
  x_i = norm_in(u_i + document_position[i])
  y_j = norm_in(u_plan[j] + summary_position[j])

and every document layer computes, with the same weights for both streams,

  a = norm1(x + self(x)),     s = norm1(y + self(y))
  c = norm2(a + cross(a, s))
  x = norm3(c + feed(c)),     y = norm3(s + feed(s))
"""

import dataclasses
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers._attend import key_mask
from stepwise.layers._modules import Embedding, Norm
from stepwise.layers._places import (
  count_units,
  draw_excerpts,
  read_between,
  spread_places,
)
from stepwise.layers._products import DotGeneral, einsum
from stepwise.layers._transformer import (
  TransformerConfig,
  TransformerEncoder,
  TransformerLayer,
  check_positions,
  constrain,
  maybe_remat,
  position_table,
)


@dataclasses.dataclass(frozen=True)
class HierarchicalConfig:
  """The sentence encoder, and what the document encoder adds to it.

  Document layers have the sizes of `sentence`, and are never scanned.
  """

  sentence: TransformerConfig
  document_layers: int
  document_positions: int = 0  # 0 = units are a set, without an order.
  summary_positions: int = 0  # 0 = not stepwise: no plan, no cross attention.
  pooling: Literal['first', 'mean'] = 'first'
  # Tokens of running text that are read together; 0 = unit by unit.
  window: int = 0
  # Summary positions are counted from the last choice back: what was chosen
  # last has the same position in every plan, however long.
  from_end: bool = False
  # Units that are read, if more than document positions; 0 = as many. Places
  # beyond half of the positions are then spread, see `_places.py`.
  reach: int = 0
  # In training, documents are pretended to be parts of longer ones.
  drawn_places: bool = True

  def __post_init__(self) -> None:
    if not 0 <= self.window <= self.sentence.positions:
      raise InputError(
        f'window is {self.window}; 0 to {self.sentence.positions} (the token '
        'positions) are possible.'
      )
    if self.document_layers < 1:
      raise InputError(
        f'document_layers is {self.document_layers}; 1 or more are needed.'
      )
    if self.pooling not in ('first', 'mean'):
      raise InputError(f"pooling is {self.pooling!r}; 'first' or 'mean' exist.")
    if self.reach and not self.document_positions:
      raise InputError(
        f'reach is {self.reach}, but document_positions is 0: units that are a '
        'set have no places to spread.'
      )
    if self.reach and self.reach < self.document_positions:
      raise InputError(
        f'reach is {self.reach}; 0, or {self.document_positions} (the document '
        'positions) or more are possible.'
      )

  @property
  def stepwise(self) -> bool:
    return self.summary_positions > 0

  @property
  def most_units(self) -> int:
    """Units of a document that are read; 0 = any number."""
    return self.reach or self.document_positions


class HierarchicalMemory(NamedTuple):
  """What does not depend on the plan."""

  units: Float[Array, 'batch units embed']
  # The first document layer's self attention, after its norm.
  attended: Float[Array, 'batch units embed']
  unit_mask: Bool[Array, 'batch units']
  # Of every token, for whoever asks about words; nothing here reads it.
  text: Float[Array, 'batch length embed'] | None = None


class HierarchicalEncoder(nn.Module):
  """`encode_units` and `prepare` once per document; `score_states` per plan."""

  config: HierarchicalConfig

  def setup(self) -> None:
    config, sentence = self.config, self.config.sentence
    self.sentence = TransformerEncoder(sentence)
    if config.document_positions:
      self.document_position = position_table(
        config.document_positions, sentence
      )
    if config.stepwise:
      self.summary_position = position_table(config.summary_positions, sentence)
    self.norm = Norm(sentence.norm_epsilon, sentence.dtype)
    self.dropout = nn.Dropout(sentence.dropout)
    self.layers = [
      TransformerLayer(sentence, cross=config.stepwise)
      for _ in range(config.document_layers)
    ]

  def __call__(
    self,
    tokens: Int[Array, 'batch units tokens'],
    token_mask: Bool[Array, 'batch units tokens'],
    plan: Int[Array, 'batch steps'] | None = None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch units embed']:
    """All at once; a unit is real if any of its tokens is."""
    units = self.encode_units(tokens, token_mask, deterministic)
    memory = self.prepare(units, token_mask.any(-1), deterministic)
    return self.score_states(memory, plan, deterministic)

  def encode_units(
    self,
    tokens: Int[Array, 'batch units tokens'],
    token_mask: Bool[Array, 'batch units tokens'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch units embed']:
    """One vector per unit, read from its own tokens only."""
    if tokens.ndim != 3:
      raise InputError(
        f'token ids have shape {tokens.shape}; '
        '[batch, units, tokens] is needed.'
      )
    batch, units, length = tokens.shape
    rows = batch * units
    states = self.sentence(
      tokens.reshape(rows, length),
      token_mask.reshape(rows, length),
      deterministic=deterministic,
    )
    if self.config.pooling == 'first':
      pooled = states[:, 0]
    else:
      pooled = masked_mean(states, token_mask.reshape(rows, length))
    return pooled.reshape(batch, units, -1)

  def read_text(
    self,
    tokens: Int[Array, 'batch length'],
    unit_ids: Int[Array, 'batch length'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch length embed']:
    """States of all tokens of running text.

    The text is cut into windows, wherever units begin and end; a token sees
    its own window.
    """
    batch, length = tokens.shape
    window = min(self.config.window, length)
    rows = split_windows(tokens, window)
    mask = split_windows(unit_ids + 1, window) > 0
    states = self.sentence(rows, mask, deterministic=deterministic)
    return states.reshape(batch, -1, states.shape[-1])[:, :length]

  def pool_text(
    self,
    states: Float[Array, 'batch length embed'],
    unit_ids: Int[Array, 'batch length'],
    num_units: int,
  ) -> Float[Array, 'batch units embed']:
    """One vector per unit, the mean of its tokens; zeros where it has none."""
    hook = self.config.sentence.dot_general
    return mean_by_unit(states, unit_ids, num_units, hook)

  def prepare(
    self,
    units: Float[Array, 'batch units embed'],
    unit_mask: Bool[Array, 'batch units'],
    deterministic: bool = True,
  ) -> HierarchicalMemory:
    """Computes everything that does not depend on the plan."""
    states = units
    if self.config.reach:
      states = units + self._read_places(unit_mask, deterministic)
    elif self.config.document_positions:
      states = add_positions('units', units, self.document_position)
    attended = self.layers[0].attend_self(
      self._input(states, deterministic), key_mask(unit_mask), deterministic
    )
    return HierarchicalMemory(units, attended, unit_mask)

  def score_states(
    self,
    memory: HierarchicalMemory,
    plan: Int[Array, 'batch steps'] | None = None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch units embed']:
    """Document states given the units chosen so far, in order (-1 = empty).

    If the plan is empty the cross attention contributes zero. States at
    padding units mean nothing. A model that is not stepwise takes no plan.
    """
    summary, summary_mask = self._embed_plan(memory, plan, deterministic)
    document_mask = key_mask(memory.unit_mask)

    def finish(layer: TransformerLayer, attended: Array, summary: Array | None):
      return read_summary(layer, attended, summary, summary_mask, deterministic)

    def whole(layer: TransformerLayer, states: Array, summary: Array | None):
      attended = layer.attend_self(states, document_mask, deterministic)
      return finish(layer, attended, summary)

    first, *others = self.layers
    first_half, later = (
      maybe_remat(self.config.sentence, body) for body in (finish, whole)
    )
    states, summary = first_half(first, memory.attended, summary)
    for layer in others:
      states, summary = later(layer, states, summary)
    return states

  def _read_places(
    self, unit_mask: Bool[Array, 'batch units'], deterministic: bool
  ) -> Float[Array, 'batch units embed']:
    """Positions of documents that may have more units than the table rows."""
    config, table = self.config, self.document_position
    slots = unit_mask.shape[1]
    if slots > config.reach:
      raise InputError(f'{slots} units are given, but reach is {config.reach}.')
    counts, skipped = count_units(unit_mask), None
    if config.drawn_places and not deterministic:
      rng = self.make_rng('dropout')
      counts, skipped = draw_excerpts(rng, counts, table.rows, config.reach)
    places = spread_places(counts, slots, table.rows, skipped)
    return read_between(table, places)

  def _embed_plan(
    self,
    memory: HierarchicalMemory,
    plan: Int[Array, 'batch steps'] | None,
    deterministic: bool,
  ) -> tuple[Float[Array, 'batch steps embed'] | None, Array | None]:
    """The summary stream and its mask, or nothing if not stepwise."""
    if (plan is not None) != self.config.stepwise:
      raise InputError(
        f'plan is {"missing" if plan is None else "given"}, but '
        f'summary_positions is {self.config.summary_positions} '
        '(a plan is read if and only if there are summary positions).'
      )
    if plan is None:
      return None, None
    chosen = gather_units(memory.units, plan)
    if self.config.from_end:
      check_positions('plan slots', plan.shape[1], self.summary_position.rows)
      states = chosen + self.summary_position(places_from_end(plan))
    else:
      states = add_positions('plan slots', chosen, self.summary_position)
    return self._input(states, deterministic), key_mask(plan >= 0)

  def _input(
    self, states: Float[Array, 'batch length embed'], deterministic: bool
  ) -> Float[Array, 'batch length embed']:
    """The norm (and dropout) both streams pass through."""
    return constrain(self.dropout(self.norm(states), deterministic))


def read_summary(
  layer: TransformerLayer,
  attended: Float[Array, 'batch units embed'],
  summary: Float[Array, 'batch steps embed'] | None,
  summary_mask: Bool[Array, 'batch 1 steps'] | None,
  deterministic: bool,
) -> tuple[
  Float[Array, 'batch units embed'], Float[Array, 'batch steps embed'] | None
]:
  """A document layer from the document's self attention on: a, y -> x, y."""
  if summary is None or summary_mask is None:
    return layer.feed(attended, deterministic), None
  summary = layer.attend_self(summary, summary_mask, deterministic)
  crossed = layer.attend_cross(
    attended, layer.cross_keys_values(summary), summary_mask, deterministic
  )
  return layer.feed(crossed, deterministic), layer.feed(summary, deterministic)


def add_positions(
  what: str,
  states: Float[Array, 'batch length embed'],
  table: Embedding,
) -> Float[Array, 'batch length embed']:
  check_positions(what, states.shape[1], table.rows)
  return states + table(jnp.arange(states.shape[1]))[None]


def places_from_end(
  plan: Int[Array, 'batch steps'],
) -> Int[Array, 'batch steps']:
  """0 for the last filled slot, 1 for the one before it; 0 in empty slots."""
  count = (plan >= 0).sum(axis=1, keepdims=True)
  return jnp.maximum(count - 1 - jnp.arange(plan.shape[1])[None], 0)


def gather_units(
  units: Float[Array, 'batch units embed'], plan: Int[Array, 'batch steps']
) -> Float[Array, 'batch steps embed']:
  """The chosen rows of `units`; zeros in empty slots."""
  rows = jnp.take_along_axis(units, jnp.maximum(plan, 0)[..., None], axis=1)
  return jnp.where((plan >= 0)[..., None], rows, 0)


def split_windows(
  values: Int[Array, 'batch length'], window: int
) -> Int[Array, 'rows window']:
  """Cuts rows into windows, the last one filled up with zeros."""
  padded = jnp.pad(values, ((0, 0), (0, -values.shape[1] % window)))
  return padded.reshape(-1, window)


def mean_by_unit(
  states: Float[Array, 'batch length embed'],
  unit_ids: Int[Array, 'batch length'],
  num_units: int,
  dot_general: DotGeneral = jax.lax.dot_general,
) -> Float[Array, 'batch units embed']:
  """Means over the tokens of every unit, zero where there are none."""
  member = unit_ids[:, None] == jnp.arange(num_units)[None, :, None]

  def multiply(states: Array) -> Array:
    member_rows = member.astype(states.dtype)
    return einsum('bul,ble->bue', member_rows, states, dot_general)

  def scatter(states: Array) -> Array:
    # Nothing is added for tokens of no unit: -1 would be the last one.
    targets = jnp.where(unit_ids >= 0, unit_ids, num_units)
    wide = states.astype(jnp.result_type(states.dtype, jnp.float32))
    empty = jnp.zeros((num_units, states.shape[-1]), wide.dtype)
    return jax.vmap(lambda ids, rows: empty.at[ids].add(rows, mode='drop'))(
      targets, wide
    )

  # CPUs add rows up seven times as fast as they multiply by zeros and ones.
  total = jax.lax.platform_dependent(states, cpu=scatter, default=multiply)
  count = jnp.maximum(member.sum(axis=2), 1)
  return (total / count[..., None]).astype(states.dtype)


def masked_mean(
  states: Float[Array, 'rows tokens embed'], mask: Bool[Array, 'rows tokens']
) -> Float[Array, 'rows embed']:
  """Mean over real tokens, zero where there are none."""
  total = jnp.sum(states, axis=1, where=mask[..., None], dtype=jnp.float32)
  count = jnp.maximum(mask.sum(1), 1)
  return (total / count[:, None]).astype(states.dtype)
