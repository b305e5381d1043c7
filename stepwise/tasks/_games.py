"""Games as a source of planning examples, and the metrics of plans."""

import functools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from stepwise.data import Tokenizer, stepwise_examples
from stepwise.evaluation import content_ordering, content_selection
from stepwise.extraction import find_extractor, oracle_plan
from stepwise.rotowire import (
  NAME_TYPES,
  Game,
  PlanRecordOptions,
  plan_records,
  read_games,
  read_table,
)
from stepwise.tables import SPECIAL_UNITS
from stepwise.tasks._documents import spans_array
from stepwise.tasks._sources import DocumentFiles

# `counted`: units that metrics compare, all but names, cities and dates.
# `oracle`: all targets, also where an example has only one.
_SPEC: dict[str, tf.TensorSpec] = {
  'inputs_pretokenized': tf.TensorSpec((), tf.string),
  'id': tf.TensorSpec((), tf.string),
  'tokens': tf.TensorSpec((None,), tf.int32),
  'unit_ids': tf.TensorSpec((None,), tf.int32),
  'targets': tf.TensorSpec((None,), tf.int32),
  'spans': tf.TensorSpec((None, 2), tf.int32),
  'counted': tf.TensorSpec((None,), tf.bool),
  'oracle': tf.TensorSpec((None,), tf.int32),
}

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class GameReading:
  """How games become examples.

  Attributes:
    tokenizer: loads the tokeniser, when it is first needed.
    options: table and limits.
    extractor: a name of `stepwise.extraction.EXTRACTORS`.
  """

  tokenizer: Callable[[], Tokenizer]
  options: PlanRecordOptions = PlanRecordOptions()
  extractor: str = 'lookup'


class GameFiles(DocumentFiles):
  """Files of games in the layout of Rotowire, with their oracle plans."""

  def __init__(
    self,
    files_by_split: Mapping[str, str | Sequence[str]],
    reading: GameReading,
  ):
    super().__init__(
      files_by_split, functools.partial(_read_games, reading=reading)
    )


@dataclass(frozen=True)
class PlannedUnits:
  """A postprocessor: the units that metrics compare, up to the end."""

  stop: int = SPECIAL_UNITS.index('eot')

  def __call__(
    self, output: Any, *, example: Mapping[str, Any], is_target: bool = False
  ) -> list[int]:
    units = [int(u) for u in (example['oracle'] if is_target else output)]
    if self.stop in units:
      units = units[: units.index(self.stop)]
    counted = example['counted']
    return [u for u in units if 0 <= u < len(counted) and counted[u]]


def plan_metric(
  targets: Sequence[Sequence[int]], predictions: Sequence[Sequence[int]]
) -> dict[str, float]:
  """CS and CO of plans, in percent, without names, cities and dates."""
  selection = content_selection(predictions, targets)
  return {
    'cs_precision': selection.precision,
    'cs_recall': selection.recall,
    'cs_f1': selection.f1,
    'co': content_ordering(predictions, targets),
  }


def _read_games(path: tf.Tensor, *, reading: GameReading) -> tf.data.Dataset:
  return tf.data.Dataset.from_generator(
    functools.partial(_examples_of, reading=reading),
    args=(path,),
    output_signature=_SPEC,
  )


def _examples_of(
  path: bytes, *, reading: GameReading
) -> Iterator[dict[str, Any]]:
  for game in read_games(path.decode()):
    found = _example(game, reading)
    if found is None:
      _logger.warning('game %s is left out: it has no plan.', game.id)
    else:
      yield found


def _example(game: Game, reading: GameReading) -> dict[str, Any] | None:
  plan = oracle_plan(game, find_extractor(reading.extractor))
  options = reading.options
  made = plan_records([game], [plan], reading.tokenizer(), options)
  labelled = next(made, None)
  if labelled is None:
    return None
  record, oracle = labelled
  table = read_table(game, options.table, options.max_units)
  [example] = stepwise_examples(record, oracle)
  types = [entry.relation.type for entry in table.entries]
  names = [type in NAME_TYPES for type in types]
  counted = ~np.array([True] * record.special + names)
  return {
    'inputs_pretokenized': table.document.text.encode(),
    'id': game.id.encode(errors='replace'),
    'tokens': example['tokens'],
    'unit_ids': example['unit_ids'],
    'targets': example['targets'],
    'spans': spans_array(record.spans),
    'counted': counted[: record.num_units],
    'oracle': example['targets'],
  }
