"""Random search problems, as batched arrays and as twins."""

import jax
import jax.numpy as jnp
import numpy as np

from stepwise.decoding import Constraints, DecodeConfig, WordBudget
from tests.decoding.plan_twin import Problem

CONSTRAINTS = Constraints._fields


def score(memory, plan):
  """Logits that depend on every unit of the plan and on its place."""

  def one(first, pairs, plan):
    told = pairs[jnp.arange(plan.shape[0]), plan]
    return first + jnp.sum(jnp.where((plan >= 0)[:, None], told, 0), axis=0)

  return jax.vmap(one)(memory['first'], memory['pairs'], plan)


def make_memory(rng, batch, units, steps):
  return {
    'first': rng.normal(size=(batch, units)).astype(np.float32),
    'pairs': rng.normal(size=(batch, steps, units, units)).astype(np.float32),
  }


def make_valid(rng, batch, units, config):
  """Two real units at least, and all special ones."""
  count = rng.integers(2, units + 1, size=batch)
  valid = np.arange(units)[None] < np.maximum(count, 4)[:, None]
  assert all(u < 2 for u in (config.stop_unit or 0, *config.never))
  return valid


def neutral(batch, units, config):
  """Constraints that permit what the configuration does."""
  nothing = np.zeros((batch, units), bool)
  return Constraints(
    repeatable=~nothing,
    overlap=np.zeros((batch, units, units), bool),
    budget=WordBudget(
      np.ones((batch, units), np.int32), np.full(batch, 99, np.int32)
    ),
    must_include=nothing,
    must_exclude=nothing,
    min_units=np.full(batch, config.min_units, np.int32),
    max_units=np.full(batch, config.max_units, np.int32),
  )


def make_constraints(rng, valid, config, active):
  """Random feasible constraints; those not in `active` permit everything."""
  batch, units = valid.shape
  special = np.zeros(units, bool)
  special[[u for u in (config.stop_unit, *config.never) if u is not None]] = 1
  overlap = rng.random((batch, units, units)) < 0.15
  overlap |= overlap.transpose(0, 2, 1)
  required = (rng.random((batch, units)) < 0.3) & valid & ~special
  required &= np.cumsum(required, axis=1) <= config.max_units
  words = rng.integers(1, 6, size=(batch, units)).astype(np.int32)
  if 'must_include' not in active:
    required[:] = False
  needed = np.where(required, words, 0).sum(axis=1)
  limit = needed + rng.integers(0, 9, size=batch)
  drawn = Constraints(
    repeatable=rng.random((batch, units)) < 0.3,
    overlap=overlap,
    budget=WordBudget(words, limit.astype(np.int32)),
    must_include=required,
    must_exclude=(rng.random((batch, units)) < 0.3) & ~required,
    min_units=rng.integers(0, config.max_units, size=batch, dtype=np.int32),
    max_units=np.maximum(
      rng.integers(0, config.max_units + 2, size=batch, dtype=np.int32),
      required.sum(axis=1, dtype=np.int32),
    ),
  )
  off = {
    name: value
    for name, value in neutral(batch, units, config)._asdict().items()
    if name not in active
  }
  return drawn._replace(**off)


def on_device(tree):
  return jax.tree.map(jnp.asarray, tree)


def twin(memory, valid, config: DecodeConfig, constraints, row, start=()):
  """The twin of one row of a batch."""
  first = memory['first'][row].astype(np.float64)
  pairs = memory['pairs'][row].astype(np.float64)

  def logits(plan):
    return first + sum(pairs[i, unit] for i, unit in enumerate(plan))

  candidates = _where(valid[row]) - set(config.never)
  overlap = constraints.overlap[row]
  return Problem(
    logits=logits,
    units=candidates - {config.stop_unit},
    candidates=candidates,
    max_units=min(config.max_units, int(constraints.max_units[row])),
    min_units=int(constraints.min_units[row]),
    stop=config.stop_unit,
    alpha=config.length_alpha,
    start=start,
    once=_where(~constraints.repeatable[row]),
    overlapping=frozenset(map(tuple, np.argwhere(overlap).tolist())),
    words=tuple(constraints.budget.words[row].tolist()),
    limit=int(constraints.budget.limit[row]),
    required=_where(constraints.must_include[row]),
    excluded=_where(constraints.must_exclude[row]),
  )


def found(result, row):
  """(plan, stopped) -> score of the beams that hold a plan, best first."""
  results = {}
  for beam, value in enumerate(np.asarray(result.scores[row]).tolist()):
    if np.isfinite(value):
      length = int(result.lengths[row, beam])
      plan = tuple(np.asarray(result.plans[row, beam, :length]).tolist())
      results[plan, bool(result.stopped[row, beam])] = value
  return results


def _where(mask):
  return frozenset(np.flatnonzero(mask).tolist())
