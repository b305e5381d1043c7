"""The pointer planner: one pass over a plan equals step by step."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.decoding import Constraints, DecodeConfig
from stepwise.layers import TransformerConfig
from stepwise.models import (
  Batch,
  PointerConfig,
  decode,
  greedy_plans,
  prefix_loss,
  stepwise_loss,
)
from tests.layers.parameters import draw, dropout_key, quick_jit, run
from tests.models.documents import make_batch, random_record

CONFIG = PointerConfig(
  TransformerConfig(
    vocab=31, embed=12, heads=3, mlp=14, layers=1, positions=7, dropout=0.2
  ),
  plan_layers=2,
  plan_positions=11,
  first_token=3,
  max_unit_tokens=5,
)
SPECIAL = ((12,), (10,), (11,))
BEG = 2


def batch_of(plans, targets, **sizes):
  rng = np.random.default_rng(5)
  records = [
    random_record(rng, 5, max_tokens=3, vocab=31, special=SPECIAL)
    | {'plan': plan, 'targets': target}
    for plan, target in zip(plans, targets, strict=True)
  ]
  return make_batch(
    records, **{'length': 23, 'units': 8, 'steps': 5, 'batch': 3, **sizes}
  )


def test_all_prefixes_equal_one_by_one():
  batch = batch_of([[], [4, 0], [5]], [[3, 3, 0, 1], [6, 1], [7, 5, 1]])
  model = CONFIG.build()
  params = draw(model, batch)['params']
  together, apart = (
    quick_jit(lambda p, loss=loss: loss(model, p, batch, never=(BEG,)))(params)
    for loss in (prefix_loss, stepwise_loss)
  )
  np.testing.assert_allclose(together, apart, rtol=1e-5)


def test_gradients_equal_too():
  batch = batch_of([[], [4], []], [[3, 0, 1], [6, 1], [7]])
  model = CONFIG.build()
  params = draw(model, batch)['params']
  together, apart = (
    quick_jit(
      jax.grad(lambda p, loss=loss: loss(model, p, batch, never=(BEG,)).mean)
    )(params)
    for loss in (prefix_loss, stepwise_loss)
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-6),
    together,
    apart,
  )


def test_padding_never_changes_a_score():
  arguments = [[3], [4, 0], []], [[1], [1], [1]]
  small, large = batch_of(*arguments), batch_of(*arguments, length=37, units=13)
  model = CONFIG.build()
  variables = draw(model, small)
  wide = jnp.pad(large.plan, ((0, 0), (0, 2)), constant_values=-1)
  scores = run(model, variables, small)
  others = run(model, variables, large._replace(plan=wide))
  np.testing.assert_allclose(scores, others[:, :8], atol=1e-5)


@pytest.mark.parametrize('breaks', [None, (0, 2)])
def test_reading_one_unit_at_a_time_finds_the_same_plans(breaks):
  batch = batch_of([[]] * 3, [[1]] * 3)
  units = jnp.arange(8)[None]
  repeatable = jnp.broadcast_to((units == 0) | (units == 4), (3, 8))
  marked = None
  if breaks:
    marked = jnp.broadcast_to((units == 0) | (units == 2), (3, 8))
  constraints = Constraints(repeatable=repeatable, breaks=marked)
  config = DecodeConfig(max_units=9, min_units=2, stop_unit=1, never=(BEG,))
  model = CONFIG.build()

  @quick_jit
  def both(variables):
    rest = variables, batch, config, constraints
    return greedy_plans(model, *rest), decode(model, *rest).plans[:, 0]

  lengths = set()
  for seed in range(6):
    plans, twin = both(draw(model, batch, seed=seed))
    np.testing.assert_array_equal(plans, twin)
    lengths |= {*np.sum(np.asarray(plans) >= 0, axis=1).tolist()}
  assert len(lengths) > 1


def test_greedy_plans_have_one_beam():
  batch = batch_of([[]] * 3, [[1]] * 3)
  model = CONFIG.build()
  config = DecodeConfig(max_units=4, beam_size=2, stop_unit=1)
  with pytest.raises(InputError, match='beam_size is 2 and stop_unit 1'):
    greedy_plans(model, {}, batch, config, Constraints())


def test_dropout_draws():
  batch = batch_of([[], [4, 0], [5]], [[3, 3, 0, 1], [6, 1], [7, 5, 1]])
  model = CONFIG.build()
  params = draw(model, batch)['params']
  loss = quick_jit(lambda key: prefix_loss(model, params, batch, key).loss)
  losses = {float(loss(dropout_key(k))) for k in (0, 0, 1)}
  assert len(losses) == 2


def test_mistakes_are_named():
  batch = batch_of([[3], [4, 0], []], [[1], [1], [1]])
  model = CONFIG.build()
  variables = draw(model, batch)
  with pytest.raises(InputError, match='12 plan slots are given, BEG counted'):
    model.apply(variables, batch._replace(plan=jnp.zeros((3, 11), jnp.int32)))
  with pytest.raises(InputError, match='plan is missing'):
    model.apply(variables, Batch(*batch[:3]))
  with pytest.raises(InputError, match='has nothing to learn'):
    prefix_loss(model, variables['params'], Batch(*batch[:3]))
  with pytest.raises(InputError, match='max_unit_tokens is 8; 2 to 7'):
    dataclasses.replace(CONFIG, max_unit_tokens=8)
