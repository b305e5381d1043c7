"""One update: what it adds up, whatever the micro-batches and the mesh."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn
from flax import traverse_util

from stepwise._errors import InputError
from stepwise.layers import make_mesh, on_mesh
from stepwise.training import ModelSpec, lower_update, resolve_model
from stepwise.training._input import Examples, TrainingBatches, load_labelled
from stepwise.training._mesh import gather, place_batch
from stepwise.training._step import (
  init_state,
  make_update,
  same_params,
  scale_params,
  state_shardings,
)
from tests.training.runs import BUCKETS, write_records

CONFIG = resolve_model(ModelSpec('hibert_tiny', dropout=0.0))


@pytest.fixture(scope='module')
def arrays(tmp_path_factory):
  records = write_records(tmp_path_factory.mktemp('records'))
  examples = Examples(load_labelled(str(records), CONFIG), 'all', BUCKETS)
  return TrainingBatches(examples, 4, seed=0, length=9)[0]


def gradients(arrays, accumulate, data, model_axis, fsdp=1):
  """What one step of plain gradient descent takes away."""
  mesh, model = make_mesh(data, model_axis, fsdp=fsdp), CONFIG.build()
  optimizer = optax.sgd(1.0)
  shardings = state_shardings(model, optimizer, mesh, CONFIG.smallest_inputs)
  state = init_state(model, optimizer, 0, shardings, CONFIG.smallest_inputs)
  update = make_update(CONFIG.loss(model), optimizer, accumulate)
  step = on_mesh(mesh, jax.jit(update, out_shardings=(shardings, None)))
  new, metrics = step(state, place_batch(arrays, mesh))
  before, after = gather((state.params, new.params), mesh)
  return jax.tree.map(np.subtract, before, after), metrics


def test_a_lowered_update_is_the_update(arrays):
  mesh, optimizer = make_mesh(1, 1), optax.sgd(1.0)
  batch = place_batch(arrays, mesh)
  lowered = lower_update(CONFIG, optimizer, mesh, batch, accumulate=2)
  model = CONFIG.build()
  shardings = state_shardings(model, optimizer, mesh, CONFIG.smallest_inputs)
  state = init_state(model, optimizer, 0, shardings, CONFIG.smallest_inputs)
  before = gather(state.params, mesh)
  new, metrics = lowered.compile()(state, batch)
  found = jax.tree.map(np.subtract, before, gather(new.params, mesh))
  expected, expected_metrics = gradients(arrays, 2, 1, 1)
  jax.tree.map(np.testing.assert_array_equal, found, expected)
  assert metrics == expected_metrics


def test_a_batch_with_empty_rows_counts_as_a_part(arrays):
  """One document among four rows pulls a quarter as much as it would alone."""
  alone = {name: array[:1] for name, array in arrays.items()}
  empty = {'tokens': 0, 'valid': False, 'num_units': 0}
  part = {name: array.copy() for name, array in arrays.items()}
  for name, array in part.items():
    array[1:] = empty.get(name, -1)
  whole, metrics = gradients(alone, 1, 1, 1)
  found, part_metrics = gradients(part, 1, 1, 1)
  jax.tree.map(
    lambda x, y: np.testing.assert_allclose(4 * x, y, atol=1e-6), found, whole
  )
  np.testing.assert_allclose(part_metrics.loss, metrics.loss, rtol=1e-6)
  assert part_metrics.tokens == (arrays['unit_ids'][:1] >= 0).sum()


@pytest.fixture(scope='module')
def expected(arrays):
  return gradients(arrays, 1, 1, 1)


@pytest.mark.parametrize(
  ('accumulate', 'data', 'model', 'fsdp'),
  [
    (2, 1, 1, 1),
    pytest.param(2, 2, 4, 1, marks=pytest.mark.slow),
    pytest.param(1, 4, 2, 1, marks=pytest.mark.slow),
    pytest.param(1, 1, 2, 4, marks=pytest.mark.slow),
    pytest.param(2, 1, 4, 2, marks=pytest.mark.slow),
  ],
)
def test_gradients_do_not_depend_on_the_division_of_labour(
  arrays, expected, accumulate, data, model, fsdp
):
  found, metrics = gradients(arrays, accumulate, data, model, fsdp)
  largest = max(abs(g).max() for g in jax.tree.leaves(expected[0]))
  assert largest > 1e-3
  jax.tree.map(
    lambda x, y: np.testing.assert_allclose(x, y, atol=1e-6),
    found,
    expected[0],
  )
  assert not metrics.parts
  np.testing.assert_allclose(metrics[:4], expected[1][:4], rtol=1e-5)


def test_parameters_start_wider_where_their_paths_end_so():
  boxed = CONFIG.build().init(jax.random.key(0), *CONFIG.smallest_inputs())
  params = nn.unbox(boxed)
  scales = (('kernel', 3.0), ('summary_position/embedding', 5.0))
  scaled = scale_params(params['params'], scales)
  factors = set()
  for (path, before), after in zip(
    jax.tree_util.tree_leaves_with_path(params['params']),
    jax.tree.leaves(scaled),
    strict=True,
  ):
    names = [part.key for part in path]
    factor = 3.0 if names[-1] == 'kernel' else 1.0
    factor = 5.0 if 'summary_position' in names else factor
    factors.add(factor)
    np.testing.assert_allclose(after, factor * before, rtol=1e-6)
  assert factors == {1.0, 3.0, 5.0}


def test_keys_start_as_queries():
  boxed = CONFIG.build().init(jax.random.key(0), *CONFIG.smallest_inputs())
  before = nn.unbox(boxed)['params']
  after = same_params(before, (('key/kernel', 'query/kernel'),))
  before, after = (
    traverse_util.flatten_dict(tree, sep='/') for tree in (before, after)
  )
  keys = [path for path in before if path.endswith('key/kernel')]
  assert keys and before.keys() == after.keys()
  for path, value in after.items():
    source = path.replace('key/', 'query/') if path in keys else path
    np.testing.assert_array_equal(value, before[source])


@pytest.mark.parametrize(
  ('pair', 'message'),
  [
    (('value', 'kernel'), "start_same: no parameter ends with 'value'"),
    (('bias', 'scale'), 'dense/bias cannot start as dense/scale'),
    (('bias', 'kernel'), 'dense/bias cannot start as dense/kernel'),
  ],
)
def test_what_cannot_start_the_same(pair, message):
  params = {'dense': {'kernel': jnp.ones((2, 3)), 'bias': jnp.ones(3)}}
  with pytest.raises(InputError, match=message):
    same_params(params, [pair])


def test_a_scale_of_no_parameter():
  with pytest.raises(InputError, match="no parameter ends with 'kernels'"):
    scale_params({'dense': {'kernel': jnp.ones(2)}}, [('kernels', 2.0)])
