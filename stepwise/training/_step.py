"""One update: the optimizer, the state of a run, and how a batch changes it."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import traverse_util
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from stepwise._errors import InputError
from stepwise._typing import Array, Float, Int
from stepwise.layers import Rules, on_mesh
from stepwise.models import Batch, Loss, LossSums, ModelConfig
from stepwise.training._config import OptimizerConfig
from stepwise.training._mesh import ROWS, Dummy, param_layout

Schedule = Callable[[Any], jax.Array]

_NOT_DECAYED = ('bias', 'scale')


class TrainState(NamedTuple):
  """Everything that updates change, and the key they draw from.

  Attributes:
    step: updates so far.
    params: of the model.
    opt_state: of the optimizer.
    rng: key data; never changes, every update folds its step into it.
  """

  step: Int[Array, '']
  params: Any
  opt_state: Any
  rng: Array


class StepMetrics(NamedTuple):
  """Of one update; the loss is that before it.

  Attributes:
    loss, accuracy: means over the batch.
    gradient_norm: before it is clipped.
    tokens: real ones.
    parts: losses and accuracies by name, where a loss has parts.
  """

  loss: Float[Array, '']
  accuracy: Float[Array, '']
  gradient_norm: Float[Array, '']
  tokens: Int[Array, '']
  parts: dict[str, Float[Array, '']]


@dataclass(frozen=True)
class JointLoss:
  """A loss that compares rows of a whole batch, in one piece or in many.

  Its gradient does not depend on how a batch is cut: micro-batches are read
  twice, first for the states of all rows, then, when the gradients of these are
  known, for those of the parameters (gradient caching, Gao et al. 2021).

  Attributes:
    states: `(params, batch, rng) -> states`, arrays of floats by rows.
    parts: `(states, batch) -> {name: LossSums}`.
    total: `parts -> LossSums`.
  """

  states: Callable[..., Any]
  parts: Callable[[Any, Any], dict[str, LossSums]]
  total: Callable[[Mapping[str, LossSums]], LossSums]

  def __call__(
    self, params: Any, batch: Any, rng: Array | None = None
  ) -> LossSums:
    return self.total(self.parts(self.states(params, batch, rng), batch))


def named_sums(
  loss: Loss | JointLoss,
) -> Callable[..., dict[str, LossSums]]:
  """`(params, batch, rng) -> sums`: all of it as '', and parts by name."""
  if not isinstance(loss, JointLoss):
    return lambda *args: {'': loss(*args)}

  def sums(params: Any, batch: Any, *rng: Any) -> dict[str, LossSums]:
    parts = loss.parts(loss.states(params, batch, *(rng or (None,))), batch)
    return {'': loss.total(parts), **parts}

  return sums


def named_means(sums: Mapping[str, Any]) -> dict[str, Any]:
  """Mean loss and accuracy of each; `mlm_loss` of sums named `mlm`."""
  means = {}
  for name, (loss, weight, correct) in sums.items():
    start, count = f'{name}_' if name else '', weight + (weight == 0)
    means |= {f'{start}loss': loss / count}
    means |= {f'{start}accuracy': correct / count}
  return means


def make_schedule(
  config: OptimizerConfig, *, embed: int, steps: int
) -> Schedule:
  """Learning rate of update t, counted from 1.

  With warm-up w and n steps:

    constant      base min(1, t / w)
    linear        base min(t / w, (n - t) / (n - w))
    inverse_sqrt  base embed^-0.5 min(t^-0.5, t w^-1.5)
  """
  base, warmup = config.learning_rate, config.warmup

  def schedule(count: Any) -> jax.Array:
    # optax counts updates from 0.
    t = jnp.asarray(count, jnp.float32) + 1
    growth = t / max(warmup, 1)
    if config.schedule == 'inverse_sqrt':
      scale = base * embed**-0.5
      return scale * jnp.minimum(t**-0.5, t * warmup**-1.5)
    if config.schedule == 'linear':
      decay = (steps - t) / max(steps - warmup, 1)
      return base * jnp.clip(jnp.minimum(growth, decay), 0, 1)
    return base * jnp.minimum(growth, 1)

  return schedule


def make_optimizer(
  config: OptimizerConfig, schedule: Schedule
) -> optax.GradientTransformation:
  """Clips, adapts, decays and scales, in this order."""
  adam = optax.scale_by_adam if config.bias_correction else scale_by_raw_adam
  parts = [adam(b1=config.beta1, b2=config.beta2, eps=config.epsilon)]
  if config.clip_norm is not None:
    parts.insert(0, optax.clip_by_global_norm(config.clip_norm))
  if config.weight_decay:
    parts.append(optax.add_decayed_weights(config.weight_decay, decay_mask))
  parts.append(optax.scale_by_learning_rate(schedule))
  if config.frozen:
    mask = functools.partial(frozen_mask, prefixes=config.frozen)
    parts.append(optax.masked(optax.set_to_zero(), mask))
  return optax.chain(*parts)


def scale_by_raw_adam(
  b1: float, b2: float, eps: float
) -> optax.GradientTransformation:
  """Adam without bias correction, as BERT and ETC were trained.

    m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;  update m / (sqrt(v) + e)

  The first updates are larger: m and v grow from 0 at different speeds.
  """

  def init(params: Any) -> optax.ScaleByAdamState:
    zeros = optax.tree.zeros_like(params)
    return optax.ScaleByAdamState(jnp.zeros([], jnp.int32), zeros, zeros)

  def update(
    updates: Any, state: optax.ScaleByAdamState, params: Any = None
  ) -> tuple[Any, optax.ScaleByAdamState]:
    del params
    mu = optax.tree.update_moment(updates, state.mu, b1, 1)
    nu = optax.tree.update_moment(updates, state.nu, b2, 2)
    scaled = jax.tree.map(lambda m, v: m / (jnp.sqrt(v) + eps), mu, nu)
    count = optax.safe_increment(state.count)
    return scaled, optax.ScaleByAdamState(count, mu, nu)

  return optax.GradientTransformation(init, update)  # pyright: ignore


def frozen_mask(params: Any, prefixes: tuple[str, ...]) -> Any:
  """True for parameters whose path begins with one of the prefixes."""
  wanted = [tuple(prefix.split('/')) for prefix in prefixes]

  def frozen(path: tuple[Any, ...], leaf: Any) -> bool:
    del leaf
    names = tuple(entry.key for entry in path)
    return any(names[: len(prefix)] == prefix for prefix in wanted)

  return jax.tree_util.tree_map_with_path(frozen, params)


def freeze(params: Any, prefixes: tuple[str, ...]) -> Any:
  """The same values; no gradient flows to those that are frozen."""
  mask = frozen_mask(params, prefixes)
  for prefix in prefixes:
    if not any(jax.tree.leaves(frozen_mask(params, (prefix,)))):
      raise InputError(f'frozen has {prefix!r}, but no parameter is there.')
  return jax.tree.map(
    lambda leaf, frozen: jax.lax.stop_gradient(leaf) if frozen else leaf,
    params,
    mask,
  )


def decay_mask(params: Any) -> Any:
  """True for what decays: all but biases and the parameters of norms."""

  def decays(path: tuple[Any, ...], leaf: Any) -> bool:
    del leaf
    return path[-1].key not in _NOT_DECAYED

  return jax.tree_util.tree_map_with_path(decays, params)


def state_shardings(
  model: nn.Module,
  optimizer: optax.GradientTransformation,
  mesh: Mesh,
  dummy: Dummy,
  rules: Rules = (),
) -> TrainState:
  """Where every part of the state lives; moments lie beside parameters.

  `dummy` makes the smallest arguments of the model; `rules` replace others.
  """
  values, params = param_layout(model, mesh, dummy, rules)
  whole = NamedSharding(mesh, PartitionSpec())
  shapes = jax.eval_shape(optimizer.init, values)
  moments = optax.tree.map_params(
    optimizer,
    lambda _, sharding: sharding,
    shapes,
    params,
    transform_non_params=lambda _: whole,
  )
  return TrainState(whole, params, moments, whole)  # pyright: ignore


def init_state(
  model: nn.Module,
  optimizer: optax.GradientTransformation,
  seed: int,
  shardings: TrainState,
  dummy: Dummy,
  start: Callable[[Any], Any] = lambda params: params,
) -> TrainState:
  """The state before the first update, created where it belongs.

  `start` changes the initial parameters.
  """

  init = functools.partial(_new_state, model, optimizer, seed, dummy, start)
  return jax.jit(init, out_shardings=shardings)()


def _new_state(
  model: nn.Module,
  optimizer: optax.GradientTransformation,
  seed: int,
  dummy: Dummy,
  start: Callable[[Any], Any] = lambda params: params,
) -> TrainState:
  param_key, step_key = jax.random.split(jax.random.key(seed))
  params = start(nn.unbox(model.init(param_key, *dummy()))['params'])
  return TrainState(
    jnp.zeros([], jnp.int32),
    params,
    optimizer.init(params),
    jax.random.key_data(step_key),
  )


def scale_params(params: Any, scales: Sequence[tuple[str, float]]) -> Any:
  """Parameters, multiplied where their path has one of these endings."""
  used = set()

  def scaled(path: Any, value: Array) -> Array:
    name = '/' + '/'.join(str(part.key) for part in path)
    for ending, factor in scales:
      if name.endswith(f'/{ending}'):
        used.add(ending)
        value = value * factor
    return value

  made = jax.tree_util.tree_map_with_path(scaled, params)
  for ending, _ in scales:
    if ending not in used:
      raise InputError(f'start_scales: no parameter ends with {ending!r}.')
  return made


def same_params(params: Any, pairs: Sequence[tuple[str, str]]) -> Any:
  """Parameters, those with the first ending replaced by those of the second."""
  flat: dict[str, Any] = traverse_util.flatten_dict(params, sep='/')
  for ending, other in pairs:
    paths = [path for path in flat if f'/{path}'.endswith(f'/{ending}')]
    if not paths:
      raise InputError(f'start_same: no parameter ends with {ending!r}.')
    for path in paths:
      source = path.removesuffix(ending) + other
      if source not in flat or flat[source].shape != flat[path].shape:
        raise InputError(
          f'start_same: {path} cannot start as {source}, which is missing or'
          ' of another shape.'
        )
      flat[path] = flat[source]
  return traverse_util.unflatten_dict(flat, sep='/')


def start_params(config: OptimizerConfig, params: Any) -> Any:
  """What a run begins with, from the model's own initial values."""
  scaled = scale_params(params, config.start_scales)
  return same_params(scaled, config.start_same)


def row_tokens(batch: Batch) -> Int[Array, ' batch']:
  """Real tokens of every document; a row without any is empty."""
  return (batch.unit_ids >= 0).sum(axis=1)


def make_update(
  loss: Loss | JointLoss,
  optimizer: optax.GradientTransformation,
  accumulate: int,
  tokens: Callable[[Any], Array] = row_tokens,
) -> Callable[[TrainState, Any], tuple[TrainState, StepMetrics]]:
  """One update, not compiled: `(state, batch) -> (state, metrics)`.

  The gradient is that of the mean over the terms of the whole batch, however
  many micro-batches it is summed from. A batch with empty rows, the last one of
  its size, counts as the part of a batch that it is.
  """

  def update(state: TrainState, batch: Any) -> tuple[TrainState, StepMetrics]:
    key = jax.random.wrap_key_data(state.rng)
    keys = jax.random.split(jax.random.fold_in(key, state.step), accumulate)
    sums, grads = sum_gradients(loss, state.params, batch, keys)
    rows = tokens(batch)
    scale = (rows > 0).mean() / jnp.maximum(sums[''].weight, 1)
    grads = jax.tree.map(lambda g: g * scale.astype(g.dtype), grads)
    updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    means = named_means(sums)
    metrics = StepMetrics(
      means.pop('loss'),
      means.pop('accuracy'),
      optax.tree.norm(grads),
      rows.sum(),
      means,
    )
    return TrainState(state.step + 1, params, opt_state, state.rng), metrics

  return update


def jit_update(
  loss: Loss | JointLoss,
  optimizer: optax.GradientTransformation,
  accumulate: int,
  shardings: TrainState,
  tokens: Callable[[Any], Array] = row_tokens,
) -> Any:
  """`make_update`, compiled; the state it is given is used up."""
  return jax.jit(
    make_update(loss, optimizer, accumulate, tokens),
    donate_argnums=0,
    out_shardings=(shardings, None),
  )


def state_shapes(
  model: nn.Module,
  optimizer: optax.GradientTransformation,
  shardings: TrainState,
  dummy: Dummy,
) -> TrainState:
  """The state without its values, and where it lives."""
  shapes = jax.eval_shape(lambda: _new_state(model, optimizer, 0, dummy))
  return jax.tree.map(
    lambda x, s: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=s),
    shapes,
    shardings,
  )


def lower_update(
  config: ModelConfig,
  optimizer: optax.GradientTransformation,
  mesh: Mesh,
  batch: Batch,
  accumulate: int = 1,
  rules: Rules = (),
) -> jax.stages.Lowered:
  """The update that `train` runs, for devices that need not exist.

  Args:
    config: the model.
    optimizer: from `make_optimizer`.
    mesh: over real devices or those of a topology description; if it has the
      axis `sequence`, the tokens of a document are spread over it.
    batch: shapes are enough.
    accumulate: micro-batches.
    rules: of sharding, that replace others of the same names.
  """
  if 'sequence' in mesh.shape:
    config = config.spread_length()
  model, dummy = config.build(), config.smallest_inputs
  shardings = state_shardings(model, optimizer, mesh, dummy, rules)
  update = jit_update(config.loss(model), optimizer, accumulate, shardings)
  rows = NamedSharding(mesh, ROWS)
  placed = jax.tree.map(
    lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=rows), batch
  )
  shapes = state_shapes(model, optimizer, shardings, dummy)
  return on_mesh(mesh, update.lower, rules)(shapes, placed)


def sum_gradients(
  loss: Loss | JointLoss, params: Any, batch: Any, keys: Array
) -> tuple[dict[str, LossSums], Any]:
  """Sums of a batch and their gradient, over micro-batches, one per key."""

  def grads_of(micro: Any, key: Array) -> tuple[dict[str, LossSums], Any]:
    def total(params: Any) -> tuple[Array, dict[str, LossSums]]:
      sums = named_sums(loss)(params, micro, key)
      return sums[''].loss, sums

    grads, sums = jax.grad(total, has_aux=True)(params)
    return sums, grads

  if len(keys) == 1:
    return grads_of(batch, keys[0])
  if isinstance(loss, JointLoss):
    return _joint_gradients(loss, params, batch, keys)
  parts = jax.tree.map(lambda x: _split_rows(x, len(keys)), batch)
  return _sum_over(grads_of, (parts, keys))


def _joint_gradients(
  loss: JointLoss, params: Any, batch: Any, keys: Array
) -> tuple[dict[str, LossSums], Any]:
  split = functools.partial(
    jax.tree.map, lambda rows: _split_rows(rows, len(keys))
  )
  parts = split(batch)
  states = jax.lax.map(lambda part: loss.states(params, *part), (parts, keys))
  whole = jax.tree.map(_join_rows, states)

  def total(states: Any) -> tuple[Array, dict[str, LossSums]]:
    sums = loss.parts(states, batch)
    sums = {'': loss.total(sums), **sums}
    return sums[''].loss, sums

  wanted, sums = jax.grad(total, has_aux=True)(whole)

  def grads_of(micro: Any, key: Array, wanted: Any) -> Any:
    _, pull = jax.vjp(lambda params: loss.states(params, micro, key), params)
    return pull(wanted)[0]

  return sums, _sum_over(grads_of, (parts, keys, split(wanted)))


def _sum_over(function: Callable[..., Any], parts: tuple[Any, ...]) -> Any:
  """Sum of a function of every part, one after another."""

  def add(total: Any, part: tuple[Any, ...]) -> tuple[Any, None]:
    return jax.tree.map(jnp.add, total, function(*part)), None

  first = jax.tree.map(lambda x: x[0], parts)
  zeros = jax.tree.map(
    lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(function, *first)
  )
  return jax.lax.scan(add, zeros, parts)[0]


def _split_rows(array: Array, parts: int) -> Array:
  """Micro-batches of every `parts`-th row: each stays spread over devices."""
  rows = array.reshape(-1, parts, *array.shape[1:])
  return jnp.swapaxes(rows, 0, 1)


def _join_rows(parts: Array) -> Array:
  """Undoes `_split_rows`."""
  return jnp.swapaxes(parts, 0, 1).reshape(-1, *parts.shape[2:])
