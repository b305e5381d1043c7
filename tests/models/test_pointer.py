"""The pointer planner: one pass over a plan equals step by step."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.decoding import Constraints, DecodeConfig
from stepwise.inference import decode, draw_plans, rank_units, read_documents
from stepwise.layers import TransformerConfig
from stepwise.models import (
  Batch,
  PointerConfig,
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
  options = {'never': (BEG,), 'rest_share': 0.3, 'stop': (1, 0.2)}
  together, apart = (
    quick_jit(lambda p, loss=loss: loss(model, p, batch, **options))(params)
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


class AtOnce(PointerConfig):
  """The same planner, its whole plan read anew at every step."""

  incremental = False


CONSTRAINTS = Constraints(
  repeatable=jnp.zeros((3, 8), bool).at[:, jnp.array([0, 4])].set(True)
)
SEARCH = DecodeConfig(max_units=9, min_units=2, stop_unit=1, never=(BEG,))


@pytest.mark.parametrize('beams', [1, 3])
def test_reading_one_unit_at_a_time_finds_the_same_plans(beams):
  batch = batch_of([[]] * 3, [[1]] * 3)
  config = dataclasses.replace(SEARCH, beam_size=beams)
  twin = AtOnce(**vars(CONFIG))

  @quick_jit
  def both(variables):
    rest = variables, batch, config, CONSTRAINTS
    return decode(CONFIG, *rest), decode(twin, *rest)

  lengths = set()
  for seed in range(4):
    found, other = both(draw(CONFIG.build(), batch, seed=seed))
    np.testing.assert_array_equal(found.plans, other.plans)
    np.testing.assert_allclose(found.scores, other.scores, atol=1e-4)
    np.testing.assert_allclose(found.ranking, other.ranking, atol=1e-4)
    lengths |= {*found.lengths[:, 0].tolist()}
  assert len(lengths) > 1


def test_given_plans_are_ranked_as_searches_rank_their_own():
  batch = batch_of([[]] * 3, [[1]] * 3)
  variables = draw(CONFIG.build(), batch)

  @quick_jit
  def both(variables):
    found = decode(CONFIG, variables, batch, SEARCH, CONSTRAINTS)
    room = dataclasses.replace(SEARCH, max_units=10)
    reader = read_documents(CONFIG, variables, batch, room)
    plans = found.plans[:, 0]
    return found, rank_units(reader, batch.valid, SEARCH, plans)

  found, ranking = both(variables)
  for row, length in enumerate(found.lengths[:, 0].tolist()):
    steps = length + int(found.stopped[row, 0])
    np.testing.assert_allclose(
      ranking[row, :steps], found.ranking[row, 0, :steps], atol=1e-4
    )


def test_drawn_plans_follow_the_probabilities():
  """The first unit of many draws, and the same draws in any batch."""
  batch = batch_of([[]] * 3, [[1]] * 3)
  draws = 2000
  variables = draw(CONFIG.build(), batch)
  config = dataclasses.replace(SEARCH, max_units=2)

  @quick_jit
  def drawn(batch, constraints):
    reader = read_documents(CONFIG, variables, batch, config)
    key = jax.random.key(3)
    found = decode(CONFIG, variables, batch, config, constraints)
    plans = draw_plans(reader, batch.valid, config, constraints, key, draws)
    return found.ranking[:, 0, 0], plans

  ranking, plans = jax.device_get(drawn(batch, CONSTRAINTS))
  for row in range(3):
    # The stop is not open before two units: the others share its part.
    open_ = np.exp(ranking[row]) * (np.arange(8) != 1)
    first = np.bincount(plans[row, :, 0], minlength=8) / draws
    np.testing.assert_allclose(first, open_ / open_.sum(), atol=0.04)
    again = plans[row, :, 0] == plans[row, :, 1]
    assert np.isin(plans[row, again, 0], [0, 4]).all()
  alone = jax.tree.map(lambda x: x[1:2], (batch, CONSTRAINTS))
  np.testing.assert_array_equal(plans[1], drawn(*alone)[1][0])


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
