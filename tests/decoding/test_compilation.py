"""In steady state a search over a stream compiles once per bucket."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from stepwise.data import Buckets, batches, restore_order
from stepwise.decoding import DecodeConfig, beam_search

CONFIG = DecodeConfig(max_units=3, beam_size=2)
BUCKETS = Buckets(lengths=(7, 13), units=(3, 5))


def counting_traces(function):
  """The jitted function, and a list that grows whenever it is compiled."""
  traces = []

  @functools.wraps(function)
  def traced(*args):
    traces.append(jax.tree.map(jnp.shape, args))
    return function(*args)

  return jax.jit(traced), traces


def decode(batch):
  """Units of the most tokens are the best: no model, but every array used."""

  def score(memory, plan):
    chosen = plan[:, :, None] == jnp.arange(memory.shape[1])[None, None]
    return memory - 100.0 * jnp.any(chosen, axis=1)

  valid = batch['valid']
  units = jnp.arange(valid.shape[1])
  members = batch['unit_ids'][:, :, None] == units[None, None]
  sizes = jnp.sum(members, axis=1).astype(jnp.float32)
  return beam_search(score, sizes, valid, CONFIG).plans[:, 0]


def longest_units(record):
  sizes = np.bincount(record['unit_ids'])
  ranking = np.argsort(-sizes, kind='stable')[:3].tolist()
  # Repeats are allowed: a small document chooses its longest unit again.
  return (ranking + [ranking[0]] * 3)[:3]


def test_one_compilation_per_bucket():
  rng = np.random.default_rng(0)
  records = []
  for _ in range(60):
    unit_ids = np.repeat(np.arange(4), rng.permutation([1, 2, 3, 4]))
    unit_ids = unit_ids[unit_ids < rng.integers(1, 5)]
    records.append({'tokens': unit_ids + 1, 'unit_ids': unit_ids})
  run, traces = counting_traces(decode)
  outputs, shapes = [], set()
  for batch in batches(records, BUCKETS, steps=3, batch_size=4):
    shapes.add((batch.arrays['tokens'].shape, batch.arrays['valid'].shape))
    outputs.append((batch.index, np.asarray(run(batch.arrays)).tolist()))
  assert len(outputs) > 12
  assert len(traces) == len(shapes) <= 4
  assert restore_order(outputs) == [longest_units(r) for r in records]
