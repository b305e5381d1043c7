"""The training loop: update, check, log, save, evaluate."""

import functools
import logging
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import grain
import jax
import numpy as np
from etils import epath
from jax.sharding import Mesh

from stepwise import _runtime
from stepwise._errors import InputError
from stepwise.layers import choose_products, on_mesh
from stepwise.models import Loss
from stepwise.training._config import (
  TrainConfig,
  check_bucket,
  check_same_run,
  write_text,
)
from stepwise.training._input import Arrays
from stepwise.training._mesh import (
  choose_mesh,
  describe_layout,
  gather,
  local_rows,
  place_batch,
)
from stepwise.training._metrics import (
  JsonLinesWriter,
  MetricWriter,
  SpeedMeter,
  TensorBoardWriter,
)
from stepwise.training._preemption import watch_for_preemption
from stepwise.training._processes import together
from stepwise.training._stacking import restack
from stepwise.training._step import (
  JointLoss,
  Schedule,
  StepMetrics,
  TrainState,
  freeze,
  init_state,
  jit_update,
  make_optimizer,
  make_schedule,
  named_means,
  named_sums,
  start_params,
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
# Updates before a profile begins: the first ones compile.
_WARM = 3

OnStep = Callable[[int, Mapping[str, float]], object]


class DivergenceError(RuntimeError):
  """Training stopped: the loss is not finite, or above its limit."""


class PreemptionError(RuntimeError):
  """Training stopped because it was asked to; its state is saved."""


@dataclass(frozen=True)
class TrainResult:
  """What a run ends with.

  Attributes:
    model: the configuration that was trained.
    params: of the best checkpoint by its metric; without evaluation, the last;
      or the mean of some, as `CheckpointConfig.average` says.
    step: the step they were saved at, the last one of a mean.
  """

  model: Any
  params: Any
  step: int


@dataclass(frozen=True)
class Programs:
  """The compiled parts of a run, and where its state lives.

  Attributes:
    task: what is trained.
    mesh: the devices.
    schedule: of the learning rate.
    update: `(state, batch) -> (state, metrics)`.
    sums_of: `(params, batch) -> {name: LossSums}`, without dropout.
    init: the state before the first update.
    shapes: of the state, and where it lives.
    lower: by name, what makes 'update' and 'validation' for given shapes.
  """

  task: TrainingTask
  mesh: Mesh
  schedule: Schedule
  update: Callable[[TrainState, Any], tuple[TrainState, StepMetrics]]
  sums_of: Callable[[Any, Any], Any]
  init: Callable[[], TrainState]
  shapes: TrainState
  lower: Mapping[str, Callable[..., jax.stages.Lowered]]


def train(
  config: TrainConfig,
  output: epath.PathLike,
  *,
  task: TrainingTask | None = None,
  initial_params: Any = None,
  evaluators: Sequence[Evaluator] = (),
  on_step: OnStep = lambda *_: None,
) -> TrainResult:
  """Trains a model; a run that was killed continues from its checkpoint.

  `output` gets `config.json`, `layout.txt`, `metrics.jsonl` and `checkpoints/`.
  On one device a continued run ends with the very bits of an uninterrupted
  one. SIGTERM saves and raises a `PreemptionError`.

  Args:
    config: the run.
    output: its folder, or `gs://...`; created if missing.
    task: what to train; None = the selector that `config` names.
    initial_params: to start from instead of random values; a continued run
      does not look at them.
    evaluators: more metrics to compute at every evaluation.
    on_step: called after every step, with metrics if they were logged.
  """
  _runtime.prepare()
  folder = epath.Path(output)
  together(lambda: _claim(config, folder))
  task = task or selector_task(config)
  programs = together(lambda: make_programs(config, task))
  rows = local_rows(programs.mesh, config.input.batch_size)
  batches, validation = together(
    lambda: (task.open_input(rows), task.open_validation())
  )
  store = _open_store(config, folder)
  run = _Run(config, folder, programs, batches, validation, evaluators, store)
  try:
    run.begin(initial_params)
    run.finish_steps(on_step)
    store.wait()
    return _result(programs, store)
  finally:
    run.close()
    store.close()


def load_trained(
  config: TrainConfig, output: epath.PathLike, task: TrainingTask | None = None
) -> TrainResult:
  """The parameters that `train` returned, or would if it ended now."""
  store = _open_store(config, epath.Path(output))
  try:
    task = task or selector_task(config)
    return _result(make_programs(config, task), store)
  finally:
    store.close()


def make_programs(
  config: TrainConfig, task: TrainingTask, devices: Sequence[Any] | None = None
) -> Programs:
  """Everything that a run compiles, for devices that need not exist."""
  if config.mesh.sequence > 1:
    task.model.spread_length()  # Refuses models that cannot.
  schedule = make_schedule(
    config.optimizer, embed=task.embed, steps=config.steps
  )
  optimizer = make_optimizer(config.optimizer, schedule)
  mesh, rules = choose_mesh(config, devices), config.mesh.rules
  shardings = state_shardings(task.module, optimizer, mesh, task.dummy, rules)
  learnt = _without_frozen(task.loss, config.optimizer.frozen)
  update = jit_update(
    learnt, optimizer, config.accumulate, shardings, task.tokens
  )
  sums_of = jax.jit(named_sums(task.loss))
  init = functools.partial(
    init_state,
    task.module,
    optimizer,
    config.seed,
    shardings,
    task.dummy,
    functools.partial(start_params, config.optimizer),
  )
  return Programs(
    task,
    mesh,
    schedule,
    on_mesh(mesh, update, rules),
    on_mesh(mesh, sums_of, rules),
    init,
    state_shapes(task.module, optimizer, shardings, task.dummy),
    {
      'update': on_mesh(mesh, update.lower, rules),
      'validation': on_mesh(mesh, sums_of.lower, rules),
    },
  )


def _claim(config: TrainConfig, folder: epath.Path) -> None:
  check_bucket(folder)
  if jax.process_index() == 0:
    folder.mkdir(parents=True, exist_ok=True)
    check_same_run(config, folder / 'config.json')


def _open_store(config: TrainConfig, folder: epath.Path) -> CheckpointStore:
  return CheckpointStore(folder / CHECKPOINTS, config.checkpoints)


def _result(programs: Programs, store: CheckpointStore) -> TrainResult:
  steps = store.result_steps
  if not steps:
    raise InputError('there is no checkpoint yet: nothing to load.')
  params: Any = None
  for count, step in enumerate(steps, start=1):
    state, _ = store.restore(step, programs.shapes)
    found = gather(state.params, programs.mesh)
    params = found if params is None else _mean(params, found, count)
  return TrainResult(programs.task.model, params, steps[-1])


def _mean(mean: Any, last: Any, count: int) -> Any:
  """Of `count` trees, the last one and others of which there is the mean."""
  return jax.tree.map(lambda x, y: x + (y - x) / count, mean, last)


def _without_frozen(
  loss: Loss | JointLoss, frozen: tuple[str, ...]
) -> Loss | JointLoss:
  if not frozen:
    return loss
  if isinstance(loss, JointLoss):
    states: Any = _without_frozen(loss.states, frozen)
    return replace(loss, states=states)
  return lambda params, *args: loss(freeze(params, frozen), *args)


class _Run:
  """A run between its first and its last step."""

  def __init__(
    self,
    config: TrainConfig,
    folder: epath.Path,
    programs: Programs,
    batches: grain.DatasetIterator[Arrays],
    validation: Validation | None,
    evaluators: Sequence[Evaluator],
    store: CheckpointStore,
  ):
    self._config = config
    self._folder = folder
    self._programs = programs
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
      self._state = self._programs.init()
      if initial_params is not None:
        self._state = self._state._replace(params=self._place(initial_params))
    else:
      self._state, position = self._store.restore(step, self._programs.shapes)
      self._input.set_state(position)
    self._step = step or 0
    if jax.process_index() == 0:
      self._writers = list(self._open_writers())
      self._write_layout()
    if step and self._evaluation_due() and not self._store.is_scored(step):
      self._evaluate()  # The run ended before it had done so.

  def finish_steps(self, on_step: OnStep) -> None:
    """Runs all steps that are left."""
    config, before = self._config, None
    first = self._step
    self._speed = SpeedMeter(self._programs, first)
    with watch_for_preemption() as preempted:
      while self._step < config.steps:
        self._profile(self._step - first)
        arrays = next(self._input)
        batch = self._place_batch(arrays, config.input.batch_size)
        self._state, metrics = self._programs.update(self._state, batch)
        self._step += 1
        self._speed.add(batch, metrics.tokens)
        # The one before is checked while this one runs: no device waits.
        if before is not None:
          self._check(*before)
        before = (self._step, metrics, arrays)
        logged = self._log(metrics) if self._due(config.log_every) else {}
        stop = preempted(self._step)
        due = self._due(config.checkpoints.every) or self._evaluation_due()
        if stop or due:
          self._check(*before)
          self._save()
        if stop and self._step < config.steps:
          self._store.wait()
          raise PreemptionError(
            f'stopped by a signal after step {self._step}, which is saved: the'
            ' same command continues.'
          )
        if self._evaluation_due():
          self._evaluate()
          self._speed.restart(self._step)
        on_step(self._step, logged)

  def close(self) -> None:
    for writer in self._writers:
      writer.close()

  def _due(self, interval: int) -> bool:
    return self._step == self._config.steps or self._step % interval == 0

  def _evaluation_due(self) -> bool:
    every = self._config.evaluation.every
    return self._validation is not None and self._due(every)

  def _place(self, params: Any) -> Any:
    """Given parameters, checked and put where those of the model belong."""
    shapes = self._programs.shapes.params
    params = restack(params, shapes)
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

  def _open_writers(self) -> Iterator[MetricWriter]:
    yield JsonLinesWriter(self._folder / METRICS, after=self._step)
    if self._config.tensorboard:
      yield TensorBoardWriter(self._folder / 'tensorboard', after=self._step)

  def _write_layout(self) -> None:
    """What is spread over which devices."""
    mesh = dict(self._programs.mesh.shape)
    sizes = ', '.join(f'{axis} {size}' for axis, size in mesh.items())
    products = choose_products(self._config.model.products)
    lines = [
      f'mesh: {sizes}',
      f'products: {products}',
      *describe_layout(self._programs.shapes.params),
    ]
    for line in lines:
      logging.getLogger(__name__).info(line)
    write_text(self._folder / 'layout.txt', '\n'.join(lines) + '\n')

  def _profile(self, done: int) -> None:
    """Traces some updates, for TensorBoard or Perfetto."""
    updates = self._config.profile
    if updates and done == _WARM:
      jax.profiler.start_trace(os.fspath(self._folder / 'profile'))
    if updates and done == _WARM + updates:
      jax.block_until_ready(self._state)
      jax.profiler.stop_trace()

  def _check(self, step: int, metrics: StepMetrics, arrays: Arrays) -> None:
    check_finite(
      step,
      metrics,
      arrays,
      max_loss=self._config.max_loss,
      folder=self._folder,
    )

  def _log(self, metrics: StepMetrics) -> dict[str, float]:
    means = metrics._asdict() | metrics.parts
    numbers = {
      f'train/{name}': float(value)
      for name, value in means.items()
      if name not in ('tokens', 'parts')
    }
    rate = float(self._programs.schedule(self._step - 1))
    numbers['train/learning_rate'] = rate
    numbers |= self._speed.measure(self._step)
    self._write(numbers)
    return numbers

  def _write(self, numbers: Mapping[str, float]) -> None:
    for writer in self._writers:
      writer.write(self._step, numbers)

  def _evaluate(self) -> None:
    """Metrics of the checkpoint that was just saved."""
    assert self._validation is not None
    params, rows = self._state.params, self._config.validation_batch
    batches = self._validation.batches(local_rows(self._programs.mesh, rows))
    placed = (self._place_batch(arrays, rows) for arrays in batches)
    numbers = mean_loss(self._programs.sums_of, params, placed)
    if self._evaluators:
      whole = gather(params, self._programs.mesh)
      for evaluator in self._evaluators:
        numbers |= evaluator(whole)
    self._write(numbers)
    self._store.score(self._step, numbers)

  def _place_batch(self, arrays: Arrays, rows: int) -> Any:
    programs = self._programs
    return place_batch(arrays, programs.mesh, programs.task.batch, rows)

  def _save(self) -> None:
    self._store.save(self._step, self._state, self._input.get_state())


def _leaves_with_path(tree: Any) -> list[tuple[Any, Any]]:
  return jax.tree_util.tree_flatten_with_path(tree)[0]


def mean_loss(
  sums_of: Callable[[Any, Any], Any], params: Any, batches: Iterable[Any]
) -> dict[str, float]:
  """Mean losses and accuracies over all terms of all batches.

  Args:
    sums_of: `(params, batch) -> {name: LossSums}`, without dropout.
    params: of the model.
    batches: on the devices.
  """
  total: dict[str, Any] = {'': np.zeros(3)}
  for batch in batches:
    for name, sums in jax.device_get(sums_of(params, batch)).items():
      total[name] = total.get(name, 0) + np.array(sums, float)
  means = named_means(total)
  return {f'validation/{name}': float(mean) for name, mean in means.items()}


def check_finite(
  step: int,
  metrics: StepMetrics,
  arrays: Arrays,
  *,
  max_loss: float,
  folder: epath.Path,
) -> None:
  """Raises a `DivergenceError` if an update went wrong.

  The batch is written to `diverged_STEP.npz`, under the names of its arrays;
  with the newest checkpoint before the step it can be replayed. Every process
  writes its rows.
  """
  loss, norm = float(metrics.loss), float(metrics.gradient_norm)
  if math.isfinite(loss) and math.isfinite(norm) and loss <= max_loss:
    return
  process = jax.process_index()
  suffix = f'_{process}' if process else ''
  path = folder / f'diverged_{step}{suffix}.npz'
  with path.open('wb') as stream:
    np.savez_compressed(stream, step=step, **arrays)  # pyright: ignore
  raise DivergenceError(
    f'training diverged at step {step}: the loss is {loss:g} (limit'
    f' {max_loss:g}), the gradient norm {norm:g}; the batch is in {path}.'
  )
