"""Planning tasks of Rotowire, registered on import.

The names are `rotowire_KIND`, where KIND is `stepwise`, `stepwise_sampled` or
`stepwise_all` (see `register_tasks`), followed by what differs:

| end of the name | table | tokeniser |
|---|---|---|
| | the paper's | `wordpiece` |
| `_bpe` | the paper's | `byte_level_bpe` |
| `_roles` | the short one, with roles | `wordpiece` |

Files are `$STEPWISE_DATA/rotowire/{train,validation,test}.json`; plans are
those of the extractor `lookup`. For others call `register_game_tasks`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import seqio

from stepwise._errors import InputError
from stepwise.data import wordpiece
from stepwise.extraction import EXTRACTORS
from stepwise.rotowire import PlanRecordOptions
from stepwise.tables import SPECIAL_UNITS
from stepwise.tasks._games import (
  GameFiles,
  GameReading,
  PlannedUnits,
  plan_metric,
)
from stepwise.tasks._preprocessors import cut_to_length
from stepwise.tasks._registration import OUTPUT_FEATURES, STEPS
from stepwise.tasks.cnn_dailymail import bpe

_NAME = 'rotowire'
_SPLITS = ('train', 'validation', 'test')


def register_game_tasks(
  name: str,
  files_by_split: Mapping[str, str | Sequence[str]],
  reading: GameReading,
  *,
  suffix: str = '',
) -> list[str]:
  """Registers the three planning tasks of files of games.

  Args:
    name: begins the names of the tasks.
    files_by_split: paths or patterns of every split.
    reading: tokeniser, table, limits and extractor.
    suffix: ends the names of the tasks.

  Returns:
    The names of the tasks.
  """
  if reading.extractor not in EXTRACTORS:
    raise InputError(
      f'extractor is {reading.extractor!r}; known ones are '
      f'{sorted(EXTRACTORS)}.'
    )
  source: Any = GameFiles(files_by_split, reading)
  names = []
  for kind, choose in STEPS.items():
    names.append(f'{name}{kind}{suffix}')
    preprocessors: list[Any] = [
      seqio.CacheDatasetPlaceholder(),
      partial(cut_to_length, special=len(SPECIAL_UNITS)),
      choose,
    ]
    seqio.TaskRegistry.remove(names[-1])
    seqio.TaskRegistry.add(
      names[-1],
      source,
      output_features=OUTPUT_FEATURES,
      preprocessors=preprocessors,
      postprocess_fn=PlannedUnits(),
      metric_fns=[plan_metric],
    )
  return names


def _register() -> None:
  files = {split: f'$STEPWISE_DATA/{_NAME}/{split}.json' for split in _SPLITS}
  readings = {
    '': GameReading(wordpiece),
    '_bpe': GameReading(bpe),
    '_roles': GameReading(wordpiece, PlanRecordOptions('roles')),
  }
  for suffix, reading in readings.items():
    register_game_tasks(_NAME, files, reading, suffix=suffix)


_register()
