import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.layers._encoder_decoder import EncoderDecoder
from stepwise.layers._transformer import TransformerConfig
from tests.layers import numpy_transformer as twin
from tests.layers.parameters import (
  contract,
  count,
  describe,
  draw,
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
  norm_epsilon=1e-3,
)
BATCH, SOURCE, TARGET = 2, 11, 7
SOURCE_LENGTHS = np.array([11, 5])


@pytest.fixture
def source():
  return jax.random.randint(jax.random.key(1), (BATCH, SOURCE), 0, TINY.vocab)


@pytest.fixture
def targets():
  return jax.random.randint(jax.random.key(2), (BATCH, TARGET), 0, TINY.vocab)


@pytest.fixture
def mask():
  return jnp.asarray(np.arange(SOURCE)[None] < SOURCE_LENGTHS[:, None])


def twin_decoder(params, targets, memory, real, epsilon):
  """One example, from the definition: [length] -> [length, vocab]."""
  x = twin.embed(params['embeddings'], targets, epsilon)
  causal = np.tril(np.ones((len(x), len(x)), bool))
  allowed = np.broadcast_to(real, (len(x), len(real)))
  for i in range(TINY.layers):
    layer = params['stack'][f'layers_{i}']
    attended = twin.attention(layer['self_attention'], x, x, causal)
    x = twin.norm(layer['self_norm'], x + attended, epsilon)
    read = twin.attention(layer['cross_attention'], x, memory, allowed)
    x = twin.norm(layer['cross_norm'], x + read, epsilon)
    fed = twin.feed_forward(layer['feed_forward'], x)
    x = twin.norm(layer['feed_norm'], x + fed, epsilon)
  return x @ params['embeddings']['token']['embedding'].T


@pytest.mark.parametrize('share', [True, False])
def test_equals_numpy(share, source, mask, targets):
  module = EncoderDecoder(TINY, share)
  variables = draw(module, source, mask, targets)
  logits = run(module, variables, source, mask, targets)
  params = jax.tree.map(np.float64, variables['params'])
  for row in range(BATCH):
    real = np.asarray(mask[row])
    memory = twin.encoder(
      params if share else params['encoder'],
      np.asarray(source[row]),
      real,
      TINY.norm_epsilon,
    )
    expected = twin_decoder(
      params, np.asarray(targets[row]), memory, real, TINY.norm_epsilon
    )
    np.testing.assert_allclose(logits[row], expected, rtol=1e-4, atol=1e-4)


def decode_by_steps(module, variables, memory, mask, targets):
  """Logits of every position, from the cache alone."""
  cache = run(
    module,
    variables,
    memory,
    mask,
    method=lambda m, *xs: m.init_cache(*xs, TARGET),
  )
  step = quick_jit(
    lambda *inputs: module.apply(variables, *inputs, method='decode_step')
  )
  logits = []
  for position in range(TARGET):
    scores, cache = step(targets[:, position], jnp.int32(position), cache)
    logits.append(scores)
  return jnp.stack(logits, 1)


@pytest.mark.parametrize(
  'options', [{}, {'scan_layers': True}, {'pre_norm': True}]
)
def test_cached_equals_uncached(options, source, mask, targets):
  module = EncoderDecoder(dataclasses.replace(TINY, **options))
  variables = draw(module, source, mask, targets)
  memory = run(module, variables, source, mask, method='encode')
  logits = run(module, variables, targets, memory, mask, method='decode')
  np.testing.assert_allclose(
    decode_by_steps(module, variables, memory, mask, targets),
    logits,
    rtol=1e-4,
    atol=1e-4,
  )


def test_scan_equals_loop(source, mask, targets):
  loop = EncoderDecoder(TINY)
  scan = EncoderDecoder(dataclasses.replace(TINY, scan_layers=True, remat=True))
  variables = draw(loop, source, mask, targets)
  np.testing.assert_allclose(
    run(loop, variables, source, mask, targets),
    run(scan, stack_layers(variables), source, mask, targets),
    rtol=1e-5,
    atol=1e-5,
  )


def test_causal(source, mask, targets):
  """Logits at t depend on targets up to t, and on no later one.

  A row of the position table is added at its position only, so its gradient
  is that of the input there (the token table is also the output's).
  """
  module = EncoderDecoder(TINY)
  variables = draw(module, source, mask, targets)
  memory = run(module, variables, source, mask, method='encode')

  @quick_jit
  @jax.jacrev
  def jacobian(table):
    embeddings = variables['params']['embeddings']
    params = variables['params'] | {
      'embeddings': embeddings | {'position': {'embedding': table}}
    }
    logits = module.apply(
      {'params': params}, targets, memory, mask, method='decode'
    )
    return jnp.square(logits).sum((0, 2))

  table = variables['params']['embeddings']['position']['embedding']
  reach = np.any(jacobian(table)[:, :TARGET], axis=-1)
  np.testing.assert_array_equal(reach, np.tril(np.ones_like(reach)))


def test_source_padding_never_matters(source, mask, targets):
  module = EncoderDecoder(TINY)
  variables = draw(module, source, mask, targets)
  logits = run(module, variables, source, mask, targets)
  other = jnp.where(mask, source, (source + 1) % TINY.vocab)
  np.testing.assert_array_equal(
    logits, run(module, variables, other, mask, targets)
  )
  wrong = run(module, variables, source, mask.at[1, 5].set(True), targets)
  assert np.abs(logits[1] - wrong[1]).max() > 0.01


def test_sharing_is_everything_but_cross_attention(source, mask, targets):
  """Gradients through the encoder alone reach the shared layers."""
  module = EncoderDecoder(TINY)
  variables = draw(module, source, mask, targets)

  def loss(variables):
    states = module.apply(variables, source, mask, method='encode')
    return jnp.square(states * jnp.arange(1.0, 16)[None, None]).sum()

  gradients = quick_jit(jax.grad(loss))(variables)['params']
  layer = gradients['stack']['layers_1']
  reached = {
    name: any(np.any(leaf) for leaf in jax.tree.leaves(part))
    for name, part in layer.items()
  }
  assert reached == {
    'self_attention': True,
    'self_norm': True,
    'feed_forward': True,
    'feed_norm': True,
    'cross_attention': False,
    'cross_norm': False,
  }


def test_bfloat16_logits_are_float32(source, mask, targets):
  module = EncoderDecoder(dataclasses.replace(TINY, dtype=jnp.bfloat16))
  variables = draw(module, source, mask, targets)
  logits = run(module, variables, source, mask, targets)
  assert logits.dtype == jnp.float32
  exact = run(EncoderDecoder(TINY), variables, source, mask, targets)
  np.testing.assert_allclose(logits, exact, atol=0.3)


@pytest.mark.parametrize(
  ('share', 'scan', 'expected'),
  [
    (True, False, 152_491_008),
    (True, True, 152_491_008),
    # A second body, without cross attention: 50358 H + 512 H + LN + 12 layers.
    (False, False, 152_491_008 + 124_124_160),
  ],
)
def test_parameter_count(share, scan, expected, source, mask, targets):
  config = TransformerConfig(vocab=50358, scan_layers=scan)
  assert count(EncoderDecoder(config, share), source, mask, targets) == expected


@pytest.mark.parametrize('share', [True, False])
def test_parameter_contract(share, source, mask, targets):
  name = 'encoder_decoder' + ('_shared' if share else '')
  module = EncoderDecoder(TINY, share)
  assert describe(module, source, mask, targets) == contract(name)


def test_too_many_steps(source, mask, targets):
  module = EncoderDecoder(TINY)
  variables = draw(module, source, mask, targets)
  memory = jnp.zeros((BATCH, SOURCE, TINY.embed))
  with pytest.raises(
    InputError, match=r'14 decoding steps are given, .* has 13 rows'
  ):
    module.apply(variables, memory, mask, 14, method='init_cache')
