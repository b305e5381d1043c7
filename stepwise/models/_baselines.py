"""Lead and Oracle, behind the same two methods as the models."""

from typing import NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.models._batch import Batch, take


class Lead(nn.Module):
  """Scores units by their position: the first ones are the best."""

  def __call__(self, batch: Batch) -> Float[Array, 'batch units']:
    return self.score(self.encode(batch))

  def encode(
    self, batch: Batch, deterministic: bool = True
  ) -> Bool[Array, 'batch units']:
    del deterministic
    return batch.valid

  def score(
    self,
    memory: Bool[Array, 'batch units'],
    plan: None = None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch units']:
    del plan, deterministic
    position = jnp.arange(memory.shape[1], dtype=jnp.float32)
    return jnp.broadcast_to(-position, memory.shape)


class OracleMemory(NamedTuple):
  targets: Int[Array, 'batch steps']
  valid: Bool[Array, 'batch units']


class Oracle(nn.Module):
  """Chooses the targets, one after another, with probability one."""

  def __call__(self, batch: Batch) -> Float[Array, 'batch units']:
    return self.score(self.encode(batch), batch.plan)

  def encode(self, batch: Batch, deterministic: bool = True) -> OracleMemory:
    del deterministic
    if batch.targets is None:
      raise InputError('a batch without targets has no oracle.')
    return OracleMemory(batch.targets, batch.valid)

  def score(
    self,
    memory: OracleMemory,
    plan: Int[Array, 'batch steps'] | None,
    deterministic: bool = True,
  ) -> Float[Array, 'batch units']:
    del deterministic
    if plan is None:
      raise InputError('plan is missing: the oracle chooses step by step.')
    step = (plan >= 0).sum(axis=1, keepdims=True)
    target = take(memory.targets, step)
    units = jnp.arange(memory.valid.shape[1])
    return jnp.where(units[None] == target, 0.0, -jnp.inf)
