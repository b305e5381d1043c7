"""Training with products of bfloat16 numbers learns as with float32."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn

from stepwise.models import Batch
from stepwise.training import ModelSpec, resolve_model

BATCHES, ROWS, LENGTH, UNITS, STEPS = 300, 4, 48, 12, 3


def test_a_run_names_its_products():
  spec = ModelSpec('hibert_tiny', products='bfloat16')
  assert resolve_model(spec).encoder.sentence.products == 'bfloat16'
  assert resolve_model(spec.lasting) == resolve_model(
    ModelSpec('hibert_tiny', products='float32')
  )


def documents() -> Batch:
  """The targets are the units of the rarest tokens, so there is something
  to learn.
  """
  random = np.random.default_rng(0)
  tokens = random.integers(1000, 1200, (BATCHES, ROWS, LENGTH))
  units = np.broadcast_to(np.arange(LENGTH) * UNITS // LENGTH, tokens.shape)
  sums = tokens.reshape(BATCHES, ROWS, UNITS, -1).sum(-1)
  sums[..., :2] = 0
  targets = np.argsort(-sums, axis=-1)[..., :STEPS]
  return Batch(
    *(jnp.asarray(array, jnp.int32) for array in (tokens, units)),
    valid=jnp.ones((BATCHES, ROWS, UNITS), bool),
    plan=jnp.full((BATCHES, ROWS, STEPS), -1, jnp.int32),
    targets=jnp.asarray(targets, jnp.int32),
  )


def losses(products: str, updates: int) -> np.ndarray:
  spec = ModelSpec('hibert_tiny', dropout=0.0, products=products)
  config = resolve_model(spec)
  module = config.build()
  loss = config.loss(module)
  optimizer = optax.adam(5e-4)
  batches = documents()
  first = jax.tree.map(lambda x: x[0], batches)
  params = nn.unbox(module.init(jax.random.key(0), first))['params']

  def update(state, index):
    params, moments = state
    batch = jax.tree.map(lambda x: x[index], batches)
    value, gradient = jax.value_and_grad(lambda p: loss(p, batch).mean)(params)
    changes, moments = optimizer.update(gradient, moments, params)
    return (optax.apply_updates(params, changes), moments), value

  steps = jnp.arange(updates) % BATCHES
  run = jax.jit(lambda state: jax.lax.scan(update, state, steps)[1])
  return np.asarray(run((params, optimizer.init(params))))


@pytest.mark.slow
def test_loss_curves_of_300_updates_agree(optimised):
  exact, rounded = losses('float32', 300), losses('bfloat16', 300)
  assert exact[-50:].mean() < 0.95 * exact[:50].mean()
  smooth = [np.convolve(c, np.ones(50) / 50, 'valid') for c in (exact, rounded)]
  assert np.abs(smooth[0] - smooth[1]).max() < 0.02 * exact[0]
