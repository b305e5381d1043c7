"""The training loop: update, check, log, evaluate, save."""

import functools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grain
import jax
import numpy as np
from jax.sharding import Mesh

from stepwise._errors import InputError
from stepwise._files import replacing
from stepwise.models import Loss
from stepwise.training._config import TrainConfig, check_same_run
from stepwise.training._input import Arrays
from stepwise.training._mesh import (
  choose_mesh,
  gather,
  place_batch,
  with_rules,
)
from stepwise.training._metrics import (
  JsonLinesWriter,
  MetricWriter,
  TensorBoardWriter,
)
from stepwise.training._step import (
  Schedule,
  StepMetrics,
  TrainState,
  freeze,
  init_state,
  jit_update,
  make_optimizer,
  make_schedule,
  state_shapes,
  state_shardings,
)
from stepwise.training._store import CheckpointStore
from stepwise.training._task import (
  Evaluator,
  TrainingTask,
  Validation,
  selector_task,
)

CHECKPOINTS = 'checkpoints'
METRICS = 'metrics.jsonl'


class DivergenceError(RuntimeError):
  """Training stopped: the loss is not finite, or above its limit."""


@dataclass(frozen=True)
class TrainResult:
  """What a run ends with.

  Attributes:
    model: the configuration that was trained.
    params: of the best checkpoint by its metric; without evaluation, the last.
    step: the step they were saved at.
  """

  model: Any
  params: Any
  step: int


@dataclass(frozen=True)
class _Problem:
  """The compiled parts of a run, and where its state lives."""

  task: TrainingTask
  mesh: Mesh
  schedule: Schedule
  update: Callable[[TrainState, Any], tuple[TrainState, StepMetrics]]
  sums_of: Callable[[Any, Any], Any]
  init: Callable[[], TrainState]
  shapes: TrainState


def train(
  config: TrainConfig,
  output: Path,
  *,
  task: TrainingTask | None = None,
  initial_params: Any = None,
  evaluators: Sequence[Evaluator] = (),
  on_step: Callable[[int, Mapping[str, float]], object] = lambda *_: None,
) -> TrainResult:
  """Trains a model; a run that was killed continues from its checkpoint.

  `output` gets `config.json`, `metrics.jsonl` and `checkpoints/`. On one
  device a continued run ends with the very bits of an uninterrupted one.

  Args:
    config: the run.
    output: its folder; created if missing.
    task: what to train; None = the selector that `config` names.
    initial_params: to start from instead of random values; a continued run
      does not look at them.
    evaluators: more metrics to compute at every evaluation.
    on_step: called after every step, with metrics if they were logged.
  """
  output = Path(output)
  if jax.process_index() == 0:
    output.mkdir(parents=True, exist_ok=True)
    check_same_run(config, output / 'config.json')
  task = task or selector_task(config)
  problem = _make_problem(config, task)
  batches, validation = task.open_input(), task.open_validation()
  store = _open_store(config, output)
  run = _Run(config, output, problem, batches, validation, evaluators, store)
  try:
    run.begin(initial_params)
    run.finish_steps(on_step)
    store.wait()
    return _result(problem, store)
  finally:
    run.close()
    store.close()


def load_trained(
  config: TrainConfig, output: Path, task: TrainingTask | None = None
) -> TrainResult:
  """The parameters that `train` returned, or would if it ended now."""
  store = _open_store(config, Path(output))
  try:
    task = task or selector_task(config)
    return _result(_make_problem(config, task), store)
  finally:
    store.close()


def _open_store(config: TrainConfig, output: Path) -> CheckpointStore:
  ranked = config.evaluation.validation is not None
  folder = output / CHECKPOINTS
  return CheckpointStore(folder, config.checkpoints, ranked=ranked)


def _result(problem: _Problem, store: CheckpointStore) -> TrainResult:
  step = store.best_step
  step = store.latest_step if step is None else step
  if step is None:
    raise InputError('there is no checkpoint yet: nothing to load.')
  state, _ = store.restore(step, problem.shapes)
  return TrainResult(
    problem.task.model, gather(state.params, problem.mesh), step
  )


def _make_problem(config: TrainConfig, task: TrainingTask) -> _Problem:
  schedule = make_schedule(
    config.optimizer, embed=task.embed, steps=config.steps
  )
  optimizer = make_optimizer(config.optimizer, schedule)
  mesh = choose_mesh(config.mesh, config.input.batch_size, config.accumulate)
  shardings = state_shardings(task.module, optimizer, mesh, task.dummy)
  learnt = _without_frozen(task.loss, config.optimizer.frozen)
  update = jit_update(learnt, optimizer, config.accumulate, shardings)
  init = functools.partial(
    init_state, task.module, optimizer, config.seed, shardings, task.dummy
  )
  return _Problem(
    task,
    mesh,
    schedule,
    with_rules(mesh, update),
    with_rules(mesh, jax.jit(task.loss)),
    init,
    state_shapes(task.module, optimizer, shardings, task.dummy),
  )


def _without_frozen(loss: Loss, frozen: tuple[str, ...]) -> Loss:
  if not frozen:
    return loss
  return lambda params, *args: loss(freeze(params, frozen), *args)


class _Run:
  """A run between its first and its last step."""

  def __init__(
    self,
    config: TrainConfig,
    output: Path,
    problem: _Problem,
    batches: grain.DatasetIterator[Arrays],
    validation: Validation | None,
    evaluators: Sequence[Evaluator],
    store: CheckpointStore,
  ):
    self._config = config
    self._output = output
    self._problem = problem
    self._validation = validation
    more = validation.evaluators if validation else ()
    self._evaluators = [*evaluators, *more]
    self._store = store
    self._input = batches
    self._writers: list[MetricWriter] = []

  def begin(self, initial_params: Any) -> None:
    """Takes up the newest checkpoint, or the initial values."""
    step = self._store.latest_step
    if step is None:
      self._state = self._problem.init()
      if initial_params is not None:
        self._state = self._state._replace(params=self._place(initial_params))
    else:
      self._state, position = self._store.restore(step, self._problem.shapes)
      self._input.set_state(position)
    self._step = step or 0
    if jax.process_index() == 0:
      self._writers = self._open_writers()

  def finish_steps(
    self, on_step: Callable[[int, Mapping[str, float]], object]
  ) -> None:
    """Runs all steps that are left."""
    config, before = self._config, None
    self._clock = (time.monotonic(), self._step)
    while self._step < config.steps:
      arrays = next(self._input)
      batch = self._place_batch(arrays)
      self._state, metrics = self._problem.update(self._state, batch)
      self._step += 1
      # The one before is checked while this one runs: no device waits.
      if before is not None:
        self._check(*before)
      before = (self._step, metrics, arrays)
      logged = self._log(*before) if self._due(config.log_every) else {}
      if self._due(config.checkpoints.every, self._evaluation_every()):
        self._check(*before)
        self._save(self._evaluate())
      self._store.seal_finished()
      on_step(self._step, logged)

  def close(self) -> None:
    for writer in self._writers:
      writer.close()

  def _due(self, *intervals: int | None) -> bool:
    last = self._step == self._config.steps
    return last or any(i and self._step % i == 0 for i in intervals)

  def _evaluation_every(self) -> int | None:
    return self._config.evaluation.every if self._validation else None

  def _place(self, params: Any) -> Any:
    """Given parameters, checked and put where those of the model belong."""
    shapes = self._problem.shapes.params
    given, needed = (
      {jax.tree_util.keystr(path): leaf.shape for path, leaf in leaves}
      for leaves in map(_leaves_with_path, (params, shapes))
    )
    if given != needed:
      wrong = sorted(set(given.items()) ^ set(needed.items()))
      raise InputError(
        f'initial parameters do not fit {self._config.model.name}, first at'
        f' {wrong[0][0]}.'
      )
    return jax.tree.map(
      lambda x, s: jax.device_put(x.astype(s.dtype), s.sharding), params, shapes
    )

  def _open_writers(self) -> list[MetricWriter]:
    after = self._step
    writers: list[MetricWriter] = [
      JsonLinesWriter(self._output / METRICS, after=after)
    ]
    if self._config.tensorboard:
      folder = self._output / 'tensorboard'
      writers.append(TensorBoardWriter(folder, after=after))
    return writers

  def _check(self, step: int, metrics: StepMetrics, arrays: Arrays) -> None:
    check_finite(
      step,
      metrics,
      arrays,
      max_loss=self._config.max_loss,
      output=self._output,
    )

  def _log(
    self, step: int, metrics: StepMetrics, arrays: Arrays
  ) -> dict[str, float]:
    del arrays
    numbers = {
      f'train/{name}': float(value)
      for name, value in zip(metrics._fields, metrics, strict=True)
    }
    rate = float(self._problem.schedule(step - 1))
    now, (then, since) = time.monotonic(), self._clock
    numbers['train/learning_rate'] = rate
    numbers['train/steps_per_second'] = (step - since) / max(now - then, 1e-9)
    self._clock = (now, step)
    self._write(numbers)
    return numbers

  def _write(self, numbers: Mapping[str, float]) -> None:
    for writer in self._writers:
      writer.write(self._step, numbers)

  def _evaluate(self) -> dict[str, float] | None:
    """Metrics of this step, if it is one of evaluation."""
    if self._validation is None or not self._due(self._evaluation_every()):
      return None
    params = self._state.params
    batches = map(self._place_batch, self._validation.batches())
    numbers = mean_loss(self._problem.sums_of, params, batches)
    if self._evaluators:
      whole = gather(params, self._problem.mesh)
      for evaluator in self._evaluators:
        numbers |= evaluator(whole)
    self._write(numbers)
    return numbers

  def _place_batch(self, arrays: Arrays) -> Any:
    return place_batch(arrays, self._problem.mesh, self._problem.task.batch)

  def _save(self, metrics: dict[str, float] | None) -> None:
    position = self._input.get_state()
    self._store.save(self._step, self._state, position, metrics)


def _leaves_with_path(tree: Any) -> list[tuple[Any, Any]]:
  return jax.tree_util.tree_flatten_with_path(tree)[0]


def mean_loss(
  sums_of: Callable[[Any, Any], Any], params: Any, batches: Iterable[Any]
) -> dict[str, float]:
  """Mean loss and accuracy over all terms of all batches.

  Args:
    sums_of: `(params, batch) -> LossSums`, without dropout.
    params: of the model.
    batches: on the devices.
  """
  total = np.zeros(3)
  for batch in batches:
    total += np.array(jax.device_get(sums_of(params, batch)), float)
  loss, weight, correct = total
  return {
    'validation/loss': loss / max(weight, 1),
    'validation/accuracy': correct / max(weight, 1),
  }


def check_finite(
  step: int,
  metrics: StepMetrics,
  arrays: dict[str, np.ndarray],
  *,
  max_loss: float,
  output: Path,
) -> None:
  """Raises a `DivergenceError` if an update went wrong.

  The batch is written to `diverged_STEP.npz`, under the names of its arrays;
  with the newest checkpoint before the step it can be replayed.
  """
  loss, norm = float(metrics.loss), float(metrics.gradient_norm)
  if math.isfinite(loss) and math.isfinite(norm) and loss <= max_loss:
    return
  path = output / f'diverged_{step}.npz'
  with replacing(path) as beside:
    np.savez_compressed(beside, step=step, **arrays)  # pyright: ignore
  raise DivergenceError(
    f'training diverged at step {step}: the loss is {loss:g} (limit'
    f' {max_loss:g}), the gradient norm {norm:g}; the batch is in {path}.'
  )
