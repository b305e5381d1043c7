"""Models on a data x model mesh of simulated devices equal one device."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax import traverse_util
from jax.sharding import NamedSharding, PartitionSpec

from stepwise._errors import InputError
from stepwise.layers import (
  ETCEncoder,
  HierarchicalConfig,
  HierarchicalEncoder,
  TransformerConfig,
  TransformerEncoder,
)
from stepwise.layers._sharding import (
  DEFAULT_RULES,
  init_sharded,
  make_mesh,
  num_params,
  param_shardings,
)
from tests.layers.etc_inputs import TINY, inputs
from tests.layers.parameters import draw, quick_jit

# The model axis of size 2 divides heads, mlp and vocab, but not 3 heads.
ETC = dataclasses.replace(
  TINY, vocab=30, heads=2, dim=5, mlp=14, labels=8, layers=2
)
ETC_INPUTS = inputs(batch=4)
BERT = TransformerConfig(
  vocab=30, embed=10, heads=2, mlp=14, layers=1, positions=13, token_types=3
)
TOKENS = ETC_INPUTS[0]


@pytest.fixture(scope='module')
def mesh():
  return make_mesh(4, 2)


def placed(mesh, tree):
  """A batch, spread over the data axis."""
  sharding = NamedSharding(mesh, PartitionSpec('data'))
  return jax.device_put(tree, sharding)


def specs(module, mesh, *arguments):
  boxed = jax.eval_shape(module.init, jax.random.key(0), *arguments)
  flat = traverse_util.flatten_dict(
    param_shardings(boxed, mesh)['params'], sep='/'
  )
  return {path: tuple(sharding.spec) for path, sharding in flat.items()}


def test_parameters_are_split_where_the_rules_say(mesh):
  found = specs(ETCEncoder(ETC), mesh, *ETC_INPUTS)
  layer = 'stack/layer_0'
  expected = {
    'embeddings/tokens/embedding': ('model', None),
    'embeddings/segments/embedding': (None, None),
    f'{layer}/attention/long_query/kernel': (None, 'model', None),
    f'{layer}/attention/long_query/bias': ('model', None),
    f'{layer}/attention/long_output/kernel': ('model', None, None),
    f'{layer}/attention/long_output/bias': (None,),
    f'{layer}/attention/long_relative/embedding': (None, 'model', None),
    f'{layer}/long_feed_forward/in/kernel': (None, 'model'),
    f'{layer}/long_feed_forward/in/bias': ('model',),
    f'{layer}/long_feed_forward/out/kernel': ('model', None),
    f'{layer}/long_attention_norm/scale': (None,),
  }
  assert {path: found[path] for path in expected} == expected


def test_stacked_parameters_keep_their_layers_together(mesh):
  scanned = dataclasses.replace(ETC, scan_layers=True)
  found = specs(ETCEncoder(scanned), mesh, *ETC_INPUTS)
  path = 'stack/layers/layer/attention/long_query/kernel'
  assert found[path] == (None, None, 'model', None)


def test_a_dimension_the_mesh_does_not_divide_stays_whole(mesh):
  odd = dataclasses.replace(ETC, vocab=29, heads=3)
  found = specs(ETCEncoder(odd), mesh, *ETC_INPUTS)
  assert found['embeddings/tokens/embedding'] == (None, None)
  attention = 'stack/layer_0/attention'
  assert found[f'{attention}/long_query/kernel'] == (None, None, None)
  assert found['stack/layer_0/long_feed_forward/in/bias'] == ('model',)


def test_a_table_of_odd_rows_is_divided_by_columns(mesh):
  odd = dataclasses.replace(BERT, vocab=29)
  found = specs(TransformerEncoder(odd), mesh, TOKENS, TOKENS > 3)
  assert found['embeddings/token/embedding'] == (None, 'model')


def test_what_rows_are_spread_over_shares_parameters_too():
  found = specs(
    TransformerEncoder(dataclasses.replace(BERT, vocab=29)),
    make_mesh(2, 2, fsdp=2),
    *(TOKENS, TOKENS > 3),
  )
  layer = 'stack/layers_0'
  expected = {
    'embeddings/token/embedding': (None, 'model'),
    'embeddings/position/embedding': (None, 'fsdp'),
    f'{layer}/self_attention/query/kernel': ('fsdp', 'model', None),
    f'{layer}/self_attention/output/kernel': ('model', None, 'fsdp'),
    f'{layer}/self_attention/output/bias': (None,),
    f'{layer}/feed_forward/in/kernel': ('fsdp', 'model'),
  }
  assert {path: found[path] for path in expected} == expected


def test_initial_parameters_are_born_where_they_belong(mesh):
  module = ETCEncoder(ETC)
  variables = init_sharded(module, mesh, jax.random.key(0), *ETC_INPUTS)
  boxed = jax.eval_shape(module.init, jax.random.key(0), *ETC_INPUTS)
  jax.tree.map(
    lambda leaf, sharding: (
      leaf.sharding.is_equivalent_to(sharding, leaf.ndim)
      or pytest.fail(f'{leaf.sharding} is not {sharding}')
    ),
    variables,
    param_shardings(boxed, mesh),
  )
  table = variables['params']['embeddings']['tokens']['embedding']
  assert table.shape == (30, 15)
  assert {shard.data.shape for shard in table.addressable_shards} == {(15, 15)}
  assert len(table.addressable_shards) == 8


def test_sharded_and_plain_initial_parameters_are_equal(mesh):
  module = TransformerEncoder(BERT)
  arguments = (TOKENS, TOKENS > 3)
  sharded = init_sharded(module, mesh, jax.random.key(0), *arguments)
  plain = nn.unbox(module.init(jax.random.key(0), *arguments))
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), sharded, plain
  )


def outputs_and_gradients(module, variables, arguments):
  def loss(variables):
    outputs = module.apply(variables, *arguments)
    leaves = jax.tree.leaves(outputs)
    return sum(jnp.square(leaf).mean() for leaf in leaves), outputs

  return quick_jit(jax.grad(loss, has_aux=True))(variables)


def assert_equals_one_device(module, mesh, arguments):
  boxed = jax.eval_shape(module.init, jax.random.key(0), *arguments)
  variables = jax.device_put(
    draw(module, *arguments), param_shardings(boxed, mesh)
  )
  with jax.set_mesh(mesh), nn.logical_axis_rules(DEFAULT_RULES):
    sharded = outputs_and_gradients(module, variables, placed(mesh, arguments))
  assert any(
    len(leaf.sharding.device_set) == 8 and not leaf.is_fully_replicated
    for leaf in jax.tree.leaves(sharded)
  )
  one = jax.devices()[0]
  alone = outputs_and_gradients(
    module, jax.device_put(variables, one), jax.device_put(arguments, one)
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5),
    sharded,
    alone,
  )


@pytest.mark.parametrize(
  ('implementation', 'scan'),
  [
    ('blocked', True),
    ('dense', False),
    pytest.param('blocked', False, marks=pytest.mark.slow),
    pytest.param('dense', True, marks=pytest.mark.slow),
  ],
)
def test_etc_equals_one_device(implementation, scan, mesh):
  config = dataclasses.replace(
    ETC, implementation=implementation, scan_layers=scan
  )
  assert_equals_one_device(ETCEncoder(config), mesh, ETC_INPUTS)


def test_transformer_equals_one_device(mesh):
  mask = ETC_INPUTS[2].long_examples > 0
  assert_equals_one_device(TransformerEncoder(BERT), mesh, (TOKENS, mask))


@pytest.mark.slow
def test_hierarchical_encoder_equals_one_device(mesh):
  config = HierarchicalConfig(
    BERT, document_layers=1, document_positions=7, summary_positions=3
  )
  tokens = jnp.arange(4 * 3 * 5).reshape(4, 3, 5) % 30
  plan = jnp.array([[0, -1], [1, 2], [2, -1], [-1, -1]])
  arguments = (tokens, jnp.ones_like(tokens, bool), plan)
  assert_equals_one_device(HierarchicalEncoder(config), mesh, arguments)


def compiled_text(mesh, arguments, rules):
  module = ETCEncoder(dataclasses.replace(ETC, layers=1))
  variables = init_sharded(module, mesh, jax.random.key(0), *ETC_INPUTS)
  with jax.set_mesh(mesh), nn.logical_axis_rules(rules):
    lowered = jax.jit(module.apply).lower(variables, *arguments)
  return lowered.as_text()


def test_activations_are_constrained(mesh):
  """The batch is not sharded here: only the constraints can split it."""
  constrained = compiled_text(mesh, ETC_INPUTS, DEFAULT_RULES)
  # Heads: batch over data, heads over model.
  assert '[{"data", "fsdp"}, {}, {"model"}, {}]' in constrained
  # Streams: batch over data.
  assert '[{"data", "fsdp"}, {}, {}]' in constrained
  assert '{"data"}' not in compiled_text(mesh, ETC_INPUTS, ())


def modules_and_arguments():
  mask = TOKENS > 3
  everything = dataclasses.replace(
    ETC, embedding_width=7, long_positions=13, global_positions=7
  )
  hierarchy = HierarchicalConfig(
    BERT, document_layers=1, document_positions=7, summary_positions=3
  )
  grid = jnp.zeros((2, 3, 5), int)
  yield ETCEncoder(everything), ETC_INPUTS
  yield (
    ETCEncoder(dataclasses.replace(everything, scan_layers=True)),
    ETC_INPUTS,
  )
  yield TransformerEncoder(BERT), (TOKENS, mask)
  yield (
    HierarchicalEncoder(hierarchy),
    (grid, grid == 0, jnp.zeros((2, 2), int)),
  )


def test_every_parameter_has_a_rule(mesh):
  """`param_shardings` refuses names without one."""
  for module, arguments in modules_and_arguments():
    assert specs(module, mesh, *arguments)


def test_an_unknown_axis_is_refused(mesh):
  boxed = jax.eval_shape(ETCEncoder(ETC).init, jax.random.key(0), *ETC_INPUTS)
  rules = [rule for rule in DEFAULT_RULES if rule[0] != 'kv']
  with pytest.raises(InputError, match="no rule for logical axis 'kv', rules"):
    param_shardings(boxed, mesh, rules)


def test_too_many_devices_are_refused():
  with pytest.raises(
    InputError, match='a 5 x 2 mesh needs 10 devices, there are 8'
  ):
    make_mesh(5, 2)


def test_a_mesh_may_use_some_devices():
  devices = jax.devices()[2:6]
  mesh = make_mesh(2, 1, devices)
  assert mesh.shape == {'data': 2, 'fsdp': 1, 'model': 1}
  assert list(mesh.devices.ravel()) == devices[:2]


def test_num_params_counts_without_allocating():
  huge = dataclasses.replace(ETC, vocab=10**9)
  assert num_params(ETCEncoder(huge), *ETC_INPUTS) > 15 * 10**9
