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
from stepwise._typing import Array, Float, Int
from stepwise.documents import Document
from stepwise.inference import Predictor, Reading
from stepwise.models import (
  PlanValue,
  PlanValueConfig,
  Pool,
  PoolText,
  judgement_error,
  unit_sets,
)

# Pieces of a summary that are kept.
_REFERENCE = 192


class ValuedPools(NamedTuple):
  """Pools of documents, and ROUGE of their sets.

  Attributes:
    pool: as `Predictor.pools` gives them, one row a document.
    rouge: mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L; of sets that a document has
      not, nan.
    reference: pieces of the summaries, as records have them; -1 = padding.
  """

  pool: Pool
  rouge: Float[Any, 'documents sets']
  reference: Int[Any, 'documents pieces']


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
  """Reads documents that have summaries, and records with references."""
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
  references = [_reference(reading) for reading in readings]
  return ValuedPools(stacked, np.stack(scores), np.stack(references))


def _reference(reading: Reading) -> Int[np.ndarray, ' pieces']:
  pieces = reading.record.reference
  if pieces is None:
    raise InputError(
      f'the record of document {reading.document.id!r} has no reference: make'
      ' it with reference=True.'
    )
  kept = np.full(_REFERENCE, -1, np.int32)
  kept[: len(pieces)] = pieces[:_REFERENCE]
  return kept


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
  arrays = {**pools._asdict(), **pools.pool._asdict()}
  del arrays['pool']
  if text := arrays.pop('text'):
    arrays |= {f'text_{name}': part for name, part in text._asdict().items()}
  with replacing(path) as target, target.open('wb') as stream:
    np.savez(stream, **arrays)


def load_pools(paths: Iterable[Path]) -> ValuedPools:
  """All of some files together."""
  parts = [dict(np.load(path)) for path in paths]
  if not parts:
    raise InputError('there are no pools to learn from.')
  # One array after another: the parts of it are gone before the next is made.
  joined: Any = {
    name: np.concatenate([part.pop(name) for part in parts])
    for name in list(parts[0])
  }
  others = {name: joined.pop(name) for name in ('rouge', 'reference')}
  text: Any = {
    name: joined.pop(f'text_{name}', None) for name in PoolText._fields
  }
  read = None if text['ids'] is None else PoolText(**text)
  return ValuedPools(Pool(**joined, text=read), **others)


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
  """The mean over documents of `judgement_error`."""
  rngs = None if rng is None else {'dropout': rng}
  judged: Any = model.apply(
    {'params': params}, pools.pool, rng is None, dropout, rngs=rngs
  )
  known = ~jnp.isnan(pools.rouge)
  error = judgement_error(
    judged, pools.pool, pools.rouge, known, pools.reference
  )
  return error / jnp.maximum(known.any(axis=1).sum(), 1)


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
