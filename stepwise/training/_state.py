"""The state of a run, and one update of it."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from stepwise._errors import InputError
from stepwise._typing import Array, Float, Int
from stepwise.layers import DEFAULT_RULES, make_mesh, param_shardings
from stepwise.models import Batch, LossSums, build_model
from stepwise.training._config import MeshConfig
from stepwise.training._models import (
  Loss,
  Selector,
  dummy_batch,
  loss_of,
)

# Makes the smallest arguments of a model, to initialise it.
Dummy = Callable[[], tuple[Any, ...]]


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
  """Of one update; the loss is that before it."""

  loss: Float[Array, '']
  accuracy: Float[Array, '']
  gradient_norm: Float[Array, '']


def choose_mesh(config: MeshConfig, batch_size: int, accumulate: int) -> Mesh:
  """The mesh; every micro-batch must spread evenly over its data axis."""
  devices = jax.device_count()
  data = config.data or max(devices // config.model, 1)
  if data * config.model > devices:
    raise InputError(
      f'a {data} x {config.model} mesh needs {data * config.model} devices,'
      f' there are {devices}.'
    )
  if batch_size // accumulate % data:
    raise InputError(
      f'batch_size is {batch_size} in {accumulate} micro-batches, each must be'
      f' a multiple of the {data} data devices.'
    )
  return make_mesh(data, config.model)


def state_shardings(
  model: nn.Module,
  optimizer: optax.GradientTransformation,
  mesh: Mesh,
  dummy: Dummy = lambda: (dummy_batch(),),
) -> TrainState:
  """Where every part of the state lives; moments lie beside parameters.

  `dummy` makes the smallest arguments of the model.
  """
  boxed = jax.eval_shape(model.init, jax.random.key(0), *dummy())
  params = param_shardings(boxed, mesh)['params']
  whole = NamedSharding(mesh, PartitionSpec())
  shapes = jax.eval_shape(optimizer.init, nn.unbox(boxed)['params'])
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
  dummy: Dummy = lambda: (dummy_batch(),),
) -> TrainState:
  """The state before the first update, created where it belongs."""

  init = functools.partial(_new_state, model, optimizer, seed, dummy)
  return jax.jit(init, out_shardings=shardings)()


def _new_state(
  model: nn.Module,
  optimizer: optax.GradientTransformation,
  seed: int,
  dummy: Dummy,
) -> TrainState:
  param_key, step_key = jax.random.split(jax.random.key(seed))
  params = nn.unbox(model.init(param_key, *dummy()))['params']
  return TrainState(
    jnp.zeros([], jnp.int32),
    params,
    optimizer.init(params),
    jax.random.key_data(step_key),
  )


def make_update(
  loss: Loss, optimizer: optax.GradientTransformation, accumulate: int
) -> Callable[[TrainState, Any], tuple[TrainState, StepMetrics]]:
  """One update, not compiled: `(state, batch) -> (state, metrics)`.

  The gradient is that of the mean over the terms of the whole batch, however
  many micro-batches it is summed from.
  """

  def update(state: TrainState, batch: Any) -> tuple[TrainState, StepMetrics]:
    key = jax.random.wrap_key_data(state.rng)
    keys = jax.random.split(jax.random.fold_in(key, state.step), accumulate)
    sums, grads = _sum_gradients(loss, state.params, batch, keys)
    weight = jnp.maximum(sums.weight, 1)
    grads = jax.tree.map(lambda g: g / weight.astype(g.dtype), grads)
    updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    metrics = StepMetrics(
      sums.mean, sums.correct / weight, optax.tree.norm(grads)
    )
    return TrainState(state.step + 1, params, opt_state, state.rng), metrics

  return update


def jit_update(
  loss: Loss,
  optimizer: optax.GradientTransformation,
  accumulate: int,
  shardings: TrainState,
) -> Any:
  """`make_update`, compiled; the state it is given is used up."""
  return jax.jit(
    make_update(loss, optimizer, accumulate),
    donate_argnums=0,
    out_shardings=(shardings, None),
  )


def state_shapes(
  model: nn.Module,
  optimizer: optax.GradientTransformation,
  shardings: TrainState,
  dummy: Dummy = lambda: (dummy_batch(),),
) -> TrainState:
  """The state without its values, and where it lives."""
  shapes = jax.eval_shape(lambda: _new_state(model, optimizer, 0, dummy))
  return jax.tree.map(
    lambda x, s: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=s),
    shapes,
    shardings,
  )


def lower_update(
  config: Selector,
  optimizer: optax.GradientTransformation,
  mesh: Mesh,
  batch: Batch,
  accumulate: int = 1,
) -> jax.stages.Lowered:
  """The update that `train` runs, for devices that need not exist.

  Args:
    config: the model.
    optimizer: from `make_optimizer`.
    mesh: over real devices or those of a topology description.
    batch: shapes are enough.
    accumulate: micro-batches.
  """
  model = build_model(config)
  shardings = state_shardings(model, optimizer, mesh)
  update = jit_update(loss_of(config, model), optimizer, accumulate, shardings)
  rows = NamedSharding(mesh, PartitionSpec('data'))
  placed = jax.tree.map(
    lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=rows), batch
  )
  shapes = state_shapes(model, optimizer, shardings)
  return with_rules(mesh, update.lower)(shapes, placed)


def _sum_gradients(
  loss: Loss, params: Any, batch: Any, keys: Array
) -> tuple[LossSums, Any]:
  """Sums over micro-batches, one per key, one after another."""

  def grads_of(micro: Any, key: Array) -> tuple[LossSums, Any]:
    def total(params: Any) -> tuple[Array, LossSums]:
      sums = loss(params, micro, key)
      return sums.loss, sums

    grads, sums = jax.grad(total, has_aux=True)(params)
    return sums, grads

  if len(keys) == 1:
    return grads_of(batch, keys[0])

  def add(total: Any, part: tuple[Any, Array]) -> tuple[Any, None]:
    return jax.tree.map(jnp.add, total, grads_of(*part)), None

  parts = jax.tree.map(lambda x: _split_rows(x, len(keys)), batch)
  first = jax.tree.map(lambda x: x[0], (parts, keys))
  zeros = jax.tree.map(
    lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(grads_of, *first)
  )
  return jax.lax.scan(add, zeros, (parts, keys))[0]


def _split_rows(array: Array, parts: int) -> Array:
  """Micro-batches of every `parts`-th row: each stays spread over devices."""
  rows = array.reshape(-1, parts, *array.shape[1:])
  return jnp.swapaxes(rows, 0, 1)


def place_batch(
  arrays: dict[str, np.ndarray], mesh: Mesh, kind: Any = Batch
) -> Any:
  """Puts the rows of a batch, a named tuple, on the data axis.

  Every process holds the whole batch and hands over only its own rows.
  """
  sharding = NamedSharding(mesh, PartitionSpec('data'))

  def place(array: np.ndarray) -> Array:
    return jax.make_array_from_callback(
      array.shape, sharding, lambda index: array[index]
    )

  fields = [name for name in kind._fields if name in arrays]
  return kind(**{name: place(arrays[name]) for name in fields})


def gather(tree: Any, mesh: Mesh) -> Any:
  """The whole tree as numpy arrays, in every process."""
  whole = NamedSharding(mesh, PartitionSpec())
  # Donating would destroy the caller's arrays.
  replicate = jax.jit(lambda tree: tree, out_shardings=whole)
  return jax.tree.map(np.asarray, replicate(tree))


def with_rules(mesh: Mesh, function: Callable[..., Any]) -> Callable[..., Any]:
  """Runs a function where logical axis names mean axes of the mesh."""

  def run(*args: Any) -> Any:
    with jax.set_mesh(mesh), nn.logical_axis_rules(list(DEFAULT_RULES)):
      return function(*args)

  return run
