"""The search over one batch, the same for all models; called inside jit.

A model that is not stepwise scores units once, and taking its best ones is the
same search with scores that do not change and without a stop. So every
constraint holds for both.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.decoding import (
  BeamResult,
  Constraints,
  DecodeConfig,
  Score,
  beam_search,
)
from stepwise.models import (
  NEWS_DECODING,
  Batch,
  ModelConfig,
  PlanValueConfig,
  Pool,
  unit_sets,
)

# No sum of costs is above it, and two of it are still a number.
UNLIMITED = 2**30


def decode(
  model: ModelConfig,
  variables: Any,
  batch: Batch,
  config: DecodeConfig = NEWS_DECODING,
  constraints: Constraints | None = None,
  *,
  module: nn.Module | None = None,
) -> BeamResult:
  """Plans of every document: encoded once, then searched.

  Args:
    model: the configuration.
    variables: `{'params': ...}` of its module.
    batch: the documents.
    config: of the search. Where the model is not stepwise its `max_units` best
      units are taken, best first; probabilities are those of each unit by
      itself.
    constraints: None = no unit is repeated.
    module: None = that of the model.
  """
  if constraints is None:
    constraints = no_repeats(batch.valid)
  reader = read_documents(model, variables, batch, config, module)
  return search(reader, batch.valid, config, constraints)


def no_repeats(
  valid: Bool[Array, 'batch units'],
  overlap: Bool[Array, 'batch units units'] | None = None,
) -> Constraints:
  """Every unit at most once, and with `overlap` no shared trigram."""
  return Constraints(repeatable=jnp.zeros_like(valid), overlap=overlap)


def document_order(
  plans: Int[Array, 'batch steps'],
) -> Int[Array, 'batch steps']:
  """The units of every plan as they stand in the document, -1 = empty."""
  last = jnp.iinfo(plans.dtype).max
  ordered = jnp.sort(jnp.where(plans < 0, last, plans), axis=1)
  return jnp.where(ordered == last, -1, ordered)


class Reader(NamedTuple):
  """How a search asks a model about the documents it has read.

  Attributes:
    score, memory, state: as `beam_search` takes them.
    single: log-probabilities of each unit by itself, of models that are not
      stepwise.
  """

  score: Score
  memory: Any
  state: Any = None
  single: Float[Array, 'batch units'] | None = None


def read_documents(
  model: ModelConfig,
  variables: Any,
  batch: Batch,
  config: DecodeConfig,
  module: nn.Module | None = None,
) -> Reader:
  """Encodes the documents, once for any number of searches."""
  if not batch.valid.shape[1]:
    raise InputError('the batch has no units, there is nothing to choose.')
  run = functools.partial((module or model.build()).apply, variables)
  memory: Any = run(batch, method='encode')
  if not model.stepwise:
    logits: Any = run(memory, method='score')
    # What such a model was trained to tell of every unit by itself.
    single = jnp.where(batch.valid, jax.nn.log_sigmoid(logits), -jnp.inf)
    return Reader(lambda logits, plan: logits, logits, single=single)
  begin = model.begin_unit
  if not model.incremental or begin is None:
    return Reader(functools.partial(run, method='score'), memory)

  def extend(memory: Any, plan: Array, state: Any, position: Array) -> Any:
    last = jnp.take(plan, jnp.maximum(position - 1, 0), axis=1)
    unit = jnp.where(position > 0, last, begin)
    return run(memory, state, unit[:, None], position, method='extend_plan')

  state = run(memory, config.max_units, method='begin_plan')
  return Reader(extend, memory, state)


def search(
  reader: Reader,
  valid: Bool[Array, 'batch units'],
  config: DecodeConfig,
  constraints: Constraints,
  length_alpha: Float[Array, ''] | None = None,
) -> BeamResult:
  """The best plans of documents that have been read."""
  if reader.single is not None:
    config = dataclasses.replace(config, stop_unit=None, never=(), beam_size=1)
  found = beam_search(
    reader.score,
    reader.memory,
    valid,
    config,
    constraints=constraints,
    state=reader.state,
    length_alpha=length_alpha,
  )
  if reader.single is None:
    return found
  taken = jnp.take_along_axis(
    reader.single[:, None], jnp.maximum(found.plans, 0), axis=2
  )
  every = jnp.broadcast_to(reader.single[:, None, None], found.ranking.shape)
  return found._replace(
    scores=jnp.where(found.plans >= 0, taken, 0).sum(axis=2),
    log_probs=jnp.where(found.plans >= 0, taken, 0),
    ranking=jnp.where(jnp.isneginf(found.ranking), -jnp.inf, every),
  )


def rank_units(
  reader: Reader,
  valid: Bool[Array, 'batch units'],
  config: DecodeConfig,
  plan: Int[Array, 'batch steps'],
) -> Float[Array, 'batch choices units']:
  """Log-probabilities of the next unit after every beginning of a plan.

  They are the model's own: what a search may not choose has its share, too.
  """
  candidates = valid
  for unit in config.never:
    candidates = candidates.at[:, unit].set(False)
  slots = jnp.arange(plan.shape[1])[None]

  def step(state: Any, position: Array) -> tuple[Any, Array]:
    seen = jnp.where(slots < position, plan, -1)
    if reader.state is None:
      logits = reader.score(reader.memory, seen)
    else:
      logits, state = reader.score(reader.memory, seen, state, position)
    logits = jnp.where(candidates, logits.astype(jnp.float32), -jnp.inf)
    return state, jax.nn.log_softmax(logits, where=candidates)

  positions = jnp.arange(plan.shape[1] + 1)
  _, every = jax.lax.scan(step, reader.state, positions)
  return jnp.moveaxis(every, 0, 1)


def draw_plans(
  reader: Reader,
  valid: Bool[Array, 'batch units'],
  config: DecodeConfig,
  constraints: Constraints,
  rng: Array,
  count: int,
) -> Int[Array, 'batch count steps']:
  """Plans drawn from a stepwise model, -1 = empty; all of them one program."""
  found = beam_search(
    reader.score,
    reader.memory,
    valid,
    dataclasses.replace(config, beam_size=count),
    constraints=constraints,
    state=reader.state,
    rng=rng,
  )
  return found.plans


def best_sets(
  run: Callable[..., Any],
  config: PlanValueConfig,
  memory: Any,
  batch: Batch,
  constraints: Any,
) -> Constraints:
  """Leaves to the search the units of the plan that is worth most.

  Where nothing that fits the constraints is among the sets, as many more units
  are asked for or their words are counted, all is as it was.

  Args:
    run: the module with its variables.
    config: which sets it values.
    memory: what the module has read of the documents.
    batch: the documents.
    constraints: `Constraints` that lack nothing but perhaps `overlap`.
  """
  pool = run(memory, batch, ~constraints.must_exclude, method='pool_units')
  values = run(pool, method='judge_sets').values
  fits = _fitting_sets(unit_sets(config), pool, constraints)
  best = jnp.argmax(jnp.where(fits, values, -jnp.inf), axis=1)
  found = fits.any(axis=1)
  members = jnp.asarray(unit_sets(config))[best]
  units = jnp.arange(batch.valid.shape[1])[None, None]
  chosen = (pool.units[..., None] == units) & members[..., None]
  others = ~chosen.any(axis=1) & found[:, None]
  size = members.sum(axis=1)
  return constraints._replace(
    must_exclude=constraints.must_exclude | others,
    min_units=jnp.where(found, size, constraints.min_units),
    max_units=jnp.where(found, size, constraints.max_units),
  )


def _fitting_sets(
  sets: Bool[np.ndarray, 'sets pool'], pool: Pool, constraints: Any
) -> Bool[Array, 'batch sets']:
  """Sets of real units that the constraints allow."""
  taken = jnp.asarray(sets)[None]
  fits = (pool.real[:, None] | ~taken).all(axis=-1)
  size = taken.sum(axis=-1)
  fits &= size >= constraints.min_units[:, None]
  fits &= size <= constraints.max_units[:, None]
  needed = constraints.must_include
  in_pool = jnp.take_along_axis(needed, pool.units, axis=1) & pool.real
  have = (taken & in_pool[:, None]).sum(axis=-1)
  fits &= have == needed.sum(axis=1, keepdims=True)
  if constraints.overlap is not None:
    fits &= ~_clashing(taken, pool.units, constraints.overlap)
  return fits & (constraints.budget.limit >= UNLIMITED)[:, None]


def _clashing(
  taken: Bool[Array, '1 sets pool'],
  units: Int[Array, 'batch pool'],
  overlap: Bool[Array, 'batch units units'],
) -> Bool[Array, 'batch sets']:
  """Sets two of whose units share a trigram."""
  rows = jnp.take_along_axis(overlap, units[:, :, None], axis=1)
  pairs = jnp.take_along_axis(rows, units[:, None], axis=2)
  pairs &= ~jnp.eye(units.shape[1], dtype=bool)[None]
  both = taken[..., :, None] & taken[..., None, :]
  return (both & pairs[:, None]).any(axis=(-1, -2))
