"""Initial parameters of a configuration, or only their shapes."""

import functools
from collections.abc import Callable
from typing import Any

import jax
from flax import linen as nn

from stepwise.checkpoints._matching import Params, flatten, shapes_of
from stepwise.models import ModelConfig


def param_shapes(module: nn.Module, *inputs: Any) -> dict[str, tuple[int, ...]]:
  """Shapes by path, without allocating anything."""
  variables = jax.eval_shape(module.init, jax.random.key(0), *inputs)
  return shapes_of(flatten(nn.unbox(variables)['params']))


def config_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
  """Shapes by path of the model of a configuration."""
  return param_shapes(config.build(), *config.smallest_inputs())


def initial_params(config: ModelConfig, seed: int = 0) -> Params:
  """Fresh parameters of the model of a configuration."""
  return _compiled_init(config)(jax.random.key(seed))


@functools.cache
def _compiled_init(config: ModelConfig) -> Callable[[jax.Array], Params]:
  model, inputs = config.build(), config.smallest_inputs()
  return jax.jit(  # So that the parameters are all that is computed.
    lambda key: nn.unbox(model.init(key, *inputs))['params'],
    # Run once: three quarters of the time would go to optimising it.
    compiler_options={'xla_backend_optimization_level': 0},
  )
