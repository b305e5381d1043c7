"""The ETC encoder, beyond what the golden fixtures fix."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from stepwise._errors import InputError
from stepwise.layers import (
  AttentionPattern,
  ETCConfig,
  ETCEncoder,
  GlobalLocalAttention,
  GlobalLocalLayer,
  GlobalLocalStack,
  UnitStructure,
)
from stepwise.layers._etc import ETCEmbeddings, layer_attention, remat_groups
from stepwise.layers._structure import pair_structure
from tests.layers import numpy_transformer as twin
from tests.layers.etc_inputs import TINY, inputs
from tests.layers.parameters import (
  contract,
  count,
  describe,
  draw,
  dropout_key,
  product_dtypes,
  quick_jit,
  run,
)

TOKENS, GLOBAL_TOKENS, STRUCTURE = INPUTS = inputs()


def replace(**changes) -> ETCConfig:
  return dataclasses.replace(TINY, **changes)


def states(seed: int = 1):
  random = np.random.default_rng(seed)
  return tuple(
    jnp.asarray(random.normal(size=(2, tokens, TINY.embed)), jnp.float32)
    for tokens in (11, 5)
  )


def assert_near(first, second, tolerance=1e-5):
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, tolerance, tolerance),
    first,
    second,
  )


def differ(first, second) -> bool:
  return any(
    not np.allclose(a, b)
    for a, b in zip(
      jax.tree.leaves(first), jax.tree.leaves(second), strict=True
    )
  )


def outputs_and_gradients(config, variables, dropout=None):
  """Of the real tokens; `dropout` is a key, None = no dropout."""
  module = ETCEncoder(config)

  def loss(variables):
    long, glob = module.apply(
      variables,
      *INPUTS,
      deterministic=dropout is None,
      rngs=None if dropout is None else {'dropout': dropout},
    )
    return jnp.square(long[:, :8]).sum() + jnp.sin(glob).sum(), (long, glob)

  return quick_jit(jax.grad(loss, has_aux=True))(variables)[::-1]


def test_pre_norm_equals_a_plain_layer():
  """x <- x + f(norm(x)) for attention, then for the feed-forward block."""
  config = replace(pre_norm=True, activation='gelu_exact')
  layer = GlobalLocalLayer(config)
  variables = draw(layer, *states(), STRUCTURE)
  params = jax.tree.map(np.asarray, variables['params'])
  attention = {'params': variables['params']['attention']}

  def norm(name, x):
    return twin.norm(params[name], np.asarray(x), config.epsilon)

  long, glob = states()
  updates = layer_attention(config).apply(
    attention,
    jnp.asarray(norm('long_attention_norm', long)),
    jnp.asarray(norm('global_attention_norm', glob)),
    STRUCTURE,
  )
  expected = []
  for stream, update in zip((long, glob), updates, strict=True):
    stream = np.asarray(stream + update)
    expected.append(
      stream
      + twin.feed_forward(
        params['long_feed_forward'], norm('long_feed_forward_norm', stream)
      )
    )
  assert_near(run(layer, variables, *states(), STRUCTURE), tuple(expected))


def test_pre_and_post_norm_have_the_same_parameters():
  assert describe(ETCEncoder(TINY), *INPUTS) == describe(
    ETCEncoder(replace(pre_norm=True)), *INPUTS
  )


def stacked(tree):
  """The parameters of a loop over layers, as a scan wants them."""
  stack = tree['params']['stack']
  layers = [stack[f'layer_{i}'] for i in range(len(stack))]
  scanned = {
    'layers': {'layer': jax.tree.map(lambda *x: jnp.stack(x), *layers)}
  }
  return {'params': {**tree['params'], 'stack': scanned}}


@pytest.mark.parametrize('remat_period', [0, 1])
def test_scan_equals_loop(remat_period):
  variables = draw(ETCEncoder(TINY), *INPUTS)
  outputs, gradients = outputs_and_gradients(TINY, variables)
  config = replace(scan_layers=True, remat_period=remat_period)
  scanned = outputs_and_gradients(config, stacked(variables))
  assert_near(scanned[0], outputs)
  assert_near(scanned[1], stacked(gradients), 1e-3)


def test_scanned_layers_start_differently(key):
  module = GlobalLocalStack(replace(scan_layers=True))
  variables = quick_jit(module.init)(key, *states(), STRUCTURE)
  layer = variables['params']['layers']['layer']
  kernel = layer['attention']['long_query']['kernel'].value
  assert not np.allclose(kernel[0], kernel[1])


def test_recomputed_scan_draws_the_same_dropout():
  """Also: `deterministic` stays a Python value inside the recomputation."""
  config = dataclasses.replace(SMALL, scan_layers=True, dropout=0.3)
  variables = draw(ETCEncoder(config), *INPUTS)
  recomputed = dataclasses.replace(config, remat_period=1)
  assert_near(
    *(
      outputs_and_gradients(c, variables, dropout_key(0))
      for c in (config, recomputed)
    )
  )


# Few parameters and few operations: such models compile in no time.
SMALL = replace(
  labels=0, sharing='qkv', share_output=True, implementation='dense'
)


def test_remat_changes_nothing():
  """Not even what dropout draws."""
  config = dataclasses.replace(SMALL, layers=3, dropout=0.3)
  variables = draw(ETCEncoder(config), *INPUTS)
  expected = outputs_and_gradients(config, variables, dropout_key(0))
  for period in (1, 2):
    recomputed = dataclasses.replace(config, remat_period=period)
    assert_near(
      outputs_and_gradients(recomputed, variables, dropout_key(0)), expected
    )


def test_remat_recomputes_all_groups_but_the_last():
  def recomputed_groups(period):
    config = dataclasses.replace(SMALL, layers=3, remat_period=period)
    module = GlobalLocalStack(config)
    variables = jax.eval_shape(
      module.init, jax.random.key(0), *states(), STRUCTURE
    )
    zeros = jax.tree.map(lambda x: jnp.zeros(x.shape), variables)
    jaxpr = jax.make_jaxpr(lambda v: module.apply(v, *states(), STRUCTURE))
    names = [equation.primitive.name for equation in jaxpr(zeros).eqns]
    return names.count('remat2')

  assert [recomputed_groups(period) for period in (0, 1, 2, 5)] == [0, 2, 1, 0]


def test_remat_groups():
  assert remat_groups(range(5), 0) == [range(5)]
  assert remat_groups('abcde', 1) == list('abcde')
  assert remat_groups('abcd', 2) == ['ab', 'cd']
  assert remat_groups('ab', 5) == ['ab']


def test_dropout_draws_by_key_and_only_when_training():
  config = replace(dropout=0.5)
  variables = draw(ETCEncoder(config), *INPUTS)

  @quick_jit
  def train(key):
    return ETCEncoder(config).apply(
      variables, *INPUTS, deterministic=False, rngs={'dropout': key}
    )

  first, second = dropout_key(0), dropout_key(1)
  assert differ(train(first), train(second))
  assert not differ(train(first), train(first))
  off = run(ETCEncoder(TINY), variables, *INPUTS)
  assert not differ(run(ETCEncoder(config), variables, *INPUTS), off)
  at_rate_zero = ETCEncoder(TINY).apply(variables, *INPUTS, deterministic=False)
  assert_near(at_rate_zero, off)


def test_dropout_of_embeddings():
  module = ETCEmbeddings(replace(dropout=0.5))
  arguments = ((TOKENS, GLOBAL_TOKENS), (None, None))
  variables = module.init(jax.random.key(0), *arguments)
  plain = module.apply(variables, *arguments)
  dropped = module.apply(
    variables,
    *arguments,
    deterministic=False,
    rngs={'dropout': dropout_key(0)},
  )
  for kept, all_of_it in zip(dropped, plain, strict=True):
    assert 0.3 < (kept == 0).mean() < 0.7
    assert_near(kept[kept != 0], 2 * all_of_it[kept != 0])


def test_dropout_of_probabilities():
  module = layer_attention(replace(dropout=0.5))
  variables = draw(module, *states(), STRUCTURE)
  outputs = [
    module.apply(
      variables,
      *states(),
      STRUCTURE,
      deterministic,
      rngs={'dropout': dropout_key(0)},
    )
    for deterministic in (True, False)
  ]
  assert all(differ(a, b) for a, b in zip(*outputs, strict=True))


def test_dropout_of_updates():
  """Updates are constant here: 1 from attention, 10 from the feed-forward."""
  module = GlobalLocalLayer(replace(dropout=0.5, pre_norm=True))
  variables = jax.tree.map(jnp.zeros_like, draw(module, *states(), STRUCTURE))
  params = variables['params']
  for side in ('long', 'global'):
    params['attention'][f'{side}_output']['bias'] += 1
  params['long_feed_forward']['out']['bias'] += 10
  outputs = module.apply(
    variables,
    *states(),
    STRUCTURE,
    False,
    rngs={'dropout': dropout_key(0)},
  )
  for before, after in zip(states(), outputs, strict=True):
    assert set(np.round(after - before).ravel().tolist()) == {0, 2, 20, 22}


def test_segments_default_to_one_and_zero():
  module = ETCEncoder(TINY)
  variables = draw(module, *INPUTS)
  default = run(module, variables, *INPUTS)
  ones, zeros = jnp.ones_like(TOKENS), jnp.zeros_like(GLOBAL_TOKENS)
  assert_near(run(module, variables, *INPUTS, ones, zeros), default)
  assert differ(run(module, variables, *INPUTS, 0 * ones, zeros), default)


def test_embeddings_are_normed_sums_of_rows():
  """Of token, segment (1 long, 0 global) and position."""
  config = replace(long_positions=13, global_positions=7)
  ids = (TOKENS, GLOBAL_TOKENS)
  module = ETCEmbeddings(config)
  variables = draw(module, ids, (None, None))
  params = jax.tree.map(np.asarray, variables['params'])
  embedded = module.apply(variables, ids, (None, None))
  for ours, tokens, side, segment in zip(
    embedded, ids, ('long', 'global'), (1, 0), strict=True
  ):
    rows = params[f'{side}_positions']['embedding'][: tokens.shape[1]]
    summed = params['tokens']['embedding'][tokens] + rows
    summed = summed + params['segments']['embedding'][segment]
    normed = twin.norm(params[f'{side}_norm'], summed, config.epsilon)
    assert_near(ours, normed)


def test_positions_may_be_given():
  def run_at(module, variables, positions):
    return run(module, variables, *at(positions))

  def at(positions):
    return *INPUTS, None, None, positions

  counted = jnp.broadcast_to(jnp.arange(11), (2, 11))
  module = ETCEncoder(replace(long_positions=13))
  variables = draw(module, *INPUTS)
  assert_near(
    run_at(module, variables, counted), run(module, variables, *INPUTS)
  )
  # A table that is too small for counting serves positions that start again.
  small = ETCEncoder(replace(long_positions=4))
  variables = draw(small, *at(counted % 4))
  assert differ(
    run_at(small, variables, counted % 4), run_at(small, variables, 0 * counted)
  )


def test_embedding_width_is_a_factorised_table():
  module = ETCEncoder(replace(embedding_width=7))
  variables = draw(module, *INPUTS)
  embeddings = dict(variables['params']['embeddings'])
  projection = embeddings.pop('projection')
  rows = embeddings['tokens']['embedding'] @ projection['kernel']
  embeddings['tokens'] = {'embedding': rows + projection['bias'][None]}
  whole = {'params': {**variables['params'], 'embeddings': embeddings}}
  assert_near(
    run(module, variables, *INPUTS),
    run(ETCEncoder(TINY), whole, *INPUTS),
    1e-4,
  )


@pytest.mark.parametrize(
  ('options', 'parameters'),
  [
    ({'sharing': 'qkv'}, 116_215_296),
    ({'sharing': 'qkv', 'share_output': True}, 109_128_192),
    ({'pattern': AttentionPattern(max_distance=24), 'labels': 52}, 166_199_424),
    ({'pattern': AttentionPattern(max_distance=42), 'labels': 88}, 166_873_344),
  ],
)
def test_parameters_of_the_base_size(options, parameters):
  assert count(ETCEncoder(ETCConfig(**options)), *INPUTS) == parameters


@pytest.mark.parametrize('sharing', ['none', 'kv', 'qkv'])
def test_shared_projections(sharing):
  """The kept ones: 2 + 4 + 4, 2 + 2 + 2 or 1 + 1 + 1."""
  module = layer_attention(replace(sharing=sharing))
  names = draw(module, *states(), STRUCTURE)['params']
  projections = [n for n in names if n.endswith(('query', 'key', 'value'))]
  assert len(projections) == {'none': 10, 'kv': 6, 'qkv': 3}[sharing]


def test_bfloat16_activations_and_float32_parameters():
  half = dataclasses.replace(SMALL, dtype=jnp.bfloat16)
  variables = draw(ETCEncoder(half), *INPUTS)
  outputs, gradients = outputs_and_gradients(half, variables)
  for leaf in jax.tree.leaves((variables, gradients)):
    assert leaf.dtype == jnp.float32
    assert np.isfinite(leaf).all()
  full = run(ETCEncoder(SMALL), variables, *INPUTS)
  for ours, exact in zip(outputs, full, strict=True):
    assert ours.dtype == jnp.bfloat16
    np.testing.assert_allclose(ours.astype(jnp.float32), exact, atol=0.25)


def test_without_relative_terms():
  module = ETCEncoder(replace(labels=0))
  variables = draw(module, *INPUTS)
  assert not any('relative' in path for path in describe(module, *INPUTS))
  zeros = {
    side: {'embedding': jnp.zeros((8, 3, 5)), 'bias': jnp.zeros((8, 3))}
    for side in ('long_relative', 'global_relative')
  }
  stack = {
    name: {**layer, 'attention': {**layer['attention'], **zeros}}
    for name, layer in variables['params']['stack'].items()
  }
  with_zeros = {'params': {**variables['params'], 'stack': stack}}
  assert_near(
    run(module, variables, *INPUTS), run(ETCEncoder(TINY), with_zeros, *INPUTS)
  )


@pytest.mark.parametrize(
  ('name', 'options'),
  [
    ('etc_encoder', {}),
    ('etc_encoder_scanned', {'scan_layers': True, 'sharing': 'qkv'}),
    (
      'etc_encoder_everything',
      {
        'embedding_width': 7,
        'long_positions': 13,
        'global_positions': 11,
        'share_feed_forward': False,
        'global_mlp': 19,
      },
    ),
  ],
)
def test_parameter_contract(name, options):
  module = ETCEncoder(replace(layers=1, **options))
  assert describe(module, *INPUTS) == contract(name)


@pytest.mark.parametrize(
  ('options', 'message'),
  [
    ({'heads': 4}, 'embed is 15, must be a multiple of heads=4 unless dim'),
    ({'sharing': 'kqv'}, r"sharing is 'kqv', must be one of \('none', 'kv'"),
    ({'implementation': 'other'}, "implementation is 'other', must be one of"),
    ({'activation': 'relu'}, "activation is 'relu', must be one of"),
    ({'products': 'int4'}, r"products is 'int4', must be one of \('float32',"),
    ({'radii': (3,)}, 'radii has 1 numbers, layers is 2: one for every layer'),
    (
      {'radii': (3, 4), 'scan_layers': True},
      r'radii are \(3, 4\), must be equal: scan_layers compiles one layer',
    ),
  ],
)
def test_wrong_configurations(options, message):
  with pytest.raises(InputError, match=message):
    replace(**options)


def test_a_head_size_of_its_own_frees_the_heads():
  config = replace(heads=4, dim=7)
  long, glob = jax.eval_shape(
    ETCEncoder(config).init_with_output, jax.random.key(0), *INPUTS
  )[0]
  assert long.shape == (2, 11, 15)
  assert glob.shape == (2, 5, 15)


def test_every_layer_may_have_its_own_radius():
  """Two layers of radius 1 and 3 are a stack of one and one of the other."""
  variables = draw(GlobalLocalStack(TINY), *states(), STRUCTURE)['params']
  expected = states()
  for index, radius in enumerate((1, 3)):
    pattern = dataclasses.replace(TINY.pattern, radius=radius)
    layer = GlobalLocalLayer(replace(pattern=pattern))
    params = {'params': variables[f'layer_{index}']}
    expected = run(layer, params, *expected, STRUCTURE)
  mixed = GlobalLocalStack(replace(radii=(1, 3)))
  outputs = run(mixed, {'params': variables}, *states(), STRUCTURE)
  assert_near(outputs, expected)
  same = run(
    GlobalLocalStack(TINY), {'params': variables}, *states(), STRUCTURE
  )
  assert differ(outputs, same)


@pytest.mark.parametrize('option', [{'sharing': 'qkv'}, {'share_output': True}])
def test_shared_projections_need_one_width(option):
  long, glob = states()
  with pytest.raises(
    InputError, match='have width 12 and long tokens 15, must'
  ):
    GlobalLocalAttention(heads=3, dim=5, **option).init(
      jax.random.key(0), long, glob[..., :12], STRUCTURE
    )


def test_unknown_sharing_of_projections():
  with pytest.raises(InputError, match="sharing is 'kqv', must be one of"):
    GlobalLocalAttention(heads=3, dim=5, sharing='kqv').init(
      jax.random.key(0), *states(), STRUCTURE
    )


def test_attention_without_global_tokens():
  """As with global tokens that nobody may read, and fewer parameters."""
  module = GlobalLocalAttention(heads=3, dim=5, radius=2, block=4)
  long, glob = states()
  variables = draw(module, long, glob, STRUCTURE)
  examples = STRUCTURE.long_examples
  unread = STRUCTURE._replace(
    unit_ids=jnp.full_like(STRUCTURE.unit_ids, -1),
    global_examples=jnp.full_like(STRUCTURE.global_examples, 7),
  )
  expected, _ = run(module, variables, long, glob, unread)
  local = UnitStructure.local(examples)
  own = jax.eval_shape(module.init, jax.random.key(0), long, None, local)
  kept = {name: variables['params'][name] for name in own['params']}
  assert sorted(kept) == [
    'l2l_key',
    'l2l_value',
    'long_output',
    'long_query',
    'long_relative',
  ]
  ours, nothing = run(module, {'params': kept}, long, None, local)
  assert nothing is None
  assert_near(ours, expected)


def test_bfloat16_products_reach_every_product(optimised):
  """Forward and backward no product is left that multiplies float32."""
  config = dataclasses.replace(SMALL, layers=1, labels=8, products='bfloat16')
  variables = draw(ETCEncoder(config), *INPUTS)

  def gradient(config, variables):
    def loss(variables):
      long, glob = ETCEncoder(config).apply(variables, *INPUTS)
      return jnp.square(long[:, :8]).sum() + jnp.sin(glob).sum()

    return jax.grad(loss)(variables)

  jaxpr = jax.make_jaxpr(lambda v: gradient(config, v))(variables)
  assert product_dtypes(jaxpr.jaxpr) == {jnp.dtype(jnp.bfloat16)}
  exact = dataclasses.replace(config, products='float32')
  compiled = jax.jit(gradient, static_argnums=0)
  ours, full = (
    ravel_pytree(compiled(c, variables))[0] for c in (config, exact)
  )
  assert ours.dtype == jnp.float32
  assert jnp.linalg.norm(ours - full) <= 0.02 * jnp.linalg.norm(full)


@pytest.mark.parametrize('side', ['long', 'global'])
def test_more_tokens_than_positions(side):
  config = replace(**{f'{side}_positions': 3})
  with pytest.raises(InputError, match=f'but {side}_positions is 3: give a'):
    ETCEncoder(config).init(jax.random.key(0), *INPUTS)


def means_of_units(embedded, owners, num_globals):
  """Means of the long embeddings of every unit, with loops; 0 = no token."""
  means = np.zeros((len(embedded), num_globals, embedded.shape[-1]))
  for row, unit in np.ndindex(len(embedded), num_globals):
    own = embedded[row, owners[row] == unit]
    means[row, unit] = own.mean(axis=0) if len(own) else 0
  return means


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 2**31), st.integers(1, 7), st.booleans())
def test_global_means_equal_a_numpy_twin(seed, num_globals, positions):
  random = np.random.default_rng(seed)
  config = replace(global_means=True, global_positions=9 * positions)
  tokens = random.integers(0, 29, (2, 11))
  global_tokens = random.integers(0, 29, (2, num_globals))
  # Some tokens have no owner, and some units no token.
  owners = random.integers(-1, num_globals, (2, 11))
  rows = random.integers(0, 9, (2, num_globals))
  ids = jnp.asarray(tokens), jnp.asarray(global_tokens)
  places = jnp.asarray(rows) if positions else None
  arguments = ids, (None, None), (None, places), jnp.asarray(owners)
  module = ETCEmbeddings(config)
  variables = draw(module, *arguments)
  params = jax.tree.map(np.asarray, variables['params'])
  long, glob = module.apply(variables, *arguments)
  summed = params['tokens']['embedding'][global_tokens]
  summed = summed + params['segments']['embedding'][0]
  if positions:
    summed = summed + params['global_positions']['embedding'][rows]
  summed = summed + means_of_units(np.asarray(long), owners, num_globals)
  assert_near(
    glob, twin.norm(params['global_norm'], summed, config.epsilon), 1e-4
  )


def test_global_means_have_no_parameters_and_no_part_in_long_embeddings():
  assert describe(ETCEncoder(replace(global_means=True)), *INPUTS) == describe(
    ETCEncoder(TINY), *INPUTS
  )
  variables = draw(ETCEncoder(TINY), *INPUTS)
  embeddings = {'params': variables['params']['embeddings']}
  ids, owners = (TOKENS, GLOBAL_TOKENS), STRUCTURE.unit_ids
  without, means = (
    ETCEmbeddings(TINY).apply(embeddings, ids, (None, None), owners=of)
    for of in (None, owners)
  )
  assert_near(means[0], without[0])
  assert differ(means[1], without[1])


def test_global_means_do_not_read_tokens_of_no_unit():
  module = ETCEncoder(replace(global_means=True))
  variables = draw(module, *INPUTS)
  padding = np.asarray(STRUCTURE.long_examples) == 0
  owners = jnp.where(padding, -1, STRUCTURE.unit_ids)
  structure = STRUCTURE._replace(unit_ids=owners)
  other = jnp.where(padding, 28 - TOKENS, TOKENS)
  ours, theirs = (
    run(module, variables, tokens, GLOBAL_TOKENS, structure)
    for tokens in (TOKENS, other)
  )
  assert_near(ours[1], theirs[1])
  assert_near(ours[0][~padding], theirs[0][~padding])


def test_global_means_need_units():
  pairs = pair_structure(STRUCTURE, TINY.pattern)
  module = ETCEncoder(replace(global_means=True))
  with pytest.raises(InputError, match='global_means is set, but the structur'):
    module.init(jax.random.key(0), TOKENS, GLOBAL_TOKENS, pairs)


def test_global_positions_may_be_given():
  def run_at(module, variables, positions):
    return run(module, variables, *INPUTS, None, None, None, positions)

  counted = jnp.broadcast_to(jnp.arange(5), (2, 5))
  module = ETCEncoder(replace(global_positions=7))
  variables = draw(module, *INPUTS)
  assert_near(
    run_at(module, variables, counted), run(module, variables, *INPUTS)
  )
  assert differ(
    run_at(module, variables, 4 - counted), run(module, variables, *INPUTS)
  )
