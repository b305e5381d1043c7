"""A small planner: one pass over a plan scores all of its steps.

HiBERT and ETCSum read the document anew for every step of a plan, so a plan of
70 entries costs 70 forward passes to learn from. Here the document is read
once and the plan by a causal decoder, as in an encoder-decoder, and the next
unit is the one whose key fits the decoder's state:

  k = key(encoder(units)),  q_j = query(decoder(plan[:j], units))
  logit_ji = q_j . k_i / sqrt(embed)
"""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.layers import (
  Dense,
  Embedding,
  KeyValues,
  Norm,
  TransformerConfig,
  TransformerEncoder,
  TransformerLayer,
  causal_mask,
  key_mask,
  masked_mean,
)
from stepwise.models._batch import Batch, take
from stepwise.models._config import (
  Limits,
  Loss,
  ModelConfig,
  check_unit_tokens,
  replace_settings,
)
from stepwise.models._hibert import unit_grid
from stepwise.models._losses import (
  LossSums,
  every_step,
  late_stop,
  step_contexts,
  step_sums,
)
from stepwise.models._scorer import with_begin


@dataclasses.dataclass(frozen=True)
class PointerConfig(ModelConfig):
  """Sizes of the pointer planner.

  Attributes:
    encoder: of its layers; `layers` of them read the units together. A unit
      itself is the mean of its tokens' embeddings.
    plan_layers: that read the plan.
    plan_positions: slots of a plan, BEG counted.
    first_token: id of the delimiter that leads every unit.
    max_unit_tokens: tokens of a unit that are read, the delimiter included.
    begin_unit: the unit that opens every plan.
  """

  incremental = True
  encoder: TransformerConfig
  plan_layers: int = 2
  plan_positions: int = 256
  first_token: int = 101
  max_unit_tokens: int = 24
  begin_unit: int = 2

  def __post_init__(self) -> None:
    check_unit_tokens(self.max_unit_tokens, self.encoder.positions)

  @property
  def vocab(self) -> int:
    return self.encoder.vocab

  @property
  def embed(self) -> int:
    return self.encoder.embed

  @property
  def limits(self) -> Limits:
    # The delimiter is a token of every unit, BEG a unit of every plan.
    return Limits(
      unit_tokens=self.max_unit_tokens - 1, plan=self.plan_positions - 1
    )

  def build(self) -> 'PointerPlanner':
    return PointerPlanner(self)

  def loss(
    self,
    module: nn.Module,
    *,
    positive_weight: float = 1.0,
    sample: int = 0,
    stages: int = 1,
    rest_share: float = 0.0,
    stop_odds: float = 1.0,
  ) -> Loss:
    """All steps in one pass: there is nothing to gain from sampling some."""
    del positive_weight, sample, stages
    never = (self.begin_unit,)
    return functools.partial(
      prefix_loss,
      module,
      never=never,
      rest_share=rest_share,
      stop=self.late_stop(stop_odds),
    )

  def with_settings(self, **settings: Any) -> 'PointerConfig':
    encoder = replace_settings(self.encoder, settings)
    return dataclasses.replace(self, encoder=encoder)


POINTER_CONFIGS: dict[str, PointerConfig] = {
  'pointer_rotowire': PointerConfig(
    TransformerConfig(
      vocab=30522,
      embed=96,
      heads=4,
      mlp=192,
      layers=1,
      positions=32,
      activation='gelu_tanh',
    )
  ),
}


class PointerMemory(NamedTuple):
  """What does not depend on the plan."""

  units: Float[Array, 'batch units embed']
  keys: Float[Array, 'batch units embed']
  mask: Bool[Array, 'batch units']
  crossed: tuple[KeyValues, ...]  # What every plan layer reads of the units.


class PointerPlanner(nn.Module):
  """`encode` once per document; `score` a plan, or `score_prefixes` of it.

  Or read a plan unit by unit: `begin_plan`, then `extend_plan`.
  """

  config: PointerConfig

  def setup(self) -> None:
    config, encoder = self.config, self.config.encoder
    self.tokens = TransformerEncoder(dataclasses.replace(encoder, layers=0))
    self.table_layers = [
      TransformerLayer(encoder) for _ in range(encoder.layers)
    ]
    self.plan_layers = [
      TransformerLayer(encoder, cross=True) for _ in range(config.plan_layers)
    ]
    self.plan_position = Embedding(
      config.plan_positions, encoder.embed, ('positions', 'embed')
    )
    self.unit_norm, self.plan_norm = Norm(1e-6), Norm(1e-6)
    self.key = Dense((encoder.embed,), ('embed', 'kv'))
    self.query = Dense((encoder.embed,), ('embed', 'kv'))

  def __call__(self, batch: Batch) -> Float[Array, 'batch units']:
    """Both methods at once, for initialisation."""
    if batch.plan is None:
      raise InputError('plan is missing: the planner reads one.')
    return self.score(self.encode(batch), batch.plan)

  def encode(self, batch: Batch, deterministic: bool = True) -> PointerMemory:
    """Everything that does not depend on the plan."""
    grid = unit_grid(
      batch, self.config.first_token, self.config.max_unit_tokens
    )
    rows = grid.tokens.shape[0] * grid.tokens.shape[1]
    tokens, mask = (array.reshape(rows, -1) for array in grid)
    states = self.tokens(tokens, mask, deterministic=deterministic)
    mean = masked_mean(states, mask)
    units = self.unit_norm(mean.reshape(*batch.valid.shape, -1))
    for layer in self.table_layers:
      units = layer(units, key_mask(batch.valid), deterministic)
    crossed = (layer.cross_keys_values(units) for layer in self.plan_layers)
    return PointerMemory(units, self.key(units), batch.valid, tuple(crossed))

  def score(
    self,
    memory: PointerMemory,
    plan: Int[Array, 'batch steps'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch units']:
    """Logits of all units; those of padding mean nothing."""
    states = self._read(memory, plan, deterministic)
    last = take(states, (plan >= 0).sum(axis=1, keepdims=True))
    return self._logits(memory, last)[:, 0]

  def score_prefixes(
    self,
    memory: PointerMemory,
    plan: Int[Array, 'batch steps'],
    deterministic: bool = True,
  ) -> Float[Array, 'batch prefixes units']:
    """`score` of `plan[:0]`, `plan[:1]` ... and the whole plan."""
    return self._logits(memory, self._read(memory, plan, deterministic))

  def begin_plan(
    self, memory: PointerMemory, steps: int
  ) -> tuple[KeyValues, ...]:
    """What the layers have read of a plan before its first unit: nothing."""
    rows, encoder = memory.mask.shape[0], self.config.encoder
    shape = rows, encoder.heads, steps, encoder.embed // encoder.heads
    empty = jnp.zeros(shape, memory.units.dtype)
    return (KeyValues(empty, empty),) * self.config.plan_layers

  def extend_plan(
    self,
    memory: PointerMemory,
    past: tuple[KeyValues, ...],
    unit: Int[Array, 'batch 1'],
    position: Int[Array, ''] | int,
  ) -> tuple[Float[Array, 'batch units'], tuple[KeyValues, ...]]:
    """Logits after one more unit, whose keys join the `past` of each layer."""
    place = self.plan_position(jnp.full((1, 1), position))
    states = self.plan_norm(take(memory.units, unit) + place)
    present = []
    for layer, read, before in zip(
      self.plan_layers, memory.crossed, past, strict=True
    ):
      states, now = layer.attend_past(states, before, position)
      states = layer.attend_cross(states, read, key_mask(memory.mask))
      states = layer.feed(states)
      present.append(now)
    return self._logits(memory, states)[:, 0], tuple(present)

  def _read(
    self,
    memory: PointerMemory,
    plan: Int[Array, 'batch steps'],
    deterministic: bool,
  ) -> Float[Array, 'batch prefixes embed']:
    begun = with_begin(plan, self.config.begin_unit)
    assert begun is not None, 'with_begin'
    length, positions = begun.shape[1], self.config.plan_positions
    if length > positions:
      raise InputError(
        f'{length} plan slots are given, BEG counted, but the position table '
        f'has {positions} rows.'
      )
    places = jnp.arange(length)
    states = take(memory.units, begun) + self.plan_position(places)[None]
    states = self.plan_norm(states)
    # Empty slots come last: no filled one attends to them.
    before = causal_mask(length)
    for layer, read in zip(self.plan_layers, memory.crossed, strict=True):
      states = layer.attend_self(states, before, deterministic)
      states = layer.attend_cross(
        states, read, key_mask(memory.mask), deterministic
      )
      states = layer.feed(states, deterministic)
    return states

  def _logits(
    self, memory: PointerMemory, states: Float[Array, 'batch slots embed']
  ) -> Float[Array, 'batch slots units']:
    scale = memory.keys.shape[-1] ** -0.5
    query = self.query(states) * scale
    return jnp.einsum('bse,bue->bsu', query, memory.keys)


def prefix_loss(
  model: nn.Module,
  params: Any,
  batch: Batch,
  rng: Array | None = None,
  *,
  never: tuple[int, ...] = (),
  rest_share: float = 0.0,
  stop: tuple[int, float] | None = None,
) -> LossSums:
  """`stepwise_loss`, all steps of a document by one `score_prefixes`."""
  if batch.plan is None or batch.targets is None:
    raise InputError('a batch without plan or targets has nothing to learn.')
  contexts = step_contexts(batch.plan, batch.targets)

  def logits(model: Any) -> Array:
    memory = model.encode(batch, rng is None)
    return model.score_prefixes(memory, contexts[:, -1], rng is None)

  rngs = None if rng is None else {'dropout': rng}
  every: Any = model.apply({'params': params}, method=logits, rngs=rngs)
  filled = (batch.plan >= 0).sum(axis=1, keepdims=True)
  step = every_step(batch.targets)
  scores = late_stop(take(every, filled + step), stop)
  return step_sums(scores, batch, step, contexts, never, rest_share)
