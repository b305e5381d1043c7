"""A stacked layer and single layers hold the same parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from stepwise.models import find_config
from stepwise.training import restack


def shapes(config):
  made = jax.eval_shape(
    config.build().init, jax.random.key(0), *config.smallest_inputs()
  )
  return nn.unbox(made)['params']


def score(config, params):
  batch, *_ = config.smallest_inputs()
  module = config.build()
  memory = module.apply({'params': params}, batch, method='encode')
  return module.apply({'params': params}, memory, batch.plan, method='score')


@pytest.mark.parametrize(
  'name',
  [
    pytest.param('etcsum_tiny', marks=pytest.mark.slow),
    'hibert_tiny',
    'bertsum_tiny',
  ],
)
def test_layouts_are_the_same_model(name):
  single = find_config(name)
  stacked = single.with_settings(scan_layers=True)
  rng = np.random.default_rng(0)
  params = jax.tree.map(
    lambda x: jnp.asarray(rng.normal(0, 0.1, x.shape), x.dtype), shapes(single)
  )
  moved = restack(params, shapes(stacked))
  assert jax.tree.map(np.shape, moved) == jax.tree.map(
    np.shape, shapes(stacked)
  )
  if single.stepwise:
    np.testing.assert_allclose(
      score(single, params), score(stacked, moved), rtol=1e-5
    )
  back = restack(moved, shapes(single))
  jax.tree.map(np.testing.assert_array_equal, params, back)


def test_other_models_are_left_alone():
  params = shapes(find_config('hibert_tiny'))
  other = shapes(find_config('bertsum_tiny'))
  assert restack(params, other) is params
