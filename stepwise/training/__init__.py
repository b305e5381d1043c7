"""Training in plain JAX: input, step, loop, and what configures them."""

from stepwise._extras import needs

with needs('train', __name__):
  import gin as _gin  # noqa: F401
  import grain as _grain  # noqa: F401
  import optax as _optax  # noqa: F401
  import orbax.checkpoint as _orbax  # noqa: F401

from stepwise.training._config import (
  BLEU,
  CheckpointConfig,
  EvaluationConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  PretrainingConfig,
  TrainConfig,
  resolve_model,
)
from stepwise.training._dry_run import (
  CompiledProgram,
  DryRun,
  dry_run,
  topology_devices,
)
from stepwise.training._evaluators import (
  Evaluator,
  auc_evaluator,
  rouge_evaluator,
)
from stepwise.training._flops import product_flops
from stepwise.training._gin import absolute_folder, load_gin
from stepwise.training._history import (
  RunHistory,
  draw_history,
  read_history,
  sparkline,
)
from stepwise.training._input import (
  Arrays,
  Planned,
  local_files,
  open_batches,
  validation_batches,
)
from stepwise.training._loop import (
  DivergenceError,
  PreemptionError,
  TrainResult,
  load_trained,
  train,
)
from stepwise.training._mesh import decoding_mesh
from stepwise.training._metrics import (
  JsonLinesWriter,
  MetricWriter,
  TensorBoardWriter,
)
from stepwise.training._page import run_page
from stepwise.training._plan_value import (
  ValuedPools,
  ValueTraining,
  fit_plan_value,
  load_pools,
  save_pools,
  set_scores,
  value_documents,
  value_loss,
)
from stepwise.training._processes import sum_of_processes
from stepwise.training._stacking import restack
from stepwise.training._step import (
  JointLoss,
  TrainState,
  lower_update,
  make_optimizer,
  make_schedule,
)
from stepwise.training._store import CheckpointStore
from stepwise.training._task import (
  HostProgram,
  TrainingTask,
  Validation,
  selector_task,
)

__all__ = [
  'BLEU',
  'Arrays',
  'CheckpointConfig',
  'CheckpointStore',
  'CompiledProgram',
  'DivergenceError',
  'DryRun',
  'EvaluationConfig',
  'Evaluator',
  'HostProgram',
  'InputConfig',
  'JointLoss',
  'JsonLinesWriter',
  'MeshConfig',
  'MetricWriter',
  'ModelSpec',
  'OptimizerConfig',
  'Planned',
  'PreemptionError',
  'PretrainingConfig',
  'RunHistory',
  'TensorBoardWriter',
  'TrainConfig',
  'TrainResult',
  'TrainState',
  'TrainingTask',
  'Validation',
  'ValueTraining',
  'ValuedPools',
  'absolute_folder',
  'auc_evaluator',
  'decoding_mesh',
  'draw_history',
  'dry_run',
  'fit_plan_value',
  'load_gin',
  'load_pools',
  'load_trained',
  'local_files',
  'lower_update',
  'make_optimizer',
  'make_schedule',
  'open_batches',
  'product_flops',
  'read_history',
  'resolve_model',
  'restack',
  'rouge_evaluator',
  'run_page',
  'save_pools',
  'selector_task',
  'set_scores',
  'sparkline',
  'sum_of_processes',
  'topology_devices',
  'train',
  'validation_batches',
  'value_documents',
  'value_loss',
]
