"""What training needs to know about any model: its body, limits and loss."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from flax import linen as nn

from stepwise._errors import InputError

# `_input` has the special units from here, beside the rest of a model.
from stepwise.inference import special_units as special_units
from stepwise.layers import ETCConfig, TransformerConfig
from stepwise.models import (
  Batch,
  BERTSumConfig,
  ETCSumConfig,
  HiBERTConfig,
  LossSums,
  PointerConfig,
  extractive_loss,
  find_config,
  prefix_loss,
  stepwise_loss,
  twin,
)
from stepwise.training._config import ModelSpec

Body = ETCConfig | TransformerConfig
# What can be trained on records: every model but the realiser.
Selector = ETCSumConfig | HiBERTConfig | BERTSumConfig | PointerConfig
Loss = Callable[..., LossSums]


def resolve_model(spec: ModelSpec) -> Selector:
  """The configuration that a spec describes."""
  config = find_config(spec.name)
  if isinstance(config, TransformerConfig):
    raise InputError(f'{spec.name} writes text; it cannot be trained to select')
  if spec.twin and config.stepwise:
    config = twin(config)
  changes: dict[str, Any] = _remat(body(config)) if spec.remat else {}
  if spec.dropout is not None:
    changes['dropout'] = spec.dropout
  if spec.dtype is not None:
    changes['dtype'] = jnp.dtype(spec.dtype)
  return _with_body(config, dataclasses.replace(body(config), **changes))


def body(config: Selector) -> Body:
  """Sizes of the encoder that reads tokens."""
  if isinstance(config, HiBERTConfig):
    return config.encoder.sentence
  return config.encoder


def _with_body(config: Selector, new: Any) -> Selector:
  if isinstance(config, HiBERTConfig):
    new = dataclasses.replace(config.encoder, sentence=new)
  return dataclasses.replace(config, encoder=new)


def _remat(encoder: Body) -> dict[str, Any]:
  if isinstance(encoder, ETCConfig):
    return {'remat_period': 1}
  return {'remat': True}


def loss_of(
  config: Selector, model: nn.Module, positive_weight: float = 1.0
) -> Loss:
  """`(params, batch, rng) -> LossSums`; no rng means no dropout."""
  if not config.stepwise:
    return functools.partial(
      extractive_loss, model, positive_weight=positive_weight
    )
  assert config.begin_unit is not None, 'stepwise'
  if isinstance(config, PointerConfig):
    return functools.partial(prefix_loss, model, never=(config.begin_unit,))
  return functools.partial(stepwise_loss, model, never=(config.begin_unit,))


def dummy_batch() -> Batch:
  """The smallest batch: parameters do not depend on sizes of batches."""
  tokens = jnp.zeros((1, 8), jnp.int32)
  valid = jnp.ones((1, 4), bool)
  return Batch(tokens, tokens, valid, plan=tokens[:, :2], targets=tokens[:, :2])
