"""SeqIO tasks; the only package that imports TensorFlow.

Importing it registers the tasks of CNN/DailyMail and Rotowire, see
`cnn_dailymail`, `pretraining`, `rotowire` and `rotowire_realize`.
"""

from stepwise._extras import needs

with needs('tasks', __name__):
  import seqio as _seqio  # noqa: F401

from stepwise.tasks import (
  cnn_dailymail,
  pretraining,
  rotowire,
  rotowire_realize,
)
from stepwise.tasks._feature_converters import StepwiseFeatureConverter
from stepwise.tasks._games import GameReading, PlannedUnits, plan_metric
from stepwise.tasks._metrics import SelectedText, rouge_metric
from stepwise.tasks._registration import register_jsonl_tasks, register_tasks
from stepwise.tasks._sources import DocumentFiles, TfdsArticles
from stepwise.tasks.rotowire import register_game_tasks

__all__ = [
  'DocumentFiles',
  'GameReading',
  'PlannedUnits',
  'SelectedText',
  'StepwiseFeatureConverter',
  'TfdsArticles',
  'cnn_dailymail',
  'plan_metric',
  'pretraining',
  'register_game_tasks',
  'register_jsonl_tasks',
  'register_tasks',
  'rotowire',
  'rotowire_realize',
  'rouge_metric',
]
