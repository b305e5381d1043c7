"""Training in plain JAX, and what trained models are used for in bulk."""

from stepwise.inference import (
  PredictConfig,
  Predictor,
  Reading,
  inference_buckets,
  reading_limits,
  special_units,
)
from stepwise.training._checkpoints import CheckpointStore
from stepwise.training._config import (
  CheckpointConfig,
  EvaluationConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  TrainConfig,
)
from stepwise.training._divergence import DivergenceError
from stepwise.training._evaluation import Evaluator, rouge_evaluator
from stepwise.training._gin import load_gin
from stepwise.training._inference import (
  InferenceReport,
  digest_folder,
  write_summaries,
)
from stepwise.training._loop import TrainResult, load_trained, train
from stepwise.training._metrics import (
  JsonLinesWriter,
  MetricWriter,
  TensorBoardWriter,
)
from stepwise.training._models import resolve_model
from stepwise.training._optimizer import make_optimizer, make_schedule
from stepwise.training._state import TrainState, lower_update
from stepwise.training._task import Task, Validation, selector_task

__all__ = [
  'CheckpointConfig',
  'CheckpointStore',
  'DivergenceError',
  'EvaluationConfig',
  'Evaluator',
  'InferenceReport',
  'InputConfig',
  'JsonLinesWriter',
  'MeshConfig',
  'MetricWriter',
  'ModelSpec',
  'OptimizerConfig',
  'PredictConfig',
  'Predictor',
  'Reading',
  'Task',
  'TensorBoardWriter',
  'TrainConfig',
  'TrainResult',
  'TrainState',
  'Validation',
  'digest_folder',
  'inference_buckets',
  'load_gin',
  'load_trained',
  'lower_update',
  'make_optimizer',
  'make_schedule',
  'reading_limits',
  'resolve_model',
  'rouge_evaluator',
  'selector_task',
  'special_units',
  'train',
  'write_summaries',
]
