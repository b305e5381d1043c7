"""Content plans of games by a trained stepwise model."""

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax import lax

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.checkpoints import Bundle, load_bundle
from stepwise.data import Record, pad_batch
from stepwise.decoding import Constraints, DecodeConfig
from stepwise.models import (
  Batch,
  decode,
  greedy_plans,
)
from stepwise.planning._consensus import inclusion, revise
from stepwise.rotowire import Game, read_table, with_names
from stepwise.tables import (
  SPECIAL_UNITS,
  Plan,
  Table,
  plan_from_units,
  plan_masks,
  table_record,
)

_STOP, _BEGIN = SPECIAL_UNITS.index('eot'), SPECIAL_UNITS.index('beg')
# Batches have sizes in multiples of these, so that few are compiled.
# Units of a plan where a model sets no limit of its own.
_MAX_STEPS = 256
_UNITS_GRAIN, _TOKENS_GRAIN, _STEPS_GRAIN = 64, 1024, 32


@dataclass(frozen=True)
class PlannerOptions:
  """How plans are searched.

  Attributes:
    table: what the model reads of a game, a name of `stepwise.rotowire.TABLES`.
    max_units: of the table; None = its own limit.
    max_steps: of a plan, breaks counted; None = as many as the model reads.
    min_steps: before them a plan does not end.
    beam_size: 1 is the paper's greedy search.
    no_empty_sentences: forbids a break after a break, and as the first unit.
    batch_size: games planned together.
    samples: plans drawn from the model that the best one is revised by, see
      `stepwise.planning.revise`; 0 = it is left as it is. Only for the pointer
      planner.
    threshold: share of samples that an entry of a revised plan is in.
    seed: of the samples.
  """

  table: str = 'paper'
  max_units: int | None = None
  max_steps: int | None = None
  min_steps: int = 1
  beam_size: int = 1
  no_empty_sentences: bool = False
  batch_size: int = 16
  samples: int = 0
  threshold: float = 0.3
  seed: int = 0


# Of pointer planners, such as the one that comes with the package. They are
# trained on plans of at most 72 steps; the threshold was chosen on validation
# games 0 to 213.
POINTER_OPTIONS = PlannerOptions(
  table='roles', max_steps=72, batch_size=64, samples=16, threshold=0.25
)


class PlanTrace(NamedTuple):
  """How a plan came about.

  Attributes:
    table: what the model read.
    units: that were chosen, special ones included; the stop is left out.
    probabilities: that the model gave every unit before each of them, and after
      the last; fewer steps if it cannot read that far.
  """

  table: Table
  units: list[int]
  probabilities: Float[np.ndarray, 'steps units']


@dataclass(frozen=True, eq=False)
class Planner:
  """A trained model, and how it plans.

  Entries are not repeated, except for sentence breaks and what the templates
  call repeatable: team names and cities.
  """

  bundle: Bundle
  options: PlannerOptions = PlannerOptions()

  def __post_init__(self) -> None:
    config = self.bundle.config
    if config.special_units != SPECIAL_UNITS:
      raise InputError(
        f'a planner begins its plans with unit {_BEGIN} of {SPECIAL_UNITS}; '
        f'this {type(config).__name__} is of another kind.'
      )
    if self.options.samples and not (
      config.incremental and self.options.beam_size == 1
    ):
      raise InputError(
        f'samples is {self.options.samples}; only the pointer planner with '
        'one beam draws samples.'
      )
    if self.bundle.tokenizer is None:
      raise InputError('the model has no tokeniser: it cannot read tables.')

  def __call__(self, games: Sequence[Game]) -> list[Plan]:
    """Plans of games, in their order."""
    size = self.options.batch_size
    return [
      plan
      for start in range(0, len(games), size)
      for plan in self._plan(games[start : start + size], min(size, len(games)))
    ]

  def trace(self, game: Game) -> PlanTrace:
    """The plan of a game before names are added, with all probabilities."""
    batch, [table], [chosen] = self._choose([game], rows=1)
    units = [int(unit) for unit in chosen if unit >= 0]
    steps = min(len(units), self._longest_plan)
    # Prefix j has the first j units.
    size = _round_up(steps + 1, _STEPS_GRAIN)
    plan = np.full(size, -1, np.int32)
    plan[:steps] = units[:steps]
    prefixes = np.where(np.tri(size, size, -1, dtype=bool), plan, -1)
    width = min(size, self._longest_plan)
    every = _probabilities(
      self.bundle.model, self.bundle.variables, batch, prefixes[:, :width]
    )
    kept = len(SPECIAL_UNITS) + len(table.entries)
    return PlanTrace(table, units, np.asarray(every)[: steps + 1, :kept])

  def _plan(self, games: Sequence[Game], rows: int) -> list[Plan]:
    _, tables, chosen = self._choose(games, rows)
    plans = map(plan_from_units, chosen, tables)
    if self.options.table != 'roles':
      return list(plans)
    # That table has no names.
    return [with_names(p, game) for p, game in zip(plans, games, strict=True)]

  def _choose(
    self, games: Sequence[Game], rows: int
  ) -> tuple[Batch, list[Table], list[Any]]:
    """What the model reads, as arrays and tables, and the units of plans."""
    tables = [
      read_table(game, self.options.table, self.options.max_units)
      for game in games
    ]
    records = [self._record(table) for table in tables]
    units = _round_up(max(r.num_units for r in records), _UNITS_GRAIN)
    length = _round_up(max(len(r.tokens) for r in records), _TOKENS_GRAIN)
    arrays = pad_batch(records, length=length, units=units, steps=1, batch=rows)
    batch = Batch.of({k: arrays[k] for k in ('tokens', 'unit_ids', 'valid')})
    search = functools.partial(
      _search,
      self.bundle.model,
      self.bundle.config.incremental and self.options.beam_size == 1,
      self.bundle.variables,
      batch,
      *self._masks(tables, batch.valid),
      self._search_config(),
    )
    chosen: list[Any] = list(np.asarray(search()))
    if self.options.samples:
      key = jax.random.key(self.options.seed)
      keys = jax.random.split(key, self.options.samples)
      drawn = [np.asarray(search(key)) for key in keys]
      chosen = [
        self._revise(chosen[row], [plans[row] for plans in drawn], table)
        for row, table in enumerate(tables)
      ]
    return batch, tables, chosen

  def _revise(
    self, plan: np.ndarray, drawn: Sequence[np.ndarray], table: Table
  ) -> list[int]:
    names = [entry.relation.entity for entry in table.entries]
    entities = [''] * len(SPECIAL_UNITS) + names
    shares = inclusion(drawn, len(entities))
    return revise(plan, shares, entities, self.options.threshold)

  def _record(self, table: Table) -> Record:
    assert self.bundle.tokenizer is not None, '__post_init__'
    limits = self.bundle.config.limits
    return table_record(
      table,
      self.bundle.tokenizer,
      max_tokens=limits.tokens,
      max_unit_tokens=limits.unit_tokens,
    )

  def _masks(
    self, tables: Sequence[Table], valid: Any
  ) -> tuple[np.ndarray, np.ndarray | None]:
    repeatable, breaks = np.zeros((2, *valid.shape), bool)
    for row, table in enumerate(tables):
      masks = plan_masks(table)
      size = min(len(masks.repeatable), valid.shape[1])
      repeatable[row, :size] = masks.repeatable[:size]
      breaks[row, :size] = masks.breaks[:size]
    return repeatable, breaks if self.options.no_empty_sentences else None

  @property
  def _longest_plan(self) -> int:
    return self.bundle.config.limits.plan or _MAX_STEPS

  def _search_config(self) -> DecodeConfig:
    most = self._longest_plan
    steps = self.options.max_steps or most
    if steps > most:
      raise InputError(
        f'max_steps is {steps}; the model reads plans of {most} units at most.'
      )
    return DecodeConfig(
      max_units=steps,
      min_units=self.options.min_steps,
      beam_size=self.options.beam_size,
      stop_unit=_STOP,
      never=(_BEGIN,),
    )


def load_planner(
  folder: str | os.PathLike[str], options: PlannerOptions | None = None
) -> Planner:
  """A planner from a bundle; its options default to those of its kind."""
  bundle = load_bundle(folder)
  if options is None:
    options = POINTER_OPTIONS if bundle.config.incremental else PlannerOptions()
  return Planner(bundle, options)


@functools.cache
def bundled_planner() -> Planner:
  """The small planner that comes with the package."""
  source = resources.files('stepwise.planning') / 'bundle'
  folder = Path(str(source))
  if not folder.is_dir():
    raise InputError('no planner is bundled: give the folder of a model.')
  return load_planner(folder)


def _round_up(number: int, grain: int) -> int:
  return -(-number // grain) * grain


@functools.partial(jax.jit, static_argnums=(0, 1, 6))
def _search(
  model: Any,
  incremental: bool,
  variables: Any,
  batch: Batch,
  repeatable: Bool[Array, 'batch units'],
  breaks: Bool[Array, 'batch units'] | None,
  config: DecodeConfig,
  rng: Array | None = None,
) -> Int[Array, 'batch steps']:
  constraints = Constraints(repeatable=repeatable, breaks=breaks)
  if incremental:
    return greedy_plans(model, variables, batch, config, constraints, rng)
  return decode(model, variables, batch, config, constraints).plans[:, 0]


@functools.partial(jax.jit, static_argnums=0)
def _probabilities(
  model: nn.Module,
  variables: Any,
  batch: Batch,
  prefixes: Int[Array, 'plans steps'],
) -> Float[Array, 'plans units']:
  """Of the next unit of one document, after each of several plans.

  They are the model's own: what a search may not choose has its share, too.
  """
  memory: Any = model.apply(variables, batch, method='encode')
  candidates = batch.valid[0].at[_BEGIN].set(False)

  def after(prefix: Array) -> Array:
    logits: Any = model.apply(variables, memory, prefix[None], method='score')
    return jax.nn.softmax(jnp.where(candidates, logits[0], -jnp.inf))

  return lax.map(after, prefixes)
