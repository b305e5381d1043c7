"""Content plans of tables by a trained stepwise model."""

import dataclasses
import functools
import json
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepwise._errors import InputError
from stepwise._typing import Float
from stepwise.checkpoints import Bundle, load_bundle
from stepwise.data import Buckets
from stepwise.decoding import DecodeConfig
from stepwise.inference import Demands, PredictConfig, Predictor, Reading
from stepwise.models import ModelConfig
from stepwise.planning._consensus import inclusion, revise
from stepwise.rotowire import Game, read_table, with_names
from stepwise.tables import (
  FORM_FILE,
  SPECIAL_UNITS,
  Plan,
  Schema,
  Table,
  TableForm,
  most_salient,
  plan_from_units,
  repeatable_units,
  table_record,
)

_STOP, _BEGIN = SPECIAL_UNITS.index('eot'), SPECIAL_UNITS.index('beg')
# Units of a plan where a model sets no limit of its own.
_MAX_STEPS = 256
# What a bundle remembers of how its model plans.
OPTIONS_FILE = 'planner.json'


@dataclasses.dataclass(frozen=True)
class PlannerOptions:
  """How plans are searched.

  Attributes:
    table: what the model reads of a game, a name of `stepwise.rotowire.TABLES`,
      or the name of the schema of the tables that it was trained on.
    max_units: of the table; None = its own limit.
    max_steps: of a plan, breaks counted; None = as many as the model reads.
    beam_size: 1 is the paper's greedy search.
    batch_size: tables planned together.
    samples: plans drawn from the model that the best one is revised by, see
      `stepwise.planning.revise`; 0 = it is left as it is.
    threshold: share of samples that an entry of a revised plan is in.
    seed: of the samples.
  """

  table: str = 'paper'
  max_units: int | None = None
  max_steps: int | None = None
  beam_size: int = 1
  batch_size: int = 16
  samples: int = 0
  threshold: float = 0.3
  seed: int = 0

  def to_json(self) -> str:
    """As a bundle keeps them, in its file `OPTIONS_FILE`."""
    return json.dumps(dataclasses.asdict(self), indent=2) + '\n'


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


@dataclasses.dataclass(frozen=True, eq=False)
class Planner:
  """A trained model, and how it plans.

  Entries are not repeated, except for sentence breaks and what the templates
  call repeatable: team names and cities.

  Attributes:
    bundle: the model.
    options: of the search.
    form: the schema of the tables that it was trained on; None if it plans
      games.
  """

  bundle: Bundle
  options: PlannerOptions = PlannerOptions()
  form: TableForm | None = None

  def __post_init__(self) -> None:
    config = self.bundle.config
    if config.special_units != SPECIAL_UNITS:
      raise InputError(
        f'a planner begins its plans with unit {_BEGIN} of {SPECIAL_UNITS}; '
        f'this {type(config).__name__} is of another kind.'
      )
    if self.bundle.tokenizer is None:
      raise InputError('the model has no tokeniser: it cannot read tables.')

  @property
  def name(self) -> str:
    """What it was trained on."""
    return self.options.table

  def __call__(self, games: Sequence[Game]) -> list[Plan]:
    """Plans of games, in their order."""
    plans = self.plan_tables([self._read(game) for game in games])
    if self.options.table != 'roles':
      return plans
    # That table has no names.
    return [with_names(p, game) for p, game in zip(plans, games, strict=True)]

  def open(
    self, data: Any, templates: Schema | str | os.PathLike[str] | None = None
  ) -> Table:
    """A table as the model reads it; one of another schema is refused."""
    if self.form is None:
      raise InputError(
        f'this planner was trained on games (reading {self.options.table!r}); '
        'tables need one that was trained on theirs, or salience.'
      )
    table = self.form.open(data, templates)
    units = self.options.max_units or self.bundle.config.limits.units
    return most_salient(table, units)

  def plan_tables(self, tables: Sequence[Table]) -> list[Plan]:
    """Plans of tables, in their order."""
    size = self.options.batch_size
    chunks = [
      tables[start : start + size] for start in range(0, len(tables), size)
    ]
    return [
      plan_from_units(units, table)
      for chunk in chunks
      for units, table in zip(
        self._choose(chunk, min(size, len(tables))), chunk, strict=True
      )
    ]

  def trace(self, game: Game) -> PlanTrace:
    """The plan of a game before names are added, with all probabilities."""
    return self.trace_table(self._read(game))

  def trace_table(self, table: Table) -> PlanTrace:
    """The plan of a table, with all probabilities."""
    [units] = self._choose([table], rows=1)
    reading = self._reading(table)
    [ranking] = self._predictor([reading], rows=1).rank(
      [reading], [units[: self._longest_plan]]
    )
    return PlanTrace(table, units, np.exp(ranking))

  def _read(self, game: Game) -> Table:
    if self.form is not None:
      raise InputError(
        f'this planner was trained on tables of schema {self.form.name!r}; it '
        'does not read games.'
      )
    return read_table(game, self.options.table, self.options.max_units)

  def _choose(self, tables: Sequence[Table], rows: int) -> list[list[int]]:
    """Units of every plan, special ones included."""
    readings = [self._reading(table) for table in tables]
    found = self._predictor(readings, rows).predict(
      readings, draws=self.options.samples, seed=self.options.seed
    )
    special = len(SPECIAL_UNITS)
    chosen = []
    for prediction, table in zip(found, tables, strict=True):
      units = [unit + special for unit in prediction.units]
      if self.options.samples:
        drawn = [[unit + special for unit in d] for d in prediction.drawn]
        units = self._revise(units, drawn, table)
      chosen.append(units)
    return chosen

  def _revise(
    self, units: list[int], drawn: list[list[int]], table: Table
  ) -> list[int]:
    names = [entry.relation.entity for entry in table.entries]
    entities = [''] * len(SPECIAL_UNITS) + names
    shares = inclusion([np.array(d, int) for d in drawn], len(entities))
    return revise(
      np.array(units, int), shares, entities, self.options.threshold
    )

  def _reading(self, table: Table) -> Reading:
    assert self.bundle.tokenizer is not None, '__post_init__'
    limits = self.bundle.config.limits
    record = table_record(
      table,
      self.bundle.tokenizer,
      max_units=limits.units,
      max_tokens=limits.tokens,
      max_unit_tokens=limits.unit_tokens,
    )
    again = np.flatnonzero(repeatable_units(table)[: record.num_units])
    repeatable = tuple((again - record.special).tolist())
    return Reading(table.document, record, Demands(repeatable=repeatable))

  def _predictor(self, readings: Sequence[Reading], rows: int) -> Predictor:
    records = [reading.record for reading in readings]
    return Predictor(
      self.bundle.config,
      self.bundle.variables['params'],
      PredictConfig(self._search_config(), batch_size=rows),
      Buckets.single((len(r.tokens), r.num_units) for r in records),
      # Too small a model to gain from rounding.
      products='float32',
    )

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
      beam_size=self.options.beam_size,
      stop_unit=_STOP,
      never=(_BEGIN,),
    )


def load_planner(
  folder: str | os.PathLike[str],
  options: PlannerOptions | None = None,
  **changes: Any,
) -> Planner:
  """A planner from a bundle.

  Args:
    folder: the bundle.
    options: None = those that the bundle remembers.
    changes: of some of them.
  """
  bundle = load_bundle(folder)
  if options is None:
    options = _stored_options(Path(folder), bundle, 'table' in changes)
  options = dataclasses.replace(options, **changes)
  path = Path(folder) / FORM_FILE
  form = None
  if path.exists():
    form = TableForm.from_json(path.read_text('utf-8'), str(path))
    if options.table != form.name:
      raise InputError(
        f'{folder} was trained on tables of schema {form.name!r}; it has no '
        f'reading {options.table!r}.'
      )
  return Planner(bundle, options, form)


def default_options(
  config: ModelConfig,
  table: str,
  max_steps: int | None = None,
  max_units: int | None = None,
) -> PlannerOptions:
  """How a model plans that was trained on so much of this table and such plans.

  Models that read plans unit by unit draw samples at little cost; the
  threshold was chosen on validation games 0 to 213 of Rotowire.
  """
  options = PlannerOptions(table, max_units, max_steps)
  if not config.incremental:
    return options
  return dataclasses.replace(options, batch_size=64, samples=16, threshold=0.25)


def _stored_options(
  folder: Path, bundle: Bundle, table_given: bool
) -> PlannerOptions:
  path = folder / OPTIONS_FILE
  if not path.exists():
    if not table_given:
      raise InputError(
        f'{folder} has no {OPTIONS_FILE}: it does not say which table its '
        'model reads; name one (--reading).'
      )
    return default_options(bundle.config, PlannerOptions.table)
  try:
    return PlannerOptions(**json.loads(path.read_text('utf-8')))
  except (ValueError, TypeError) as error:
    raise InputError(f'{path} does not say how to plan: {error}.') from error


@functools.cache
def bundled_planner() -> Planner:
  """The small planner that comes with the package."""
  source = resources.files('stepwise.planning') / 'bundle'
  folder = Path(str(source))
  if not folder.is_dir():
    raise InputError('no planner is bundled: give the folder of a model.')
  return load_planner(folder)
