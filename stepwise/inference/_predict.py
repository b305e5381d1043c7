"""The one driver of decoding: records in, plans with all probabilities out.

Summaries, plans of tables, validation and bulk inference come through here.
Records are grouped by size, weights stay on the device, and what is asked of a
document (units, words, what to take and to leave) is data: asking for something
else does not compile anything anew.
"""

import dataclasses
import functools
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np
from flax import linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from stepwise import _runtime
from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.data import (
  Buckets,
  PaddedRecords,
  Record,
  batches,
  restore_order,
)
from stepwise.decoding import (
  Constraints,
  DecodeConfig,
  WordBudget,
  trigram_overlap,
)
from stepwise.inference._config import PredictConfig
from stepwise.inference._programs import KeptProgram
from stepwise.inference._search import (
  UNLIMITED,
  best_sets,
  draw_plans,
  rank_units,
  read_documents,
  search,
)
from stepwise.layers import (
  choose_products,
  make_mesh,
  on_mesh,
  with_products,
)
from stepwise.models import Batch, ModelConfig, PlanValueConfig, Pool

_T = TypeVar('_T')
# Rounding up shorter units than this saves nothing.
_LEAST_UNIT = 16
# Every stage of a search is compiled by itself.
_STAGES = 2
# Given plans have slots in multiples of this.
_STEPS_GRAIN = 32


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

  Units are counted from the first one of the document; special units count
  back from it, so that a sentence break of `eos, eot, beg` is -3.

  Attributes:
    budget: None = units cost nothing.
    must_include: units that are chosen in any case.
    must_exclude: units that are not chosen.
    candidates: which units of the document may be chosen, such as its sentences
      but not its headings; None = all of them.
    repeatable: units that may be chosen again.
    min_units, max_units: of a plan; None = as the configuration says.
  """

  budget: Budget | None = None
  must_include: tuple[int, ...] = ()
  must_exclude: tuple[int, ...] = ()
  candidates: Sequence[bool] | None = None
  repeatable: tuple[int, ...] = ()
  min_units: int | None = None
  max_units: int | None = None


class Reading(NamedTuple):
  """A document or table, what the model reads of it, and what is asked.

  Trigrams are blocked by the words of `document.units`; nothing else is asked
  of it.
  """

  document: Any
  record: Record
  demands: Demands = Demands()


@dataclasses.dataclass(frozen=True, eq=False)
class Selection:
  """What a model chose of one document, and what it thought of the others.

  Probabilities of a stepwise model are those of the next choice, and those of
  a step sum to one. Those of other models are of each unit by itself, and are
  the same at every step.

  Attributes:
    units: indices among the units of the document, in the order of choice;
      special ones are negative.
    log_probs: of every choice; one more, of the stop, if the model stopped.
    rankings: log-probabilities of all units read, at every choice.
    specials: those of the special units.
    stops: those of the stop; -inf where there is none.
    score: of the whole plan, by which plans are compared.
    drawn: units of plans drawn from the model, as many as were asked for.
    broken: a score was not a number: nothing here means anything.
  """

  units: tuple[int, ...]
  log_probs: Float[np.ndarray, ' steps']
  rankings: Float[np.ndarray, 'steps units']
  specials: Float[np.ndarray, 'steps special']
  stops: Float[np.ndarray, ' steps']
  score: float = 0.0
  drawn: tuple[tuple[int, ...], ...] = ()
  broken: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Predictor:
  """A model with its parameters, which it puts on the device.

  Attributes:
    model: its configuration, or that of a baseline.
    params: its parameters; their shapes are enough to `trace`.
    config: how it chooses.
    buckets: sizes of batches; jit compiles once for each.
    products: precision of products, as `choose_products` takes it; the model
      becomes one of that precision.
    mesh: devices that share the documents of a batch and, on its axis
      `sequence`, the tokens of each (see `make_mesh`); None = one device.
  """

  model: ModelConfig
  params: Any
  config: PredictConfig
  buckets: Buckets
  products: str = 'auto'
  mesh: Mesh | None = None

  def __post_init__(self) -> None:
    _runtime.prepare()
    chosen = choose_products(self.products)
    logging.getLogger(__name__).info('products: %s', chosen)
    model, place = with_products(self.model, chosen), None
    put = _spread_shapes if _are_shapes(self.params) else jax.device_put
    if self.mesh is not None:
      place = NamedSharding(self.mesh, PartitionSpec())
      if 'sequence' in self.mesh.shape:
        model = model.spread_length()
    object.__setattr__(self, 'model', model)
    object.__setattr__(self, 'params', put(self.params, place))
    begin, never = self.model.begin_unit, self.config.decode.never
    if self.model.stepwise and begin not in never:
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

  def predict(
    self, readings: Sequence[Reading], *, draws: int = 0, seed: int = 0
  ) -> list[Selection]:
    """What is chosen of every document, with the probabilities.

    Args:
      readings: the documents.
      draws: plans to draw from a stepwise model, besides the best one.
      seed: of the draws.
    """
    if draws and not self.model.stepwise:
      raise InputError(f'draws is {draws}, but the model is not stepwise.')
    started = (
      (batch.index, self._start(readings, batch, draws=draws, seed=seed))
      for batch in self._grouped(readings)
    )
    found = restore_order(
      (index, map(_Chosen, *jax.device_get(chosen)))
      for index, chosen in _one_ahead(started)
    )
    stop = self.config.decode.stop_unit if self.model.stepwise else None
    return [
      _selection(reading.record, row, stop)
      for reading, row in zip(readings, found, strict=True)
    ]

  def rank(
    self, readings: Sequence[Reading], plans: Sequence[Sequence[int]]
  ) -> list[Float[np.ndarray, 'choices units']]:
    """Log-probabilities of all units at every step of given plans.

    The last row is of what would follow the plan. Units are those of records,
    special ones included, both in the plans and in the result.
    """
    longest = max((len(plan) for plan in plans), default=0)
    grouped = batches(
      [
        _with_plan(r.record, plan)
        for r, plan in zip(readings, plans, strict=True)
      ],
      self.buckets,
      steps=self._slots(longest),
      batch_size=self.batch_size,
    )
    found = restore_order(
      (batch.index, jax.device_get(self._ranked(batch))) for batch in grouped
    )
    return [
      rows[: len(plan) + 1, : reading.record.num_units]
      for rows, plan, reading in zip(found, plans, readings, strict=True)
    ]

  def pools(self, readings: Sequence[Reading]) -> list[Pool]:
    """What the value of whole plans is learnt from, of every document.

    Attributes of each are arrays without the axis of the batch.
    """
    found = restore_order(
      (
        batch.index,
        _rows(jax.device_get(self._pooled(batch)), len(batch.index)),
      )
      for batch in self._grouped(readings)
    )
    return list(found)

  def trace(self, size: tuple[int, int]) -> jax.stages.Traced:
    """The program that chooses, for devices that need not exist.

    Args:
      size: tokens and units of the documents; nothing is known of the length
        of their units.
    """
    rows = self.batch_size
    tokens: Any = np.zeros((rows, size[0]), np.int32)
    valid: Any = np.zeros((rows, size[1]), bool)
    traced = functools.partial(
      _CHOOSE.jitted.trace,
      _Settings(
        self.model,
        None,
        self._search_config([]),
        valued=self._valued,
      ),
      {'params': self.params},
      Batch(tokens, tokens - 1, valid),
      self._constraints([None] * rows, valid),
      np.float32(self.config.decode.length_alpha),
      None,
    )
    return traced() if self.mesh is None else on_mesh(self.mesh, traced)()

  def trace_ranking(
    self, size: tuple[int, int], steps: int
  ) -> jax.stages.Traced:
    """The program of `rank` for plans of so many steps, likewise."""
    rows = self.batch_size
    tokens: Any = np.zeros((rows, size[0]), np.int32)
    valid: Any = np.zeros((rows, size[1]), bool)
    plan: Any = np.full((rows, self._slots(steps)), -1, np.int32)
    traced = functools.partial(
      _RANK.jitted.trace,
      _Settings(self.model, None, self._ranking(plan)),
      {'params': self.params},
      Batch(tokens, tokens - 1, valid, plan),
    )
    return traced() if self.mesh is None else on_mesh(self.mesh, traced)()

  @property
  def batch_size(self) -> int:
    """Rows of a batch, which spread evenly over the devices that share them."""
    if self.mesh is None:
      return self.config.batch_size
    axes = dict(self.mesh.shape)
    parts = axes.get('data', 1) * axes.get('fsdp', 1)
    return -(-self.config.batch_size // parts) * parts

  def _grouped(self, readings: Sequence[Reading]) -> Iterator[PaddedRecords]:
    records = (reading.record for reading in readings)
    return batches(records, self.buckets, steps=1, batch_size=self.batch_size)

  @property
  def _valued(self) -> PlanValueConfig | None:
    """The sets that plans are chosen from; None = the search chooses."""
    return self.model.values_plans if self.config.whole_plans else None

  def _run(self, program: KeptProgram, *args: Any) -> Any:
    """Calls a compiled program, on the mesh if there is one."""
    if self.mesh is not None:
      return on_mesh(self.mesh, program.jitted)(*args)
    return program(*args)

  def _ranked(self, batch: PaddedRecords) -> Any:
    names = 'tokens', 'unit_ids', 'valid', 'plan'
    read: Any = {name: batch.arrays[name] for name in names}
    longest, config = (
      longest_unit(read['unit_ids']),
      self._ranking(read['plan']),
    )
    return self._run(
      _RANK,
      _Settings(self.model, longest, config),
      {'params': self.params},
      Batch(**read),
    )

  def _pooled(self, batch: PaddedRecords) -> Any:
    read: Any = {k: batch.arrays[k] for k in ('tokens', 'unit_ids', 'valid')}
    longest = longest_unit(read['unit_ids'])
    return self._run(
      _POOL,
      _Settings(self.model, longest, self.config.decode),
      {'params': self.params},
      Batch(**read),
    )

  def _slots(self, steps: int) -> int:
    """Of plans to rank by, rounded up to keep programs few."""
    slots = -(-max(steps, 1) // _STEPS_GRAIN) * _STEPS_GRAIN
    return min(slots, self.model.limits.plan or slots)

  def _ranking(self, plan: Int[np.ndarray, 'batch steps']) -> DecodeConfig:
    return dataclasses.replace(
      self.config.decode, max_units=plan.shape[1], min_units=0, stages=1
    )

  def _start(
    self,
    readings: Sequence[Reading],
    batch: PaddedRecords,
    *,
    draws: int,
    seed: int,
  ) -> '_Chosen':
    """Begins to choose; the result is there when it is asked for."""
    index, arrays = batch.index, batch.arrays
    rows = [readings[position] if position >= 0 else None for position in index]
    # As they are: `Batch.of` would compile a program for every shape.
    read: Any = {k: arrays[k] for k in ('tokens', 'unit_ids', 'valid')}
    longest = longest_unit(read['unit_ids'])
    config = self._in_stages(self._search_config(rows))
    return self._run(
      _CHOOSE,
      _Settings(self.model, longest, config, draws, self._valued),
      {'params': self.params},
      Batch(**read),
      self._constraints(rows, arrays['valid']),
      np.float32(self.config.decode.length_alpha),
      jax.random.key(seed) if draws else None,
    )

  def _limits(self, demands: Demands) -> tuple[int, int]:
    """Least and most units of a plan."""
    decode = self.config.decode
    least, most = decode.min_units, decode.max_units
    if not self.model.stepwise:
      least, most = 0, self.config.top_k
    if demands.min_units is not None:
      least = demands.min_units
    if demands.max_units is not None:
      most = demands.max_units
    return least, max(most, len(demands.must_include))

  def _search_config(self, rows: Sequence[Reading | None]) -> DecodeConfig:
    """What the program depends on; limits of documents are data.

    If more units are asked for than usual, their number is rounded up, so that
    one program serves many.
    """
    decode = self.config.decode
    usual = decode.max_units if self.model.stepwise else self.config.top_k
    limits = [self._limits(row.demands)[1] for row in rows if row]
    asked = max(limits, default=usual)
    steps = usual if asked <= usual else 1 << (asked - 1).bit_length()
    if self.model.stepwise and self.model.limits.plan:
      steps = min(steps, self.model.limits.plan)
    return dataclasses.replace(
      decode, max_units=steps, min_units=0, length_alpha=0.0
    )

  def _in_stages(self, decode: DecodeConfig) -> DecodeConfig:
    """A model that reads everything anew reads short plans for less."""
    if not self.model.rereads:
      return decode
    stages = min(_STAGES, max(decode.max_units - 1, 1))
    return dataclasses.replace(decode, stages=max(decode.stages, stages))

  def _constraints(
    self,
    rows: Sequence[Reading | None],
    valid: Bool[np.ndarray, 'batch units'],
  ) -> Constraints:
    """Always the same arrays, so that a new wish compiles nothing."""
    shape: Any = valid.shape
    rows_only = shape[:1]
    blocking = self.config.trigram_blocking
    made: Any = {
      'repeatable': np.zeros(shape, bool),
      'overlap': _overlaps(rows, shape) if blocking else None,
      'must_include': np.zeros(shape, bool),
      'must_exclude': np.zeros(shape, bool),
      'min_units': np.zeros(rows_only, np.int32),
      'max_units': np.zeros(rows_only, np.int32),
    }
    costs: Any = np.zeros(shape, np.int32)
    limits: Any = np.full(rows_only, UNLIMITED, np.int32)
    constraints = Constraints(**made, budget=WordBudget(costs, limits))
    for index, row in enumerate(rows):
      if row:
        _demand(constraints, index, row)
        least, most = self._limits(row.demands)
        made['min_units'][index], made['max_units'][index] = least, most
    return constraints


def _rows(tree: _T, count: int) -> list[_T]:
  """The tree of every row of its arrays."""
  leaves, form = jax.tree.flatten(tree)
  return [
    jax.tree.unflatten(form, [leaf[row] for leaf in leaves])
    for row in range(count)
  ]


def local_mesh(rows: int) -> Mesh | None:
  """Devices of this process for batches of so many rows; None = one of them."""
  devices = jax.local_devices()
  if rows == 1 or len(devices) == 1:
    return None
  return make_mesh(min(rows, len(devices)), devices=devices)


def _are_shapes(tree: Any) -> bool:
  leaves = jax.tree.leaves(tree)
  return any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves)


def _spread_shapes(tree: Any, place: Any) -> Any:
  return jax.tree.map(
    lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place), tree
  )


def _demand(made: Any, index: int, row: Reading) -> None:
  """Writes what is asked of one document into the arrays of all."""
  record, demands = row.record, row.demands
  first, last = record.special, record.num_units

  def mark(mask: np.ndarray, units: Sequence[int]) -> None:
    mask[index, [first + unit for unit in units]] = True

  mark(made.repeatable, demands.repeatable)
  mark(made.must_include, demands.must_include)
  mark(made.must_exclude, demands.must_exclude)
  if demands.candidates is not None:
    closed = ~np.asarray(demands.candidates, bool)[: last - first]
    made.must_exclude[index, first:last] |= closed
  if demands.budget:
    costs = demands.budget.costs[: last - first]
    made.budget.words[index, first:last] = costs
    made.budget.limit[index] = demands.budget.limit


def longest_unit(unit_ids: Int[np.ndarray, 'batch length']) -> int:
  """Tokens of the longest unit of a batch, rounded up to keep programs few."""
  lengths = [np.bincount(row[row >= 0], minlength=1).max() for row in unit_ids]
  longest = max([_LEAST_UNIT, *map(int, lengths)])
  return 1 << (longest - 1).bit_length()


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
  """The best plan, as `BeamResult` has all of them, and plans drawn."""

  plan: Int[Array, '*batch steps']
  log_probs: Float[Array, '*batch steps']
  ranking: Float[Array, '*batch steps units']
  score: Float[Array, '*batch']
  stopped: Bool[Array, '*batch']
  broken: Bool[Array, '*batch']
  drawn: Int[Array, '*batch draws steps']


class _Settings(NamedTuple):
  """What a program is compiled for, besides shapes.

  Attributes:
    longest: tokens of the longest unit; None = nothing is known of it.
    draws: plans that are drawn besides the search.
    valued: sets that plans are chosen from, by what they are worth.
  """

  model: ModelConfig
  longest: int | None
  config: DecodeConfig
  draws: int = 0
  valued: PlanValueConfig | None = None

  @property
  def module(self) -> nn.Module:
    if self.longest is None:
      return self.model.build()
    return self.model.build_for(self.longest)


def _rank(
  settings: _Settings, variables: Any, batch: Batch
) -> Float[Array, 'batch choices units']:
  assert batch.plan is not None, 'Predictor.rank'
  model, config = settings.model, settings.config
  # After the last unit there is one more choice to read.
  room = dataclasses.replace(config, max_units=config.max_units + 1)
  reader = read_documents(model, variables, batch, room, settings.module)
  return rank_units(reader, batch.valid, config, batch.plan)


def _one_ahead(items: Iterable[_T]) -> Iterator[_T]:
  """The same items, each asked for before its predecessor is given away."""
  held: list[_T] = []
  for item in items:
    yield from held
    held = [item]
  yield from held


def _with_plan(record: Record, plan: Sequence[int]) -> dict[str, np.ndarray]:
  return {
    'tokens': record.tokens,
    'unit_ids': record.unit_ids,
    'plan': np.array(plan, np.int32),
  }


def _choose(
  settings: _Settings,
  variables: Any,
  batch: Batch,
  constraints: Constraints,
  length_alpha: Float[Array, ''],
  rng: Array | None,
) -> _Chosen:
  model, config, draws = settings.model, settings.config, settings.draws
  reader = read_documents(model, variables, batch, config, settings.module)
  narrowed = constraints
  if settings.valued:
    run = functools.partial(settings.module.apply, variables)
    narrowed = best_sets(
      run, settings.valued, reader.memory, batch, constraints
    )
  found = search(reader, batch.valid, config, narrowed, length_alpha)
  drawn = found.plans[:, :0]
  if rng is not None:
    drawn = draw_plans(reader, batch.valid, config, constraints, rng, draws)
  return _Chosen(
    found.plans[:, 0],
    found.log_probs[:, 0],
    found.ranking[:, 0],
    found.scores[:, 0],
    found.stopped[:, 0],
    found.broken,
    drawn,
  )


def _pool(settings: _Settings, variables: Any, batch: Batch) -> Pool:
  run = functools.partial(settings.module.apply, variables)
  memory = run(batch, method='encode')
  found: Any = run(memory, batch, batch.valid, method='pool_units')
  return found


_POOL = KeptProgram(_pool)
_RANK = KeptProgram(_rank)
_CHOOSE = KeptProgram(_choose)


def _selection(record: Record, row: _Chosen, stop: int | None) -> Selection:
  """Only the steps that were taken, and only the units that were read."""
  units = _units(record, row.plan)
  steps = len(units) + int(row.stopped)
  ranking = np.asarray(row.ranking)[:steps]
  none = np.full(len(ranking), -np.inf, ranking.dtype)
  return Selection(
    units,
    np.asarray(row.log_probs)[:steps],
    ranking[:, record.special : record.num_units],
    ranking[:, : record.special],
    none if stop is None else ranking[:, stop],
    float(row.score),
    tuple(_units(record, plan) for plan in np.asarray(row.drawn)),
    bool(row.broken),
  )


def _units(record: Record, plan: Any) -> tuple[int, ...]:
  return tuple(int(unit) - record.special for unit in plan if unit >= 0)
