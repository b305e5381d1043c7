import dataclasses

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.layers._transformer import (
  KeyValues,
  MultiHeadAttention,
  TransformerConfig,
  TransformerEncoder,
)
from tests.layers import numpy_transformer as twin
from tests.layers.parameters import (
  contract,
  describe,
  draw,
  dropout_key,
  quick_jit,
  run,
  stack_layers,
)

TINY = TransformerConfig(
  vocab=29,
  embed=15,
  heads=3,
  mlp=17,
  layers=2,
  positions=13,
  token_types=2,
  norm_epsilon=1e-3,
)
BATCH, LENGTH = 2, 11
LENGTHS = np.array([11, 7])


@pytest.fixture
def tokens():
  return jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, TINY.vocab)


@pytest.fixture
def types():
  return jax.random.randint(jax.random.key(2), (BATCH, LENGTH), 0, 2)


@pytest.fixture
def mask():
  return jnp.asarray(np.arange(LENGTH)[None] < LENGTHS[:, None])


def replace(**changes) -> TransformerConfig:
  return dataclasses.replace(TINY, **changes)


def assert_equals_twin(config, tokens, mask, types, layer):
  module = TransformerEncoder(config)
  variables = draw(module, tokens, mask, types)
  states = run(module, variables, tokens, mask, types)
  for row in range(BATCH):
    expected = twin.encoder(
      jax.tree.map(np.float64, variables['params']),
      np.asarray(tokens[row]),
      np.asarray(mask[row]),
      config.norm_epsilon,
      None if types is None else np.asarray(types[row]),
      layer,
    )
    np.testing.assert_allclose(states[row], expected, rtol=1e-4, atol=1e-4)


def test_encoder_equals_numpy_bert(tokens, mask, types):
  assert_equals_twin(TINY, tokens, mask, types, twin.post_norm_layer)


def test_encoder_without_types_equals_numpy_roberta(tokens, mask):
  assert_equals_twin(
    replace(token_types=0), tokens, mask, None, twin.post_norm_layer
  )


def test_pre_norm_equals_numpy(tokens, mask, types):
  assert_equals_twin(
    replace(pre_norm=True), tokens, mask, types, twin.pre_norm_layer
  )


def test_tanh_activation_equals_numpy(tokens, mask, types):
  def layer(*args):
    return twin.post_norm_layer(*args, activation=twin.gelu_tanh)

  assert_equals_twin(
    replace(activation='gelu_tanh'), tokens, mask, types, layer
  )


def test_token_types_default_to_zero(tokens, mask, types):
  module = TransformerEncoder(TINY)
  variables = draw(module, tokens, mask)
  default = run(module, variables, tokens, mask)
  np.testing.assert_array_equal(
    default, run(module, variables, tokens, mask, jnp.zeros_like(tokens))
  )
  assert not np.allclose(default, run(module, variables, tokens, mask, types))


@pytest.mark.parametrize(
  'options',
  [
    {'scan_layers': True},
    {'remat': True},
    {'scan_layers': True, 'remat': True},
  ],
)
def test_scan_and_remat_equal_the_loop(options, tokens, mask):
  """Values and gradients, with the loop's parameters stacked."""
  loop, other = TransformerEncoder(TINY), TransformerEncoder(replace(**options))
  variables = draw(loop, tokens, mask)
  scanned = options.get('scan_layers', False)

  def restack(tree):
    return stack_layers(tree) if scanned else tree

  def loss(module, variables):
    states = module.apply(variables, tokens, mask)
    return jnp.square(states[:, :7]).sum(), states

  def states_and_gradients(module, variables):
    differentiate = jax.value_and_grad(lambda v: loss(module, v), has_aux=True)
    (_, states), gradients = quick_jit(differentiate)(variables)
    return states, gradients

  states, gradients = states_and_gradients(loop, variables)
  other_states, other_gradients = states_and_gradients(
    other, restack(variables)
  )
  np.testing.assert_allclose(states, other_states, rtol=1e-5, atol=1e-5)
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3),
    restack(gradients),
    other_gradients,
  )


@pytest.mark.parametrize('scan', [False, True])
def test_remat_draws_the_same_dropout(scan, tokens, mask):
  plain = replace(dropout=0.3, scan_layers=scan)
  modules = [
    TransformerEncoder(config)
    for config in (plain, dataclasses.replace(plain, remat=True))
  ]
  variables = draw(modules[0], tokens, mask)

  def gradient(module):
    def loss(v):
      states = module.apply(
        v, tokens, mask, deterministic=False, rngs={'dropout': dropout_key(0)}
      )
      return jnp.square(states[:, :7]).sum()

    return quick_jit(jax.grad(loss))(variables)

  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3),
    *map(gradient, modules),
  )


@pytest.mark.parametrize('scan', [False, True])
def test_initial_layers_differ(scan, tokens, mask, key):
  module = TransformerEncoder(replace(scan_layers=scan))
  variables = quick_jit(module.init)(key, tokens, mask)
  stack = variables['params']['stack']
  if scan:
    kernel = stack['layers']['feed_forward']['in']['kernel'].value
  else:
    kernel = [
      stack[f'layers_{i}']['feed_forward']['in']['kernel'].value
      for i in range(2)
    ]
  assert not np.allclose(kernel[0], kernel[1])


def test_dropout_only_when_training(tokens, mask):
  module = TransformerEncoder(replace(dropout=0.5))
  variables = draw(module, tokens, mask)

  @quick_jit
  def train(rng):
    return module.apply(
      variables, tokens, mask, deterministic=False, rngs={'dropout': rng}
    )

  first, second = dropout_key(0), dropout_key(1)
  assert not np.allclose(train(first), train(second))
  np.testing.assert_array_equal(train(first), train(first))
  np.testing.assert_array_equal(
    run(module, variables, tokens, mask),
    run(TransformerEncoder(TINY), variables, tokens, mask),
  )


def test_bfloat16_is_close_and_finite(tokens, mask):
  module = TransformerEncoder(TINY)
  variables = draw(module, tokens, mask)
  half = TransformerEncoder(replace(dtype=jnp.bfloat16))
  states = run(half, variables, tokens, mask)
  assert states.dtype == jnp.bfloat16
  assert np.isfinite(states.astype(np.float32)).all()
  np.testing.assert_allclose(
    states.astype(np.float32)[:, :7],
    run(module, variables, tokens, mask)[:, :7],
    atol=0.2,
  )
  gradients = quick_jit(
    jax.grad(lambda v: half.apply(v, tokens, mask).astype(jnp.float32).sum())
  )(variables)
  for leaf in jax.tree.leaves(gradients):
    assert leaf.dtype == jnp.float32
    assert np.isfinite(leaf).all()


def test_padding_never_matters(tokens, mask):
  """Neither its content nor how much of it there is."""
  module = TransformerEncoder(TINY)
  variables = draw(module, tokens, mask)
  states = run(module, variables, tokens, mask)
  other = jnp.where(mask, tokens, (tokens + 1) % TINY.vocab)
  np.testing.assert_array_equal(
    states[1, :7], run(module, variables, other, mask)[1, :7]
  )
  longer = [jnp.pad(x, ((0, 0), (0, 2))) for x in (tokens, mask)]
  np.testing.assert_allclose(
    states[1, :7], run(module, variables, *longer)[1, :7], atol=1e-5
  )


def test_a_wrong_mask_changes_the_states(tokens, mask):
  module = TransformerEncoder(TINY)
  variables = draw(module, tokens, mask)
  states = run(module, variables, tokens, mask)
  wrong = run(module, variables, tokens, mask.at[1, 7].set(True))
  np.testing.assert_array_equal(states[0], wrong[0])
  assert np.abs(states[1, :7] - wrong[1, :7]).max() > 0.01


def test_attention_to_nothing_is_zero_even_with_an_output_bias(key):
  module = MultiHeadAttention(TINY.heads, TINY.embed // TINY.heads, TINY.embed)
  states = jax.random.normal(key, (2, 5, TINY.embed))

  def attend_self(attention, states, mask):
    return attention(states, attention.keys_values(states), mask)

  mask = jnp.ones((2, 5, 5), bool).at[1, 2].set(False)
  boxed = module.init(key, states, mask, method=attend_self)
  variables = jax.tree.map(lambda leaf: leaf + 0.3, boxed)
  out = run(module, variables, states, mask, method=attend_self)
  assert not np.any(out[1, 2])
  assert np.all(np.any(np.delete(out[1], 2, 0), axis=-1))


def test_empty_batch_rows_keep_gradients_finite(tokens, mask):
  module = TransformerEncoder(TINY)
  variables = draw(module, tokens, mask)
  empty = mask.at[1].set(False)
  gradients = quick_jit(
    jax.grad(lambda v: jnp.square(module.apply(v, tokens, empty)).sum())
  )(variables)
  assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))


def test_key_values_write():
  old = KeyValues(jnp.zeros((2, 3, 5, 1)), jnp.zeros((2, 3, 5, 1)))
  new = KeyValues(jnp.ones((2, 3, 1, 1)), 2 * jnp.ones((2, 3, 1, 1)))
  written = old.write(new, 3)
  np.testing.assert_array_equal(written.key[0, 0, :, 0], [0, 0, 0, 1, 0])
  np.testing.assert_array_equal(written.value[1, 2, :, 0], [0, 0, 0, 2, 0])


@pytest.mark.parametrize('scan', [False, True])
def test_parameter_contract(scan, tokens, mask):
  module = TransformerEncoder(replace(scan_layers=scan))
  name = 'transformer_encoder' + ('_scanned' if scan else '')
  assert describe(module, tokens, mask) == contract(name)


def test_embed_not_divisible_by_heads():
  with pytest.raises(InputError, match=r'embed is 15, .* multiple of heads 4'):
    replace(heads=4)


def test_unknown_activation():
  with pytest.raises(InputError, match="activation is 'relu'; known are"):
    replace(activation='relu')


def test_too_many_positions(tokens):
  longer = jnp.tile(tokens, (1, 2))
  with pytest.raises(InputError, match=r'22 tokens are given, .* has 13 rows'):
    TransformerEncoder(TINY).init(jax.random.key(0), longer, longer >= 0)


def test_wrong_rank():
  """Outside of tests nobody checks annotations, so the module must."""
  tokens = jnp.zeros((2, 3, 5), int)
  jaxtyping.config.update('jaxtyping_disable', True)
  try:
    with pytest.raises(InputError, match=r'shape \(2, 3, 5\); \[batch, length'):
      TransformerEncoder(TINY).init(jax.random.key(0), tokens, tokens >= 0)
  finally:
    jaxtyping.config.update('jaxtyping_disable', False)


def test_types_without_a_table(tokens, mask, types):
  with pytest.raises(InputError, match=r'config\.token_types is 0'):
    TransformerEncoder(replace(token_types=0)).init(
      jax.random.key(0), tokens, mask, types
    )
