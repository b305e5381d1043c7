"""SeqIO tasks; the only package that imports TensorFlow.

Importing it registers the tasks of CNN/DailyMail, see `cnn_dailymail`, and
that of the realizer, see `rotowire`.
"""

try:
  import seqio as _seqio  # noqa: F401
except ModuleNotFoundError as error:
  raise ImportError(
    f"stepwise.tasks needs SeqIO ({error}): pip install 'stepwise[tasks]'"
  ) from error

from stepwise.tasks import cnn_dailymail, rotowire
from stepwise.tasks._feature_converters import StepwiseFeatureConverter
from stepwise.tasks._metrics import SelectedText, rouge_metric
from stepwise.tasks._registration import register_jsonl_tasks, register_tasks
from stepwise.tasks._sources import DocumentFiles, TfdsArticles

__all__ = [
  'DocumentFiles',
  'SelectedText',
  'StepwiseFeatureConverter',
  'TfdsArticles',
  'cnn_dailymail',
  'register_jsonl_tasks',
  'register_tasks',
  'rotowire',
  'rouge_metric',
]
