"""Everything a training run is made from, as frozen dataclasses.

Command-line flags and gin files both end here; nothing else configures a run.
"""

import dataclasses
import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax.numpy as jnp
from etils import epath

from stepwise import _files
from stepwise._errors import InputError
from stepwise._extras import needs
from stepwise.data import Buckets, Masking
from stepwise.inference import PredictConfig
from stepwise.layers import choose_products, with_products
from stepwise.models import ModelConfig, find_config

SCHEDULES = ('constant', 'inverse_sqrt', 'linear')
EXAMPLES = ('all', 'steps', 'sample')
# Metrics that are only measured where they tell the best checkpoint.
AUC = 'validation/auc'
BLEU = 'validation/bleu'


def _at_least(name: str, value: int, least: int) -> None:
  if value < least:
    raise InputError(f'{name} is {value}, must be at least {least}.')


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
  if value not in known:
    raise InputError(f'{name} is {value!r}, must be one of {known}.')


@dataclasses.dataclass(frozen=True)
class ModelSpec:
  """A named configuration, and what a run changes of it.

  Attributes:
    name: as `stepwise params` lists them.
    twin: take the non-stepwise twin.
    sizes: other values of fields by their paths, such as
      `{'pooling': 'mean', 'encoder.layers': 6, 'encoder.pattern.radius': 128}`.
    activation, norm_epsilon: of the encoder; None = as the configuration says.
      A run that starts from a bundle takes those of the bundle.
    dropout: None = that of the configuration.
    dtype: of activations, such as 'bfloat16'; None = that of the parameters.
    remat: recompute layers in the backward pass.
    scan_layers: compile one layer for all of them.
    products: precision of products, 'float32' or 'bfloat16' (whose sums are
      float32); 'auto' = the faster one on this machine, see `choose_products`.
  """

  name: str
  twin: bool = False
  sizes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  activation: str | None = None
  norm_epsilon: float | None = None
  dropout: float | None = None
  dtype: str | None = None
  remat: bool = False
  scan_layers: bool = False
  products: str = 'auto'

  @property
  def lasting(self) -> 'ModelSpec':
    """Without what concerns training only."""
    lasting = ('name', 'twin', 'sizes', 'activation', 'norm_epsilon')
    kept = {name: getattr(self, name) for name in lasting}
    return ModelSpec(**kept, products='float32')


def resolve_model(spec: ModelSpec) -> ModelConfig:
  """The configuration that a spec describes."""
  config = find_config(spec.name)
  if spec.twin and config.stepwise:
    config = config.twin()
  for path, value in spec.sizes.items():
    config = _with_size(config, path, value)
  config = config.with_settings(**_settings(spec))
  return with_products(config, choose_products(spec.products))


def _settings(spec: ModelSpec) -> dict[str, Any]:
  names = ('activation', 'norm_epsilon', 'dropout', 'remat', 'scan_layers')
  settings = {name: getattr(spec, name) for name in names}
  if spec.dtype is not None:
    settings['dtype'] = jnp.dtype(spec.dtype)
  # Not every model has all of them: those that are not asked for stay unsaid.
  return {k: v for k, v in settings.items() if v is not None and v is not False}


def _with_size(sizes: Any, path: str, value: Any) -> Any:
  """A dataclass with another value somewhere inside."""
  name, _, rest = path.partition('.')
  known = [field.name for field in dataclasses.fields(sizes)]
  if name not in known:
    raise InputError(
      f'{type(sizes).__name__} has no size {name!r}, it has {", ".join(known)}.'
    )
  now = getattr(sizes, name)
  if rest and not dataclasses.is_dataclass(now):
    raise InputError(f'{name} of {type(sizes).__name__} has no sizes inside.')
  kinds = (float, int) if type(now) is float else type(now)
  if not rest and now is not None and not isinstance(value, kinds):
    raise InputError(
      f'size {name!r} is {value!r}, must be of type {type(now).__name__}.'
    )
  new = _with_size(now, rest, value) if rest else value
  return dataclasses.replace(sizes, **{name: new})


@dataclasses.dataclass(frozen=True)
class OptimizerConfig:
  """Adam, or AdamW if there is weight decay.

  Attributes:
    learning_rate: the peak, or the base of an inverse-square-root schedule.
    schedule: 'constant', 'linear' (to 0 at the last step) or 'inverse_sqrt'.
    warmup: steps of linear growth before it.
    beta1, beta2, epsilon: of Adam.
    bias_correction: of both moments; BERT and ETC were trained without.
    weight_decay: decoupled, of everything but norms and biases.
    clip_norm: largest global norm of a gradient; None = not clipped.
    frozen: parameters that keep their values: beginnings of their paths, such
      as 'encoder/sentence/embeddings'. Their gradients are not computed.
    start_scales: pairs of an ending of paths and a factor that such parameters
      are multiplied by before the first update. They have a standard deviation
      of 0.02, as BERT's: right for a width of 768. A narrow model then hardly
      attends and learns slowly, as does one whose positions are added to
      states: (('kernel', 9.0), ('summary_position/embedding', 40.0)) is 1 /
      sqrt(width) for kernels where the width is 32, and 0.8 for positions.
    start_same: pairs of endings of paths: parameters with the first start as
      those with the second. (('key/kernel', 'query/kernel'),) lets every head
      attend to what is like the reader, such as entries of the same player,
      which a short run otherwise spends its time to find.
  """

  learning_rate: float
  schedule: str = 'constant'
  warmup: int = 0
  beta1: float = 0.9
  beta2: float = 0.999
  epsilon: float = 1e-8
  bias_correction: bool = True
  weight_decay: float = 0.0
  clip_norm: float | None = None
  frozen: tuple[str, ...] = ()
  start_scales: tuple[tuple[str, float], ...] = ()
  start_same: tuple[tuple[str, str], ...] = ()

  def __post_init__(self) -> None:
    _one_of('schedule', self.schedule, SCHEDULES)
    if self.schedule == 'inverse_sqrt':
      _at_least('warmup', self.warmup, 1)


@dataclasses.dataclass(frozen=True)
class InputConfig:
  """Records and how they become batches.

  Attributes:
    train: a file of records, from `stepwise data build`.
    batch_size: examples of a batch, over all devices and micro-batches.
    examples: what an example of a stepwise model is: a document with 'all' its
      steps, one of its 'steps', or in every epoch a new 'sample' of them.
    buckets: sizes of batches; None = powers of two below the largest record.
    plan_steps: slots of a plan; None = as many as the longest oracle needs.
    learn_steps: steps of a document that are learnt, from the first; None =
      all of them.
    unit_tokens: no unit of the records is longer, so that a model which reads
      its plan as text leaves out the room for longer ones; None = nothing is
      known of it. `stepwise data build --max-unit-tokens` cuts them.
    reference_tokens: of a summary that are read, to learn what whole plans are
      worth; its rest is left out. None = no summary is.
  """

  train: str
  batch_size: int
  examples: str = 'all'
  buckets: Buckets | None = None
  plan_steps: int | None = None
  learn_steps: int | None = None
  unit_tokens: int | None = None
  reference_tokens: int | None = None

  def __post_init__(self) -> None:
    _at_least('batch_size', self.batch_size, 1)
    _at_least('unit_tokens', self.unit_tokens or 1, 1)
    _at_least('reference_tokens', self.reference_tokens or 1, 1)
    _one_of('examples', self.examples, EXAMPLES)


@dataclasses.dataclass(frozen=True)
class EvaluationConfig:
  """What is measured during training.

  Attributes:
    validation: a file of records; None = no evaluation.
    every: steps between evaluations; the last step is always evaluated.
    batch_size: rows scored at once; None = those of a micro-batch of training.
    documents: the documents that the validation records were built from, for
      ROUGE of decoded summaries; None = loss only.
    predict: how to decode them.
  """

  validation: str | None = None
  every: int = 1000
  batch_size: int | None = None
  documents: str | None = None
  predict: PredictConfig = PredictConfig()

  def __post_init__(self) -> None:
    _at_least('every', self.every, 1)
    if self.documents and not self.validation:
      raise InputError('documents are given but no validation records.')


@dataclasses.dataclass(frozen=True)
class CheckpointConfig:
  """When to save, and what to keep.

  Every evaluation saves too, so that the best model is on disk.

  Attributes:
    every: steps between checkpoints; the last step is always saved.
    keep_last: newest checkpoints to keep, besides the best one.
    best_metric: a metric of the evaluation that tells which one is best:
      'validation/loss', 'validation/accuracy', with documents
      'validation/rouge1', 'rouge2' and 'rougeLsum'; 'validation/auc' of the
      next unit of stepwise models; 'validation/bleu' of realizers. The last two
      are measured only if they are named here.
    best_mode: 'min' or 'max'.
    average: newest checkpoints whose mean a run ends with; 1 = it ends with
      the best one, or with the last if there is no evaluation. A mean of
      checkpoints of a constant rate stands for a rate that falls, wherever the
      run is stopped.
  """

  every: int = 1000
  keep_last: int = 2
  best_metric: str = 'validation/loss'
  best_mode: str = 'min'
  average: int = 1

  def __post_init__(self) -> None:
    _at_least('every', self.every, 1)
    _at_least('keep_last', self.keep_last, 1)
    _one_of('best_mode', self.best_mode, ('min', 'max'))
    _at_least('average', self.average, 1)
    if self.average > self.keep_last:
      raise InputError(
        f'average is {self.average}, but keep_last is {self.keep_last}.'
      )


@dataclasses.dataclass(frozen=True)
class PretrainingConfig:
  """What an encoder learns from documents alone.

  The loss is the weighted sum of two means over the batch.

  Attributes:
    mlm_weight: of masked tokens.
    cpc_weight: of hidden units.
    masking: what is taken away for it to guess.
  """

  mlm_weight: float = 0.8
  cpc_weight: float = 0.2
  masking: Masking = Masking()

  def __post_init__(self) -> None:
    if min(self.mlm_weight, self.cpc_weight) < 0 or not (
      self.mlm_weight + self.cpc_weight
    ):
      raise InputError(
        f'mlm_weight is {self.mlm_weight} and cpc_weight {self.cpc_weight}, '
        'must be at least 0, and one of them more.'
      )


@dataclasses.dataclass(frozen=True)
class MeshConfig:
  """Devices and what is spread over them; a resumed run may have others.

  Rows of a batch are spread over `data x fsdp` devices.

  Attributes:
    data: None = as many as there are.
    fsdp: devices that also share the parameters and moments.
    model: devices that share heads, hidden units and tables.
    sequence: devices that share the tokens of a document, for documents that
      are longer than a device; of ETCSum alone.
    rules: pairs of a logical axis and mesh axes, instead of those of
      `stepwise.layers.PARAM_RULES` with the same name.
  """

  data: int | None = None
  fsdp: int = 1
  model: int = 1
  sequence: int = 1
  rules: tuple[tuple[str, str | tuple[str, ...] | None], ...] = ()

  def __post_init__(self) -> None:
    for name in ('fsdp', 'model', 'sequence'):
      _at_least(name, getattr(self, name), 1)


@dataclasses.dataclass(frozen=True)
class TrainConfig:
  """A training run.

  Attributes:
    model, optimizer, input, evaluation, checkpoints, mesh: see there.
    steps: updates of the parameters.
    accumulate: micro-batches of every batch; its gradient is their sum.
    positive_weight: of oracle units in the loss of a twin.
    drawn_steps: steps of every document that a stepwise model learns in an
      update, drawn anew every time from those of its example; 0 = all. What
      does not depend on the plan is computed once for all of them.
    drawn_stages: parts of a plan that they are drawn from, equally many from
      each; steps of early parts are read with fewer slots, at less cost.
    rest_share: of the probability that a step gives to choices, what all units
      share that the plan has yet to choose (`stepwise.models.rest_shares`); the
      next one has the remainder.
    stop_odds: odds of the end of a plan, as against those of the examples. A
      greedy search ends a plan as soon as the end is more probable than any
      single entry, however probable all of them are together; less than 1 makes
      its plans longer (`stepwise.models.late_stop`).
    pretraining: of a bare encoder; None = as usual.
    seed: of initial values, dropout, shuffling and sampling.
    log_every: steps between lines of metrics.
    max_loss: a training loss above it stops the run, as nan does.
    tensorboard: write event files too.
    profile: updates to trace, from the fourth on, into `profile/`; 0 = none.
  """

  model: ModelSpec
  optimizer: OptimizerConfig
  input: InputConfig
  steps: int
  evaluation: EvaluationConfig = EvaluationConfig()
  checkpoints: CheckpointConfig = CheckpointConfig()
  mesh: MeshConfig = MeshConfig()
  accumulate: int = 1
  positive_weight: float = 1.0
  drawn_steps: int = 0
  drawn_stages: int = 1
  rest_share: float = 0.0
  stop_odds: float = 1.0
  pretraining: PretrainingConfig | None = None
  seed: int = 0
  log_every: int = 10
  max_loss: float = float('inf')
  tensorboard: bool = False
  profile: int = 0

  def __post_init__(self) -> None:
    for name in ('steps', 'accumulate', 'log_every'):
      _at_least(name, getattr(self, name), 1)
    _at_least('drawn_steps', self.drawn_steps, 0)
    _at_least('drawn_stages', self.drawn_stages, 1)
    if self.drawn_stages > 1 and (
      not self.drawn_steps or self.drawn_steps % self.drawn_stages
    ):
      raise InputError(
        f'drawn_steps is {self.drawn_steps}, must be a multiple of'
        f' drawn_stages={self.drawn_stages}.'
      )
    if self.stop_odds <= 0:
      raise InputError(f'stop_odds is {self.stop_odds}, must be more than 0.')
    if not 0 <= self.rest_share < 1:
      raise InputError(
        f'rest_share is {self.rest_share}, must be at least 0 and less than 1.'
      )
    if self.rest_share and self.input.examples != 'all':
      raise InputError(
        "rest_share needs examples='all': other examples do not have the rest"
        ' of their plan.'
      )
    if self.input.batch_size % self.accumulate:
      raise InputError(
        f'batch_size is {self.input.batch_size}, must be a multiple of'
        f' accumulate={self.accumulate}.'
      )

  @property
  def learns_as_measured(self) -> bool:
    """Whether next units at all steps are learnt, as validation has them."""
    return not self.drawn_steps and not self.rest_share and self.stop_odds == 1

  @property
  def validation_batch(self) -> int:
    """Rows that are scored at once."""
    micro_batch = self.input.batch_size // self.accumulate
    return self.evaluation.batch_size or micro_batch


# What a resumed run may change: it alters no step that is still to come.
_FREE = ('steps', 'mesh', 'evaluation', 'checkpoints', 'log_every')
_FREE += ('max_loss', 'tensorboard', 'profile')


def check_same_run(config: TrainConfig, path: epath.Path) -> None:
  """Refuses to continue the run of `path` with what would change its course.

  Writes the file if there is none.
  """
  now = json.loads(json.dumps(dataclasses.asdict(config)))
  if path.exists():
    before: dict[str, Any] = json.loads(path.read_text())
    fixed = [name for name in now if name not in _FREE]
    changed = [name for name in fixed if now[name] != before.get(name)]
    if changed:
      raise InputError(
        f'{path.parent} holds a run with another {" and ".join(changed)}:'
        f' continue it with those of {path.name}, or choose another output.'
      )
  write_text(path, json.dumps(now, indent=2))


def is_local(path: epath.Path) -> bool:
  return '://' not in str(path)


def check_bucket(path: epath.Path) -> None:
  """Before the first update, not when the first checkpoint is to be deleted."""
  if str(path).startswith('gs://'):
    with needs('gcs', f'a run in {path}'):
      importlib.import_module('google.cloud.storage')


def write_text(path: epath.Path, text: str) -> None:
  """Whole or not there; in a bucket every file is."""
  if is_local(path):
    _files.write_text(Path(path), text)
  else:
    path.write_text(text)
