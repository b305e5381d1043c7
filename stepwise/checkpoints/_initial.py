"""Initial parameters of a configuration, or only their shapes."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from stepwise.checkpoints._matching import Params, flatten, shapes_of
from stepwise.layers import TransformerConfig
from stepwise.models import Batch, ModelConfig, build_model


def param_shapes(module: nn.Module, *inputs: Any) -> dict[str, tuple[int, ...]]:
  """Shapes by path, without allocating anything."""
  variables = jax.eval_shape(module.init, jax.random.key(0), *inputs)
  return shapes_of(flatten(nn.unbox(variables)['params']))


def config_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
  """Shapes by path of the model of a configuration."""
  return param_shapes(build_model(config), *_inputs(config))


def initial_params(config: ModelConfig, seed: int = 0) -> Params:
  """Fresh parameters of the model of a configuration."""
  return _compiled_init(config)(jax.random.key(seed))


@functools.cache
def _compiled_init(config: ModelConfig) -> Callable[[jax.Array], Params]:
  model, inputs = build_model(config), _inputs(config)
  return jax.jit(  # So that the parameters are all that is computed.
    lambda key: nn.unbox(model.init(key, *inputs))['params'],
    # Run once: three quarters of the time would go to optimising it.
    compiler_options={'xla_backend_optimization_level': 0},
  )


def _inputs(config: ModelConfig) -> tuple[Any, ...]:
  """The smallest inputs a model can be initialised with."""
  tokens = jnp.zeros((1, 1), jnp.int32)
  mask = jnp.ones((1, 1), bool)
  if isinstance(config, TransformerConfig):
    return tokens, mask, tokens
  return (Batch(tokens, tokens, mask, plan=tokens),)
