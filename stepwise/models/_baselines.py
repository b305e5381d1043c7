"""Lead and oracle, behind the same configurations and methods as models."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Bool, Float, Int
from stepwise.models._batch import Batch, take
from stepwise.models._config import Limits, ModelConfig


class _Baseline(ModelConfig):
  """No parameters, so any tokens will do."""

  needs_weights = False
  gives_probabilities = False
  vocab = 2**31 - 1
  embed = 0


@dataclass(frozen=True)
class LeadConfig(_Baseline):
  """Takes the first units."""

  def build(self) -> 'LeadChooser':
    return LeadChooser()


@dataclass(frozen=True)
class OracleConfig(_Baseline):
  """Takes the targets.

  Attributes:
    max_tokens: of a document, that the oracle may choose from.
    begin_unit: see `ModelConfig`.
  """

  needs_targets = True
  max_tokens: int | None = None
  begin_unit: int | None = 1

  @property
  def limits(self) -> Limits:
    return Limits(tokens=self.max_tokens)

  def build(self) -> 'OracleChooser':
    return OracleChooser()


class LeadChooser(nn.Module):
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


class OracleChooser(nn.Module):
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
