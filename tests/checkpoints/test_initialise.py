"""What our models start from, and that they then compute it."""

import dataclasses
import functools

import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.checkpoints import (
  Pretrained,
  adopt_numerics,
  initialise,
  load_huggingface,
)
from stepwise.layers import (
  AttentionPattern,
  EncoderDecoder,
  ETCConfig,
  ETCEncoder,
  HierarchicalConfig,
  HierarchicalEncoder,
  PairStructure,
  TransformerEncoder,
)
from stepwise.models import (
  BERTSumConfig,
  ETCSumConfig,
  HiBERTConfig,
  RealizerConfig,
)
from tests.checkpoints.foreign import HUGGINGFACE, flat, random_params, unflat
from tests.layers.parameters import run

SIZES = {'embed': 15, 'heads': 3, 'mlp': 17}
BODY = RealizerConfig(vocab=53, layers=5, positions=13, **SIZES)
SHORT = dataclasses.replace(BODY, layers=2)


@functools.cache
def source(name='roberta', layers=5) -> Pretrained:
  """The bottom layers of a fixture."""
  config, params = load_huggingface(HUGGINGFACE / name)
  stack = {f'layers_{i}': params['stack'][f'layers_{i}'] for i in range(layers)}
  return Pretrained(
    dataclasses.replace(config, layers=layers), {**params, 'stack': stack}
  )


def started(config, theirs):
  """The adapted configuration, fresh parameters and started ones."""
  config = adopt_numerics(config, theirs.config)
  fresh = random_params(config)
  return config, flat(fresh), flat(initialise(fresh, theirs, config))


def tokens(batch=2, length=11, vocab=53):
  random = np.random.default_rng(5)
  return jnp.asarray(random.integers(5, vocab, (batch, length)), jnp.int32)


def states_of(theirs, ids):
  encoder = TransformerEncoder(theirs.config)
  mask = jnp.ones(ids.shape, bool)
  return run(encoder, {'params': theirs.params}, ids, mask)


def below(prefix, weights):
  start = f'{prefix}/'
  return {
    k.removeprefix(start): v for k, v in weights.items() if k.startswith(start)
  }


def layer(index):
  return below(f'stack/layers_{index}', flat(source().params))


def assert_same(ours, theirs):
  assert ours.keys() == theirs.keys()
  for path in ours:
    np.testing.assert_array_equal(ours[path], theirs[path], err_msg=path)


@pytest.mark.parametrize('name', ['bert', 'roberta'])
@pytest.mark.parametrize('token_types', [0, 2])
def test_bertsum_encodes_as_the_source(name, token_types):
  body = dataclasses.replace(
    SHORT, vocab=59, positions=11, token_types=token_types
  )
  theirs = source(name, 2)
  config, _, weights = started(BERTSumConfig(body, cls=0, sep=2), theirs)
  states = run(
    TransformerEncoder(config.encoder),
    {'params': unflat(below('encoder', weights))},
    tokens(),
    jnp.ones((2, 11), bool),
  )
  np.testing.assert_allclose(states, states_of(theirs, tokens()), atol=5e-6)


def test_spare_rows_of_the_vocabulary_and_the_head_stay_fresh():
  body = dataclasses.replace(BODY, vocab=59)
  _, fresh, weights = started(BERTSumConfig(body, cls=0, sep=2), source())
  table = 'encoder/embeddings/token/embedding'
  np.testing.assert_array_equal(weights[table][53:], fresh[table][53:])
  np.testing.assert_array_equal(
    weights[table][:53], flat(source().params)['embeddings/token/embedding']
  )
  assert_same(below('scorer', weights), below('scorer', fresh))


def hibert(sentence_layers, document_layers, summary_positions=5):
  return HiBERTConfig(
    HierarchicalConfig(
      dataclasses.replace(BODY, layers=sentence_layers),
      document_layers=document_layers,
      document_positions=7,
      summary_positions=summary_positions,
    ),
    first_token=0,
    max_unit_tokens=11,
  )


@pytest.mark.parametrize(
  ('sentence_layers', 'document_layers', 'first'),
  # Enough layers for both; fewer than both need; exactly enough.
  [(2, 2, 2), (5, 2, 3), (3, 2, 3)],
)
def test_which_layer_of_hibert_comes_from_where(
  sentence_layers, document_layers, first
):
  config = hibert(sentence_layers, document_layers)
  _, fresh, weights = started(config, source())
  for i in range(sentence_layers):
    ours = below(f'encoder/sentence/stack/layers_{i}', weights)
    assert_same(ours, layer(i))
  for i in range(document_layers):
    ours, theirs = below(f'encoder/layers_{i}', weights), layer(first + i)
    for part in ('attention', 'norm'):
      assert_same(below(f'cross_{part}', ours), below(f'self_{part}', theirs))
    plain = {k: v for k, v in ours.items() if not k.startswith('cross_')}
    assert_same(plain, theirs)
  for part in ('norm', 'document_position', 'summary_position'):
    ours = below(f'encoder/{part}', weights)
    assert_same(ours, below(f'encoder/{part}', fresh))


def test_hibert_encodes_units_as_the_source():
  theirs = source('bert', 2)
  config, _, weights = started(hibert(2, 1), theirs)
  units = run(
    HierarchicalEncoder(config.encoder),
    {'params': unflat(below('encoder', weights))},
    tokens()[None],
    jnp.ones((1, 2, 11), bool),
    method='encode_units',
  )
  np.testing.assert_allclose(
    units[0], states_of(theirs, tokens())[:, 0], atol=5e-6
  )


def test_a_hibert_that_is_not_stepwise_has_no_cross_attention():
  _, _, weights = started(hibert(2, 2, summary_positions=0), source())
  assert not [path for path in weights if 'cross' in path]


@pytest.mark.parametrize('scan', [False, True])
def test_realizer_encodes_as_the_source(scan):
  theirs, target = (
    source(layers=2),
    dataclasses.replace(SHORT, scan_layers=scan),
  )
  config, _, weights = started(target, theirs)
  states = run(
    EncoderDecoder(config),
    {'params': unflat(weights)},
    tokens(),
    jnp.ones((2, 11), bool),
    method='encode',
  )
  np.testing.assert_allclose(states, states_of(theirs, tokens()), atol=5e-6)


def test_cross_attention_of_the_realizer_is_its_self_attention():
  _, _, weights = started(BODY, source())
  for i in range(5):
    ours = below(f'stack/layers_{i}', weights)
    for part in ('attention', 'norm'):
      assert_same(below(f'cross_{part}', ours), below(f'self_{part}', layer(i)))


def etcsum(**options):
  return ETCSumConfig(
    ETCConfig(
      vocab=59,
      layers=2,
      pattern=AttentionPattern(radius=11, max_distance=3),
      labels=10,
      segments=3,
      implementation='dense',
      **SIZES,
      **options,
    )
  )


@pytest.mark.parametrize(
  'options',
  [
    {},
    {'scan_layers': True},
    {'sharing': 'kv', 'share_feed_forward': False},
    {'sharing': 'qkv', 'share_output': True},
  ],
  ids=str,
)
def test_etcsum_without_structure_is_the_source(options):
  """Long and global tokens are then one sequence of a plain encoder.

  That needs zero relative tables, a full radius, no masks, and a source whose
  positions are all the same; and it exercises every part of the attention.
  """
  theirs = source('bert', 2)
  config, _, weights = started(etcsum(**options), theirs)
  weights = without_relative(weights)
  ids = tokens(length=13)
  long, glob = run(
    ETCEncoder(config.encoder),
    {'params': unflat(weights)},
    ids[:, :8],
    ids[:, 8:],
    PairStructure(),
  )
  expected = states_of(without_positions(theirs), ids)
  np.testing.assert_allclose(
    jnp.concatenate([long, glob], axis=1), expected, atol=1e-5
  )


def without_relative(weights):
  """Those of the encoder, with relative tables of zeros."""
  return {
    path: array * 0 if '_relative/' in path else array
    for path, array in below('encoder', weights).items()
  }


def without_positions(theirs):
  """The same encoder with every position at their mean."""
  weights = flat(theirs.params)
  position = weights['embeddings/position/embedding']
  weights['embeddings/position/embedding'] = np.broadcast_to(
    position.mean(axis=0, keepdims=True), position.shape
  )
  return theirs._replace(params=unflat(weights))


@pytest.mark.parametrize('side', [0, 1], ids=['long', 'global'])
def test_etcsum_with_positions_reads_a_text_as_the_source(side):
  """As above, with all of the text on one side and the other out of sight."""
  theirs = source('bert', 2)
  table = ('long_positions', 'global_positions')[side]
  config, _, weights = started(etcsum(**{table: 9}), theirs)
  weights = without_relative(weights)
  ids = tokens(length=9)
  inputs = (ids, ids[:, :1]) if side == 0 else (ids[:, :1], ids)
  long, glob = (array.shape[1] for array in inputs)
  states = run(
    ETCEncoder(config.encoder),
    {'params': unflat(weights)},
    *inputs,
    PairStructure(
      l2g_mask=jnp.zeros((2, long, glob), bool),
      g2l_mask=jnp.zeros((2, glob, long), bool),
    ),
  )
  np.testing.assert_allclose(states[side], states_of(theirs, ids), atol=1e-5)


@pytest.mark.parametrize('table', ['long_positions', 'global_positions'])
def test_positions_that_the_source_lacks_are_named(table):
  with pytest.raises(InputError, match='positions is 13 but 14 or more are'):
    started(etcsum(**{table: 14}), source(layers=2))


def test_relative_tables_start_small():
  _, fresh, weights = started(etcsum(), source(layers=2))
  paths = [path for path in weights if '_relative/' in path]
  assert len(paths) == 2 * 2 * 2
  for path in paths:
    np.testing.assert_allclose(weights[path], fresh[path] * 0.04, rtol=1e-6)


def test_numerics_come_from_the_source():
  configs = (
    BODY,
    BERTSumConfig(BODY, cls=0, sep=2),
    hibert(2, 2),
    etcsum(),
  )
  theirs = dataclasses.replace(
    source().config, activation='gelu_tanh', norm_epsilon=1e-7
  )
  realizer, bertsum, hierarchical, etc = (
    adopt_numerics(config, theirs) for config in configs
  )
  bodies = (realizer, bertsum.encoder, hierarchical.encoder.sentence)
  for body in bodies:
    assert (body.activation, body.norm_epsilon) == ('gelu_tanh', 1e-7)
    assert body.embed == BODY.embed
  assert (etc.encoder.activation, etc.encoder.epsilon) == ('gelu_tanh', 1e-7)


@pytest.mark.parametrize(
  'config',
  [
    RealizerConfig(vocab=50, embed=12, heads=2, layers=6, positions=14),
    BERTSumConfig(
      RealizerConfig(vocab=50, embed=12, heads=2, layers=6, positions=14),
      cls=0,
      sep=2,
    ),
  ],
  ids=['realizer', 'bertsum'],
)
def test_every_size_that_does_not_fit_is_named(config):
  with pytest.raises(InputError) as caught:
    initialise(random_params(config), source(), config)
  assert str(caught.value) == (
    'the pretrained encoder does not fit: embed is 15 but 12 is needed; heads '
    'is 3 but 2 is needed; mlp is 17 but 3072 is needed; layers is 5 but 6 '
    'is needed; positions is 13 but 14 or more are needed; vocab is 53 but 50 '
    'or fewer are needed.'
  )


def test_hibert_needs_as_many_layers_as_its_larger_part():
  config = hibert(2, 6)
  with pytest.raises(InputError, match='layers is 5 but 6 or more are needed'):
    initialise(random_params(config), source(), config)
