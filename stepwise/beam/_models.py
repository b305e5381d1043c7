"""Beam transforms with a model: documents in, summaries out; games in, plans
out.

JAX is imported by the workers that need it.
"""

import functools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apache_beam as beam

from stepwise._errors import InputError
from stepwise.beam._made import Made
from stepwise.beam._parts import Documents, Part, read_part
from stepwise.beam._storage import LocalCopy, is_local
from stepwise.beam._transforms import WithTool, json_lines
from stepwise.documents import BadLine, find_format
from stepwise.rotowire import Game, parse_game, salient_plan
from stepwise.tables import Plan, plan_table, plan_to_json

if TYPE_CHECKING:
  from stepwise.planning import Planner
  from stepwise.summarization import Summarizer, SummaryOptions


class Summarize(beam.PTransform):
  """What `stepwise infer` writes of `Documents`.

  A worker loads the model once and keeps the programs that it compiles.
  Documents of similar length are chosen from together.

  Args:
    model: a name or the folder of a bundle on any file system, or a function
      that loads a summarizer in a worker.
    options: of all summaries; None = as the model says.
    batch_size: documents chosen from together; None = as the model says.
  """

  def __init__(
    self,
    model: str | Callable[[], 'Summarizer'] = 'default',
    options: 'SummaryOptions | None' = None,
    *,
    batch_size: int | None = None,
  ):
    super().__init__()
    self._load = partial(load_model, model) if isinstance(model, str) else model
    self._settings = (options, batch_size)

  def expand(self, input_or_inputs: Any) -> Any:
    work = partial(_make_chosen, self._settings)
    load = partial(_prepared, self._load)
    return input_or_inputs | beam.ParDo(WithTool(load, work, 'summaries'))


class PlanTables(beam.PTransform):
  """What `stepwise plan --json` prints of the games or tables of parts.

  Parts of `FindParts(..., whole_files=True)` are tables, a file each; others
  are games.

  Args:
    model: of games: `default`, the folder of a bundle on any file system, or
      `salience`; tables are planned by salience.
    templates: of tables, a file; None = they are guessed.
  """

  def __init__(self, model: str = 'default', templates: str | None = None):
    super().__init__()
    self._load = partial(_Planning, model, templates)

  def expand(self, input_or_inputs: Any) -> Any:
    work = WithTool(self._load, make_plans, 'plans')
    return input_or_inputs | beam.ParDo(work)


def _prepared(load: Callable[[], Any]) -> Any:
  from stepwise._runtime import prepare

  prepare()
  return load()


def load_model(model: str) -> 'Summarizer':
  """A summarizer by name, or from a folder of any file system."""
  from stepwise.summarization import load_summarizer

  if is_local(model):
    return load_summarizer(model)
  copy = LocalCopy(model, folder=True)
  return load_summarizer(copy.path)


def _make_chosen(
  settings: tuple[Any, int | None],
  summarizer: 'Summarizer',
  documents: Documents,
) -> Made:
  from stepwise.summarization import SummaryOptions, bulk_settings, summary_row

  wishes = settings[0] or SummaryOptions()
  options, batch_size = bulk_settings(summarizer, wishes, settings[1])
  contents = (line.content for line in documents.lines)
  found = summarizer.many(contents, options, batch_size=batch_size)
  numbers = (line.number for line in documents.lines)
  rows = [*map(summary_row, numbers, found)]
  counts = {
    'summaries': sum('error' not in row for row in rows),
    'errors': sum('error' in row for row in rows),
    'warned': sum('warnings' in row for row in rows),
  }
  bad = tuple(
    BadLine(line.file, line.number, row['error'])
    for line, row in zip(documents.lines, rows, strict=True)
    if 'error' in row
  )
  return Made(documents.part, 'summaries', json_lines(rows), bad, counts)


class _Planning:
  """What plans need; a planner is loaded when the first game comes."""

  def __init__(self, model: str, templates: str | None):
    self._model = model
    self.templates = LocalCopy(templates) if templates else None

  @functools.cached_property
  def planner(self) -> 'Planner | None':
    if self._model == 'salience':
      return None
    return _prepared(partial(_load_planner, self._model))


def _load_planner(model: str) -> 'Planner':
  from stepwise.planning import bundled_planner, load_planner

  if model == 'default':
    return bundled_planner()
  copy = LocalCopy(model, folder=True)
  return load_planner(copy.path)


def make_plans(planning: _Planning, part: Part) -> Made:
  """Plans of the tables or the games of a part."""
  return (_plan_tables if part.number else _plan_games)(planning, part)


def _plan_tables(planning: _Planning, part: Part) -> Made:
  lines, bad = [], []
  templates = planning.templates.path if planning.templates else None
  for number, path in enumerate(part.files, start=part.number):
    copy = LocalCopy(path)
    try:
      made = plan_table(copy.path, templates=templates).to_dict()
      lines.append(json.dumps(made, ensure_ascii=False))
    except InputError as error:
      bad.append(BadLine(path, number, str(error)))
  return Made(part, 'plans', tuple(lines), tuple(bad))


def _plan_games(planning: _Planning, part: Part) -> Made:
  games, bad = [], []
  for item in read_part(part):
    path = Path(item.file)
    try:
      fields = find_format(path).parse(item.raw)
      games.append(parse_game(fields, id=f'{path.name}:{item.number - 1}'))
    except InputError as error:
      bad.append(BadLine(item.file, item.number, str(error)))
  plans = _plans(planning.planner, games, first=not part.skipped)
  lines = [
    plan_to_json(plan, game.id) for game, plan in zip(games, plans, strict=True)
  ]
  return Made(part, 'plans', tuple(lines), tuple(bad))


def _plans(
  planner: 'Planner | None', games: list[Game], *, first: bool
) -> list[Plan]:
  if planner is None:
    return [salient_plan(game) for game in games]
  # Samples are drawn for the rows of a batch, which is full if there are games
  # before this part: it has the same rows here.
  short = 0 if first or not games else -len(games) % planner.options.batch_size
  return planner([*games, *games[-1:] * short])[: len(games)]
