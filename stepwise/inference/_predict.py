"""What a trained model chooses, for documents of any size.

One search serves all: a model that is not stepwise scores units once, and
taking its best ones is the same search with scores that do not change and
without a stop. So every constraint holds for both.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.data import Buckets, Record, batches, restore_order
from stepwise.decoding import (
  Constraints,
  DecodeConfig,
  WordBudget,
  beam_search,
  trigram_overlap,
)
from stepwise.documents import Document
from stepwise.inference._config import PredictConfig
from stepwise.models import Batch, ModelConfig


class Budget(NamedTuple):
  """The units chosen cost at most `limit` together.

  Attributes:
    costs: of every unit of the document, such as its words.
    limit: of all of them.
  """

  costs: tuple[int, ...]
  limit: int


class Demands(NamedTuple):
  """What is asked of the choice for one document.

  Attributes:
    budget: None = as the configuration says.
    must_include: units of the document that are chosen in any case.
  """

  budget: Budget | None = None
  must_include: tuple[int, ...] = ()


class Reading(NamedTuple):
  """A document, what the model reads of it, and what is asked."""

  document: Document
  record: Record
  demands: Demands = Demands()


@dataclass(frozen=True, eq=False)
class Prediction:
  """What a model chose of one document, and what it thought of the others.

  Probabilities of a stepwise model are those of the next choice, and those of
  a step sum to one. Those of other models are of each unit by itself, and are
  the same at every step.

  Attributes:
    units: indices among the units of the document, in the order of choice.
    log_probs: of every choice; one more, of the stop, if the model stopped.
    rankings: log-probabilities of all units read, at every choice.
    stops: those of the stop; -inf where there is none.
    broken: a score was not a number: nothing here means anything.
  """

  units: tuple[int, ...]
  log_probs: Float[np.ndarray, ' steps']
  rankings: Float[np.ndarray, 'steps units']
  stops: Float[np.ndarray, ' steps']
  broken: bool = False


@dataclass(frozen=True)
class Predictor:
  """A model with its parameters.

  Attributes:
    model: its configuration, or a baseline.
    params: its parameters.
    config: how it chooses.
    buckets: sizes of batches; jit compiles once for each.
  """

  model: ModelConfig
  params: Any
  config: PredictConfig
  buckets: Buckets

  def __post_init__(self) -> None:
    if not self.model.stepwise:
      return
    begin, never = self.model.begin_unit, self.config.decode.never
    if begin not in never:
      raise InputError(
        f'decode.never is {never}, must have unit {begin}, the BEG of the'
        ' model.'
      )

  def __call__(self, readings: Sequence[Reading]) -> list[list[int]]:
    """Units of every document, in the order of its summary.

    That is the order of choice if the model is stepwise, else that of the
    document.
    """
    chosen = [prediction.units for prediction in self.predict(readings)]
    return [
      list(units) if self.model.stepwise else sorted(units) for units in chosen
    ]

  def predict(self, readings: Sequence[Reading]) -> list[Prediction]:
    """What is chosen of every document, with the probabilities."""
    grouped = batches(
      (reading.record for reading in readings),
      self.buckets,
      steps=1,
      batch_size=self.config.batch_size,
    )
    found = restore_order(
      (batch.index, self._rows(readings, batch.index, batch.arrays))
      for batch in grouped
    )
    return [
      _prediction(reading.record, *row, stop=self._decode.stop_unit)
      for reading, row in zip(readings, found, strict=True)
    ]

  @property
  def _decode(self) -> DecodeConfig:
    if self.model.stepwise:
      return self.config.decode
    return DecodeConfig(max_units=self.config.top_k)

  def _rows(
    self,
    readings: Sequence[Reading],
    index: np.ndarray,
    arrays: dict[str, np.ndarray],
  ) -> Iterator[tuple[Any, ...]]:
    rows = [readings[position] if position >= 0 else None for position in index]
    blocking = self.config.trigram_blocking
    # As they are: `Batch.of` would compile a program for every shape.
    read: Any = {k: arrays[k] for k in ('tokens', 'unit_ids', 'valid')}
    chosen = _choose(
      self.model.build(),
      {'params': self.params},
      Batch(**read),
      _constraints(rows, arrays['valid'], blocking=blocking),
      self.model.stepwise,
      self._decode,
    )
    return zip(*jax.device_get(chosen), strict=True)


def _prediction(
  record: Record,
  plan: np.ndarray,
  log_probs: np.ndarray,
  ranking: np.ndarray,
  stopped: np.bool_,
  broken: np.bool_,
  stop: int | None,
) -> Prediction:
  """Units without the special ones, and only the steps that were taken."""
  units = plan[plan >= 0]
  steps = len(units) + int(stopped)
  ranking = ranking[:steps]
  none = np.full(len(ranking), -np.inf, ranking.dtype)
  return Prediction(
    tuple(int(unit) - record.special for unit in units),
    log_probs[:steps],
    ranking[:, record.special : record.num_units],
    none if stop is None else ranking[:, stop],
    bool(broken),
  )


def _constraints(
  rows: Sequence[Reading | None],
  valid: Bool[np.ndarray, 'batch units'],
  *,
  blocking: bool,
) -> Constraints:
  """Arrays only of what any document asks for: jit compiles for each set."""
  demands = [row.demands for row in rows if row]
  masks: dict[str, Any] = {'repeatable': np.zeros_like(valid)}
  if blocking:
    masks['overlap'] = _overlaps(rows, valid.shape)
  if any(demand.budget for demand in demands):
    masks['budget'] = _budgets(rows, valid.shape)
  if any(demand.must_include for demand in demands):
    masks['must_include'] = _required(rows, valid.shape)
  return Constraints(**masks)


def _required(
  rows: Sequence[Reading | None], shape: tuple[int, ...]
) -> Bool[np.ndarray, 'batch units']:
  required = np.zeros(shape, bool)
  for index, row in enumerate(rows):
    if row:
      for unit in row.demands.must_include:
        required[index, row.record.special + unit] = True
  return required


def _budgets(
  rows: Sequence[Reading | None], shape: tuple[int, ...]
) -> WordBudget:
  costs: Any = np.zeros(shape, np.int32)
  limits: Any = np.zeros(shape[0], np.int32)
  for index, row in enumerate(rows):
    if row and (budget := row.demands.budget):
      record = row.record
      read = budget.costs[: record.num_units - record.special]
      costs[index, record.special : record.num_units] = read
      limits[index] = budget.limit
  return WordBudget(costs, limits)


def _overlaps(
  rows: Sequence[Reading | None], shape: tuple[int, ...]
) -> Bool[np.ndarray, 'batch units units']:
  overlaps = np.zeros((*shape, shape[1]), bool)
  for index, row in enumerate(rows):
    if row:
      size = row.record.num_units
      special = [''] * row.record.special
      read = row.document.units[: size - len(special)]
      overlaps[index, :size, :size] = trigram_overlap([*special, *read])
  return overlaps


class _Chosen(NamedTuple):
  """The best plan of every document, as `BeamResult` has all of them."""

  plans: Int[Array, 'batch steps']
  log_probs: Float[Array, 'batch steps']
  ranking: Float[Array, 'batch steps units']
  stopped: Bool[Array, ' batch']
  broken: Bool[Array, ' batch']


@functools.partial(jax.jit, static_argnums=(0, 4, 5))
def _choose(
  module: nn.Module,
  variables: Any,
  batch: Batch,
  constraints: Constraints,
  stepwise: bool,
  config: DecodeConfig,
) -> _Chosen:
  memory: Any = module.apply(variables, batch, method='encode')
  if not stepwise:
    logits: Any = module.apply(variables, memory, method='score')
    return _take_best(logits, batch.valid, constraints, config)

  def score(memory: Any, plan: Int[Array, 'batch steps']) -> Any:
    return module.apply(variables, memory, plan, method='score')

  return _search(score, memory, batch.valid, constraints, config)


def _search(
  score: Callable[..., Any],
  memory: Any,
  valid: Bool[Array, 'batch units'],
  constraints: Constraints,
  config: DecodeConfig,
) -> _Chosen:
  found = beam_search(score, memory, valid, config, constraints=constraints)
  return _Chosen(
    found.plans[:, 0],
    found.log_probs[:, 0],
    found.ranking[:, 0],
    found.stopped[:, 0],
    found.broken,
  )


def _take_best(
  logits: Float[Array, 'batch units'],
  valid: Bool[Array, 'batch units'],
  constraints: Constraints,
  config: DecodeConfig,
) -> _Chosen:
  """The search over scores that no choice changes: the best units."""
  found = _search(lambda all, _: all, logits, valid, constraints, config)
  # What such a model was trained to tell of every unit by itself.
  single = jnp.where(valid, jax.nn.log_sigmoid(logits), -jnp.inf)
  taken = jnp.maximum(found.plans, 0)
  return found._replace(
    log_probs=jnp.take_along_axis(single, taken, axis=1),
    ranking=jnp.broadcast_to(single[:, None], found.ranking.shape),
  )
