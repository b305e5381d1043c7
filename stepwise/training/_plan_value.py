"""Learning what whole plans are worth.

A trained model reads documents once; of each only a few units are kept, with
ROUGE of every set of them (`ValuedPools`). From these the value is learnt in
minutes, while the model stays as it is.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._files import replacing
from stepwise._rouge import DEFAULT_METRIC, find_metric, measure_overlap
from stepwise._typing import Array, Float
from stepwise.documents import Document
from stepwise.inference import Predictor, Reading
from stepwise.models import (
  PlanValue,
  PlanValueConfig,
  Pool,
  unit_sets,
  value_error,
)


class ValuedPools(NamedTuple):
  """Pools of documents, and ROUGE of their sets.

  Attributes:
    pool: as `Predictor.pools` gives them, one row a document.
    rouge: mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L; of sets that a document has
      not, nan.
  """

  pool: Pool
  rouge: Float[Any, 'documents sets']


@dataclass(frozen=True)
class ValueTraining:
  """How a value is learnt.

  Attributes:
    epochs: over all pools.
    batch_size: pools of an update.
    learning_rate: at its highest; it falls as a cosine.
    weight_decay: of AdamW.
    dropout: of what is read.
    seed: of initial weights, order and dropout.
  """

  epochs: int = 8
  batch_size: int = 64
  learning_rate: float = 1e-3
  weight_decay: float = 0.01
  dropout: float = 0.2
  seed: int = 0


def value_documents(
  predictor: Predictor, readings: Sequence[Reading]
) -> ValuedPools:
  """Reads documents that have summaries."""
  config = predictor.model.values_plans
  if config is None:
    raise InputError('the model does not value plans: it has no plan_value.')
  pools = predictor.pools(readings)
  scores = [
    set_scores(reading.document, pool, config, reading.record.special)
    for reading, pool in zip(readings, pools, strict=True)
  ]
  # Half of the precision is enough to learn from, and half of the room.
  stacked = jax.tree.map(lambda *rows: _small(np.stack(rows)), *pools)
  return ValuedPools(stacked, np.stack(scores))


def _small(rows: np.ndarray) -> np.ndarray:
  return rows.astype(np.float16) if rows.dtype == np.float32 else rows


def set_scores(
  document: Document, pool: Pool, config: PlanValueConfig, special: int
) -> Float[np.ndarray, ' sets']:
  """ROUGE of every set of a document's pool; nan of those that it has not."""
  overlap = measure_overlap(
    document.units, document.summary, find_metric(DEFAULT_METRIC).tokenize
  )
  real = np.asarray(pool.real)
  units = np.where(real, np.asarray(pool.units) - special, 0)
  has_words = real & (overlap.sizes[units] > 0)
  sets = unit_sets(config)
  scores = np.full(len(sets), np.nan, np.float32)
  for size in config.sizes:
    rows = np.flatnonzero(
      (sets.sum(1) == size) & (has_words[None] | ~sets).all(1)
    )
    if len(rows):
      chosen = np.stack([units[sets[row]] for row in rows])
      scores[rows] = overlap.score_sets(chosen)[:, :, 2].mean(1)
  return scores


def save_pools(path: Path, pools: ValuedPools) -> None:
  """Writes a file that `load_pools` reads."""
  with replacing(path) as target, target.open('wb') as stream:
    np.savez(stream, rouge=pools.rouge, **pools.pool._asdict())


def load_pools(paths: Iterable[Path]) -> ValuedPools:
  """All of some files together."""
  parts = [dict(np.load(path)) for path in paths]
  if not parts:
    raise InputError('there are no pools to learn from.')
  joined: Any = {
    name: np.concatenate([part[name] for part in parts]) for name in parts[0]
  }
  rouge = joined.pop('rouge')
  return ValuedPools(Pool(**joined), rouge)


def fit_plan_value(
  config: PlanValueConfig,
  pools: ValuedPools,
  training: ValueTraining = ValueTraining(),
) -> Any:
  """Parameters of the value that were learnt from pools."""
  model = PlanValue(config)
  count = len(pools.rouge)
  size = min(training.batch_size, count)
  updates = max(training.epochs * count // size, 1)
  optimizer = optax.adamw(
    optax.warmup_cosine_decay_schedule(
      *(0.0, training.learning_rate, min(100, updates // 2), updates)
    ),
    weight_decay=training.weight_decay,
  )
  first = _rows(pools, np.arange(1))
  init_key, drop_key = jax.random.split(jax.random.key(training.seed))
  params = nn.unbox(model.init(init_key, first.pool))['params']
  state = optimizer.init(params)

  @jax.jit
  def update(params: Any, state: Any, pools: ValuedPools, key: Array) -> Any:
    loss = functools.partial(value_loss, model, dropout=training.dropout)
    gradient = jax.grad(loss)(params, pools, key)
    changes, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, changes), state

  rng = np.random.default_rng(training.seed)
  for step, rows in enumerate(_draws(rng, count, size, updates)):
    key = jax.random.fold_in(drop_key, step)
    params, state = update(params, state, _rows(pools, rows), key)
  return jax.device_get(params)


def value_loss(
  model: PlanValue,
  params: Any,
  pools: ValuedPools,
  rng: Array | None = None,
  *,
  dropout: float = 0.0,
) -> Float[Array, '']:
  """The mean over all sets of `value_error`."""
  rngs = None if rng is None else {'dropout': rng}
  values: Any = model.apply(
    {'params': params}, pools.pool, rng is None, dropout, rngs=rngs
  )
  known = ~jnp.isnan(pools.rouge)
  return value_error(values, pools.rouge, known) / jnp.maximum(known.sum(), 1)


def _rows(pools: ValuedPools, rows: np.ndarray) -> ValuedPools:
  def taken(array: Any) -> Array:
    wide = jnp.float32 if array.dtype == np.float16 else None
    return jnp.asarray(array[rows], wide)

  return jax.tree.map(taken, pools)


def _draws(
  rng: np.random.Generator, count: int, size: int, updates: int
) -> Iterator[np.ndarray]:
  """Rows of every update; each once an epoch, but for a last part."""
  order: list[int] = []
  for _ in range(updates):
    if len(order) < size:
      order = rng.permutation(count).tolist()
    yield np.array(order[:size])
    order = order[size:]
