"""ETCSum with its long axis over several devices learns as on one."""

import dataclasses

import jax
import numpy as np
import pytest
from flax import linen as nn
from jax.sharding import NamedSharding, PartitionSpec

from stepwise.layers import DEFAULT_RULES, change_rules, make_mesh
from stepwise.models import stepwise_loss
from tests.models.documents import make_batch
from tests.models.tiny_models import CONFIGS, RECORDS, drawn


@pytest.mark.slow
def test_loss_and_gradients_equal_those_of_one_device():
  # All steps of a document are scored side by side (vmap).
  targets = [(3, 2), (4, 0), (5, 6, 0)]
  records = [
    record | {'targets': target}
    for record, target in zip(RECORDS, targets, strict=True)
  ]
  batch = make_batch([*records, records[0]])
  model, variables = drawn('etcsum')
  config = CONFIGS['etcsum']
  encoder = dataclasses.replace(config.encoder, implementation='sequence')
  spread = dataclasses.replace(config, encoder=encoder).build()

  def value_and_gradient(model):
    def loss(params, batch):
      return stepwise_loss(model, params, batch, never=(1,)).mean

    return jax.jit(jax.value_and_grad(loss))

  plain = value_and_gradient(model)(variables['params'], batch)
  mesh = make_mesh(data=2, sequence=4)
  rows = NamedSharding(mesh, PartitionSpec('data'))
  rules = change_rules(DEFAULT_RULES, [('length', 'sequence')])
  with jax.set_mesh(mesh), nn.logical_axis_rules(list(rules)):
    found = value_and_gradient(spread)(
      variables['params'], jax.device_put(batch, rows)
    )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5),
    found,
    plain,
  )
