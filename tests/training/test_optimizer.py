"""Optimizers against their equations, in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.training import OptimizerConfig, make_optimizer, make_schedule
from stepwise.training._step import decay_mask, freeze

PARAMS = {
  'dense': {'kernel': jnp.array([[1.0, -2.0, 3.0]]), 'bias': jnp.array([0.5])},
  'norm': {'scale': jnp.array([1.5, 2.0]), 'bias': jnp.array([-1.0, 4.0])},
  'token': {'embedding': jnp.array([[0.1], [0.2]])},
}


def gradients(step):
  rng = np.random.default_rng(step)
  return jax.tree.map(lambda p: jnp.array(rng.normal(size=p.shape)), PARAMS)


def run(config, steps=5, scale=1.0):
  """Parameters after updates with `gradients`."""
  optimizer = make_optimizer(
    config, make_schedule(config, embed=7, steps=steps)
  )
  params, state = PARAMS, optimizer.init(PARAMS)
  for step in range(steps):
    grads = jax.tree.map(lambda g: g * scale, gradients(step))
    updates, state = optimizer.update(grads, state, params)
    params = jax.tree.map(jnp.add, params, updates)
  return params


def adamw(config, path, steps=5):
  """One parameter by the equations of Adam with decoupled decay."""

  def pick(tree):
    return np.asarray(tree[path[0]][path[1]], np.float64)

  value = pick(PARAMS)
  mean, square = np.zeros_like(value), np.zeros_like(value)
  decay = config.weight_decay * (path[1] in ('kernel', 'embedding'))
  for t in range(1, steps + 1):
    grad = pick(gradients(t - 1))
    mean = config.beta1 * mean + (1 - config.beta1) * grad
    square = config.beta2 * square + (1 - config.beta2) * grad**2
    fix1 = 1 - config.beta1**t if config.bias_correction else 1
    fix2 = 1 - config.beta2**t if config.bias_correction else 1
    step = mean / fix1 / (np.sqrt(square / fix2) + config.epsilon)
    value = value - config.learning_rate * (step + decay * value)
  return value


@pytest.mark.parametrize('bias_correction', [True, False])
@pytest.mark.parametrize('weight_decay', [0.0, 0.01])
def test_adam_follows_its_equations(bias_correction, weight_decay):
  config = OptimizerConfig(
    0.1,
    epsilon=1e-6,
    bias_correction=bias_correction,
    weight_decay=weight_decay,
  )
  found = run(config)
  for module, parameters in PARAMS.items():
    for name in parameters:
      np.testing.assert_allclose(
        found[module][name], adamw(config, (module, name)), rtol=1e-4
      )


def test_norms_and_biases_do_not_decay():
  assert decay_mask(PARAMS) == {
    'dense': {'kernel': True, 'bias': False},
    'norm': {'scale': False, 'bias': False},
    'token': {'embedding': True},
  }


def test_clipping_makes_the_size_of_gradients_irrelevant():
  # With a large epsilon, Adam's step depends on the size of the gradient.
  free = OptimizerConfig(0.1, epsilon=1.0)
  clipped = OptimizerConfig(0.1, epsilon=1.0, clip_norm=1e-3)

  def difference(a, b):
    return max(
      jax.tree.leaves(jax.tree.map(lambda x, y: abs(x - y).max(), a, b))
    )

  assert difference(run(clipped), run(clipped, scale=9.0)) < 1e-7
  assert difference(run(free), run(free, scale=9.0)) > 1e-3


def rates(config, steps, embed=4):
  schedule = make_schedule(config, embed=embed, steps=steps)
  return [float(schedule(count)) for count in range(steps)]


def test_inverse_square_root_schedule():
  config = OptimizerConfig(0.01, 'inverse_sqrt', warmup=4)
  expected = [0.01 * 4**-0.5 * min(t**-0.5, t * 4**-1.5) for t in range(1, 10)]
  np.testing.assert_allclose(rates(config, 9), expected, rtol=1e-6)
  assert np.argmax(expected) == 3


def test_linear_schedule_rises_and_falls_to_zero():
  config = OptimizerConfig(2.0, 'linear', warmup=2)
  np.testing.assert_allclose(
    rates(config, 6), [1.0, 2.0, 1.5, 1.0, 0.5, 0.0], atol=1e-6
  )


def test_constant_schedule_may_warm_up():
  assert rates(OptimizerConfig(3.0), 2) == [3.0, 3.0]
  assert rates(OptimizerConfig(3.0, warmup=3), 4) == [1.0, 2.0, 3.0, 3.0]


def test_mistakes_are_explained():
  with pytest.raises(InputError, match="schedule is 'cosine', must be one of"):
    OptimizerConfig(1.0, 'cosine')
  with pytest.raises(InputError, match='warmup is 0, must be at least 1'):
    OptimizerConfig(1.0, 'inverse_sqrt')


def test_frozen_parameters_keep_their_values():
  config = OptimizerConfig(0.1, weight_decay=0.5, frozen=('norm', 'dense/bias'))
  params = run(config)
  for part, name in (('norm', 'scale'), ('norm', 'bias'), ('dense', 'bias')):
    np.testing.assert_array_equal(params[part][name], PARAMS[part][name])
  free = run(OptimizerConfig(0.1, weight_decay=0.5))
  np.testing.assert_array_equal(
    params['dense']['kernel'], free['dense']['kernel']
  )


def test_no_gradient_flows_to_frozen_parameters():
  def total(params):
    frozen = freeze(params, ('norm',))
    return sum((leaf**2).sum() for leaf in jax.tree.leaves(frozen))

  grads = jax.grad(total)(PARAMS)
  assert not grads['norm']['scale'].any()
  assert grads['dense']['bias'].any()


def test_freezing_what_is_not_there():
  with pytest.raises(InputError, match="frozen has 'nor', but no parameter"):
    freeze(PARAMS, ('norm', 'nor'))
