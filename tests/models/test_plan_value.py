"""The value of whole plans: which sets, of which units, and what is learnt."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.documents import make_document
from stepwise.evaluation import rouge_scores
from stepwise.models import (
  PlanValue,
  PlanValueConfig,
  Pool,
  PoolText,
  pool_units,
  unit_sets,
)
from stepwise.training import (
  ValuedPools,
  ValueTraining,
  fit_plan_value,
  load_pools,
  save_pools,
  set_scores,
  value_loss,
)

SMALL = PlanValueConfig(width=16, pool=4, sizes=(2, 3))


def make_pools(rng, documents, config=SMALL, embed=6):
  """ROUGE of a set is the sum of a state, less where two units are alike."""
  states = rng.normal(size=(documents, config.pool, embed)).astype(np.float32)
  kind = states[..., 1] > 0
  sets = unit_sets(config)
  worth = np.einsum('sp,np->ns', sets, states[..., 0]) / 50
  for row, (left, right) in itertools.product(
    range(len(sets)), itertools.combinations(range(config.pool), 2)
  ):
    if sets[row, left] and sets[row, right]:
      worth[:, row] -= 0.05 * (kind[:, left] == kind[:, right])
  pool = Pool(
    np.tile(np.arange(config.pool) + 2, (documents, 1)),
    np.ones((documents, config.pool), bool),
    states,
    np.zeros((documents, config.pool, 5), np.float32),
    np.zeros((documents, embed), np.float32),
  )
  reference = np.full((documents, 3), -1, np.int32)
  pools = ValuedPools(pool, worth.astype(np.float32), reference)
  return jax.tree.map(jnp.asarray, pools)


def test_sets_are_all_of_their_sizes():
  sets = unit_sets(SMALL)
  assert len({tuple(row) for row in sets.tolist()}) == len(sets) == 6 + 4
  assert set(sets.sum(1)) == {2, 3}
  with pytest.raises(InputError, match='below 4, the pool'):
    PlanValueConfig(pool=4, sizes=(2, 4))


def test_the_pool_has_the_units_that_are_liked_most():
  rng = np.random.default_rng(0)
  logits = rng.normal(size=(2, 9)).astype(np.float32)
  states = rng.normal(size=(2, 9, 3)).astype(np.float32)
  valid = np.arange(9)[None] < np.array([[9], [4]])
  may = valid & (np.arange(9) != 5)[None]
  lengths = np.arange(18).reshape(2, 9)
  given = map(jnp.asarray, (states, logits, lengths, valid, may))
  pool = pool_units(SMALL, *given, 2)
  # The special units 0 and 1 are none of the document, 5 may not be chosen.
  open_units = [u for u in range(2, 9) if u != 5]
  best = sorted(sorted(open_units, key=lambda u: -logits[0, u])[:4])
  assert pool.units[0].tolist() == best
  assert pool.real.tolist()[0] == [True] * 4
  # The second document has two units only, 2 and 3.
  real = pool.real[1]
  assert sorted(pool.units[1][real].tolist()) == [2, 3]
  np.testing.assert_allclose(pool.states[0], states[0][best])
  np.testing.assert_allclose(pool.document[0], states[0, 2:].mean(0), rtol=1e-5)
  np.testing.assert_allclose(
    pool.document[1], states[1, 2:4].mean(0), rtol=1e-5
  )
  np.testing.assert_allclose(pool.features[0, :, 1], lengths[0][best] / 30)
  assert np.all(pool.features[..., 0] <= 0)


def test_a_pool_of_few_units_is_filled_up():
  real, lengths = jnp.ones((1, 3), bool), jnp.ones((1, 3), jnp.int32)
  states = jnp.ones((1, 3, 2))
  pool = pool_units(SMALL, states, states[..., 0], lengths, real, real, 2)
  assert pool.units.shape == (1, 4)
  assert pool.real.sum() == 1


def test_scores_are_rouge_of_the_sets():
  sentences = (
    'The harbour opens again.',
    'Nobody was hurt.',
    'The mayor pays for it.',
    'Rain is expected.',
    'The harbour was closed for years.',
  )
  document = make_document(
    {'article': list(sentences), 'summary': ['The harbour opens.']}
  )
  pool = Pool(
    np.array([2, 4, 5, 6]), np.array([True, True, False, True]), *[None] * 3
  )
  found = set_scores(document, pool, SMALL, special=2)
  for row, members in zip(found, unit_sets(SMALL), strict=True):
    if members[2]:
      assert np.isnan(row)
      continue
    chosen = [document.units[u - 2] for u in pool.units[members]]
    scores = rouge_scores([chosen], [document.summary])[0, :, 2]
    # The script rounds, which would only make ties here.
    assert row == pytest.approx(scores.mean(), abs=1e-5)


def test_a_value_is_learnt_and_finds_the_best_sets():
  rng = np.random.default_rng(1)
  pools, others = make_pools(rng, 1000), make_pools(rng, 200)
  training = ValueTraining(epochs=8, dropout=0.0, learning_rate=1e-2)
  params = fit_plan_value(SMALL, pools, training)
  values = PlanValue(SMALL).apply({'params': params}, others.pool).values
  chosen = np.take_along_axis(
    others.rouge, np.asarray(values).argmax(1)[:, None], axis=1
  )
  lost = others.rouge.max(1) - chosen[:, 0]
  possible = others.rouge.max(1) - others.rouge.mean(1)
  assert lost.mean() < 0.1 * possible.mean()
  again = fit_plan_value(SMALL, pools, training)
  jax.tree.map(np.testing.assert_array_equal, params, again)


def test_how_good_all_sets_are_is_not_learnt():
  """What a document adds to all of its sets changes no loss and no gradient."""
  pools = make_pools(np.random.default_rng(2), 5)
  model = PlanValue(SMALL)
  params = model.init(jax.random.key(0), pools.pool)['params']
  easier = pools._replace(rouge=pools.rouge + np.arange(5)[:, None])
  np.testing.assert_allclose(
    value_loss(model, params, pools),
    value_loss(model, params, easier),
    rtol=1e-4,
  )
  # A set that a document has not counts nowhere.
  missing = pools.rouge.at[:, 0].set(jnp.nan)
  gradient = jax.grad(
    lambda p: value_loss(model, p, pools._replace(rouge=missing))
  )
  assert all(
    jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient(params))
  )


@pytest.mark.parametrize('words', [False, True])
def test_pools_go_to_files_and_back(tmp_path, words):
  pools = make_pools(np.random.default_rng(3), 7)
  if words:
    ids = jnp.arange(7 * 4 * 3).reshape(7, 4, 3)
    text = PoolText(ids, ids[..., None] / 2, ids[..., None] / 3)
    pools = pools._replace(pool=pools.pool._replace(text=text))
  half = (
    jax.tree.map(lambda x: x[:3], pools),
    jax.tree.map(lambda x: x[3:], pools),
  )
  for number, part in enumerate(half):
    save_pools(tmp_path / f'{number}.npz', part)
  found = load_pools(sorted(tmp_path.iterdir()))
  jax.tree.map(np.testing.assert_array_equal, found, pools)
  with pytest.raises(InputError, match='no pools to learn from'):
    load_pools([])
