"""Adam and AdamW with the schedules of the paper, from optax's parts."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from stepwise._errors import InputError
from stepwise.training._config import OptimizerConfig

Schedule = Callable[[Any], jax.Array]

_NOT_DECAYED = ('bias', 'scale')


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
