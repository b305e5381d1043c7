"""The model that a run trains."""

from typing import Any

import jax.numpy as jnp

from stepwise._errors import InputError
from stepwise.models import ModelConfig, find_config
from stepwise.training._config import ModelSpec


def resolve_model(spec: ModelSpec) -> ModelConfig:
  """The configuration that a spec describes."""
  config = find_config(spec.name)
  if not config.chooses_units:
    raise InputError(f'{spec.name} writes text; it cannot be trained to select')
  if spec.twin and config.stepwise:
    config = config.twin()
  return config.with_settings(**changed_settings(spec))


def changed_settings(spec: ModelSpec) -> dict[str, Any]:
  """What a spec changes of a configuration."""
  changes: dict[str, Any] = {'remat': True} if spec.remat else {}
  if spec.dropout is not None:
    changes['dropout'] = spec.dropout
  if spec.dtype is not None:
    changes['dtype'] = jnp.dtype(spec.dtype)
  return changes
