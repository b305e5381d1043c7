"""Greedy plans of the pointer planner, one unit read at every step.

The same plans as `decode` finds with one beam: that one reads the whole plan
anew at every step, this one keeps what the layers have read.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Int
from stepwise.decoding import (
  Constraints,
  DecodeConfig,
  allowed_units,
  may_stop,
)
from stepwise.layers import KeyValues
from stepwise.models._batch import Batch
from stepwise.models._pointer import PointerMemory, PointerPlanner


class _State(NamedTuple):
  """A search between two steps."""

  plan: Int[Array, 'batch steps']
  last: Int[Array, 'batch 1']
  ended: Bool[Array, ' batch']
  past: tuple[KeyValues, ...]


def greedy_plans(
  model: PointerPlanner,
  variables: Any,
  batch: Batch,
  config: DecodeConfig,
  constraints: Constraints,
  rng: Array | None = None,
) -> Int[Array, 'batch steps']:
  """Plans of one beam, -1 = empty; meant to be called inside jit.

  With `rng`, a plan is drawn from the model instead: units by their
  probability among those that are allowed.
  """
  stop = config.stop_unit
  if config.beam_size != 1 or stop is None:
    raise InputError(
      f'beam_size is {config.beam_size} and stop_unit {stop}; greedy plans '
      'have one beam and a stop.'
    )
  memory: Any = model.apply(variables, batch, method='encode')
  crossed: Any = model.apply(variables, memory, method='crossed')
  selectable = batch.valid
  for unit in (*config.never, stop):
    selectable = selectable.at[:, unit].set(False)

  def step(state: _State, position: Array) -> tuple[_State, None]:
    logits, past = _extend(model, variables, memory, crossed, state, position)
    if rng is not None:
      key = jax.random.fold_in(rng, position)
      # The largest of Gumbel-perturbed logits is a draw from their softmax.
      logits += jax.random.gumbel(key, logits.shape, logits.dtype)
    chosen = _choose(logits, state.plan, selectable, config, constraints)
    ended = state.ended | (chosen < 0)
    chosen = jnp.where(ended, -1, chosen)
    plan = state.plan.at[:, position].set(chosen)
    return _State(plan, chosen[:, None], ended, past), None

  state, _ = lax.scan(
    step, _begin(model, memory, config), jnp.arange(config.max_units)
  )
  return state.plan


def _extend(
  model: PointerPlanner,
  variables: Any,
  memory: PointerMemory,
  crossed: Any,
  state: _State,
  position: Array,
) -> Any:
  return model.apply(
    variables,
    memory,
    crossed,
    state.past,
    state.last,
    position,
    method='extend',
  )


def _begin(
  model: PointerPlanner, memory: PointerMemory, config: DecodeConfig
) -> _State:
  encoder, rows = model.config.encoder, memory.mask.shape[0]
  shape = rows, config.max_units, encoder.heads, encoder.embed // encoder.heads
  empty = jnp.zeros(shape, memory.units.dtype)
  return _State(
    jnp.full((rows, config.max_units), -1, jnp.int32),
    jnp.full((rows, 1), model.config.begin_unit, jnp.int32),
    # A row of padding has nothing to plan.
    ~memory.mask.any(axis=1),
    (KeyValues(empty, empty),) * model.config.plan_layers,
  )


def _choose(
  logits: Array,
  plan: Int[Array, 'batch steps'],
  selectable: Bool[Array, 'batch units'],
  config: DecodeConfig,
  constraints: Constraints,
) -> Int[Array, ' batch']:
  """The best unit of every row, -1 for the stop or if nothing is allowed."""
  stop = config.stop_unit
  assert stop is not None, 'greedy_plans'

  def one(logits: Array, plan: Array, selectable: Array, given: Any) -> Array:
    allowed = allowed_units(plan, selectable, given, config.max_units)
    some = allowed.any()
    stops = may_stop(plan, selectable, given, config.min_units) & some
    masked = jnp.where(allowed.at[stop].set(stops), logits, -jnp.inf)
    best = masked.argmax()
    return jnp.where(some & (best != stop), best, -1).astype(jnp.int32)

  return jax.vmap(one)(logits, plan, selectable, constraints)
