import dataclasses

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.layers._hierarchical import (
  HierarchicalConfig,
  HierarchicalEncoder,
)
from stepwise.layers._transformer import TransformerConfig
from tests.layers import numpy_transformer as twin
from tests.layers.parameters import (
  contract,
  count,
  describe,
  draw,
  dropout_key,
  quick_jit,
  run,
  stack_layers,
)

BATCH, UNITS, TOKENS, STEPS = 2, 7, 5, 3
SENTENCE = TransformerConfig(
  vocab=29,
  embed=15,
  heads=3,
  mlp=17,
  layers=1,
  positions=11,
  norm_epsilon=1e-3,
)
STEPWISE = HierarchicalConfig(
  SENTENCE, document_layers=2, document_positions=13, summary_positions=5
)
TABLE = dataclasses.replace(STEPWISE, document_positions=0)
MEAN = dataclasses.replace(STEPWISE, pooling='mean')
FROM_END = dataclasses.replace(TABLE, from_end=True)
NOT_STEPWISE = dataclasses.replace(STEPWISE, summary_positions=0)
# Fewer positions than document 0 has units, but enough for document 1.
FAR = dataclasses.replace(STEPWISE, document_positions=5, reach=11)
CONTRACTS = {
  'hierarchical_stepwise': STEPWISE,
  'hierarchical_table': TABLE,
  'hierarchical_not_stepwise': NOT_STEPWISE,
}

# Document 0: seven units; document 1: four, then padding.
LENGTHS = np.array([[5, 1, 4, 2, 3, 5, 1], [2, 5, 1, 3, 0, 0, 0]])
PLAN = jnp.array([[1, 6, -1], [0, -1, -1]])


def draw_tokens():
  tokens = jax.random.randint(
    jax.random.key(1), (BATCH, UNITS, TOKENS), 0, SENTENCE.vocab
  )
  mask = np.arange(TOKENS)[None, None] < LENGTHS[..., None]
  return tokens, jnp.asarray(mask)


def sized_inputs(config):
  """What the module is called with; the plan only if it takes one."""
  return (*draw_tokens(), *([PLAN] if config.stepwise else []))


def drawn(config):
  module = HierarchicalEncoder(config)
  inputs = sized_inputs(config)
  return module, draw(module, *inputs), inputs


def twin_units(params, config, tokens, mask):
  """u of one document, unit by unit, padding cut off."""
  units = []
  for row, real in zip(tokens, mask, strict=True):
    length = max(real.sum(), 1)
    states = twin.encoder(
      params['sentence'],
      row[:length],
      np.ones(length, bool),
      config.sentence.norm_epsilon,
    )
    units.append(states[0] if config.pooling == 'first' else states.mean(0))
  return np.stack(units)


def twin_positions(params, count):
  """A row for every unit, or means of rows if there are too few."""
  table = params['document_position']['embedding']
  rows = len(table)
  kept = count if count <= rows else rows // 2
  places = [*range(kept), *np.linspace(kept, rows - 1, count - kept)]
  columns = [np.interp(places, np.arange(rows), column) for column in table.T]
  return np.stack(columns, axis=-1)


def twin_document(params, config, units, plan):
  """The equations, for one document without padding and a plan without -1."""
  epsilon = config.sentence.norm_epsilon

  def norm(name, x):
    return twin.norm(params[name], x, epsilon)

  x = units
  if config.document_positions:
    x = x + twin_positions(params, len(x))
  x = norm('norm', x)
  if config.stepwise:
    positions = params['summary_position']['embedding'][: len(plan)]
    if config.from_end:
      positions = positions[::-1]
    y = norm('norm', units[plan] + positions)
  for i in range(config.document_layers):
    layer = params[f'layers_{i}']

    def step(norm_name, x, update, layer=layer):
      return twin.norm(layer[norm_name], x + update, epsilon)

    def self_attention(x, layer=layer):
      allowed = np.ones((len(x), len(x)), bool)
      return twin.attention(layer['self_attention'], x, x, allowed)

    def feed(x, layer=layer):
      return twin.feed_forward(layer['feed_forward'], x)

    c = step('self_norm', x, self_attention(x))
    if config.stepwise:
      s = step('self_norm', y, self_attention(y))
      allowed = np.ones((len(c), len(s)), bool)
      read = twin.attention(layer['cross_attention'], c, s, allowed)
      c = step('cross_norm', c, read)
      y = step('feed_norm', s, feed(s))
    x = step('feed_norm', c, feed(c))
  return x


@pytest.mark.parametrize(
  'config',
  [STEPWISE, TABLE, MEAN, FROM_END, NOT_STEPWISE, FAR],
  ids=['stepwise', 'table', 'mean', 'from_end', 'not_stepwise', 'far'],
)
def test_equals_the_equations(config):
  module, variables, inputs = drawn(config)
  states = run(module, variables, *inputs)
  params = jax.tree.map(np.float64, variables['params'])
  for row in range(BATCH):
    real = LENGTHS[row] > 0
    tokens, mask = (np.asarray(x[row])[real] for x in inputs[:2])
    units = twin_units(params, config, tokens, mask)
    plan = np.asarray(PLAN[row])
    expected = twin_document(params, config, units, plan[plan >= 0])
    np.testing.assert_allclose(
      states[row, real], expected, rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(
  'config', [STEPWISE, NOT_STEPWISE], ids=['stepwise', 'not']
)
def test_cached_equals_all_at_once(config):
  module, variables, (tokens, mask, *plan) = drawn(config)
  units = run(module, variables, tokens, mask, method='encode_units')
  memory = run(module, variables, units, mask.any(-1), method='prepare')
  np.testing.assert_allclose(
    run(module, variables, memory, *plan, method='score_states'),
    run(module, variables, tokens, mask, *plan),
    atol=1e-5,
  )


def test_empty_plan_reads_nothing():
  """Cross attention then contributes zero, its output bias included."""
  module, variables, (tokens, mask, _) = drawn(STEPWISE)
  states = run(module, variables, tokens, mask, jnp.full((BATCH, STEPS), -1))
  params = jax.tree.map(np.float64, variables['params'])
  units = twin_units(
    params, STEPWISE, np.asarray(tokens[0]), np.asarray(mask[0])
  )
  # The twin's attention adds nothing, bias neither, where no key is allowed.
  expected = twin_document(params, STEPWISE, units, np.array([], int))
  np.testing.assert_allclose(states[0], expected, rtol=1e-4, atol=1e-4)


def test_plan_order_matters_and_is_read():
  module, variables, (tokens, mask, plan) = drawn(STEPWISE)
  states = run(module, variables, tokens, mask, plan)
  for other in (plan.at[0].set(jnp.array([6, 1, -1])), plan.at[0, 1].set(2)):
    changed = run(module, variables, tokens, mask, other)
    assert np.abs(states[0] - changed[0]).max() > 0.01
    np.testing.assert_array_equal(states[1], changed[1])


def test_table_units_are_a_set():
  """Without document positions, permuted units give permuted states."""
  module, variables, (tokens, mask, plan) = drawn(TABLE)
  states = run(module, variables, tokens, mask, plan)
  order = np.array([3, 0, 6, 2, 5, 1, 4])
  moved = np.argsort(order)
  permuted_plan = jnp.where(plan >= 0, jnp.asarray(moved)[plan], -1)
  permuted = run(
    module, variables, tokens[:, order], mask[:, order], permuted_plan
  )
  real = LENGTHS[:, order] > 0
  np.testing.assert_allclose(
    permuted[real], states[:, order][real], rtol=1e-4, atol=1e-4
  )


@pytest.mark.parametrize('config', [STEPWISE, MEAN], ids=['first', 'mean'])
def test_padding_content_never_matters(config):
  module, variables, (tokens, mask, plan) = drawn(config)
  states = run(module, variables, tokens, mask, plan)
  other = jnp.where(mask, tokens, (tokens + 1) % SENTENCE.vocab)
  changed = run(module, variables, other, mask, plan)
  real = LENGTHS > 0
  np.testing.assert_array_equal(states[real], changed[real])


@pytest.mark.parametrize(
  'config', [STEPWISE, MEAN, FAR], ids=['first', 'mean', 'far']
)
def test_more_padding_changes_nothing(config):
  module, variables, (tokens, mask, plan) = drawn(config)
  states = run(module, variables, tokens, mask, plan)
  wider = ((0, 0), (0, 3), (0, 2))
  extended = run(
    module,
    variables,
    jnp.pad(tokens, wider, constant_values=9),
    jnp.pad(mask, wider),
    jnp.pad(plan, ((0, 0), (0, 2)), constant_values=-1),
  )
  real = LENGTHS > 0
  np.testing.assert_allclose(
    extended[:, :UNITS][real], states[real], rtol=1e-4, atol=1e-5
  )


def test_documents_that_fit_are_read_as_without_a_reach():
  """Positions to the bit; states as near as two programs round alike."""
  module, variables, inputs = drawn(STEPWISE)
  far = HierarchicalEncoder(dataclasses.replace(STEPWISE, reach=17))
  real = jnp.asarray(LENGTHS > 0)
  positions = far.apply(variables, real, True, method='_read_places')
  table = variables['params']['document_position']['embedding']
  for row in positions:
    np.testing.assert_array_equal(row, table[:UNITS])
  np.testing.assert_allclose(
    run(far, variables, *inputs)[real],
    run(module, variables, *inputs)[real],
    rtol=1e-5,
    atol=2e-6,
  )


def learning_states(config, seed):
  """What training reads, without dropout: draws are of places alone."""
  sentence = dataclasses.replace(SENTENCE, dropout=0.0)
  config = dataclasses.replace(config, sentence=sentence)
  module, variables, inputs = drawn(config)
  rngs = {'dropout': dropout_key(seed)}
  return module.apply(variables, *inputs, deterministic=False, rngs=rngs)


def test_places_are_drawn_in_training():
  found = [learning_states(FAR, seed) for seed in (0, 0, 1, 2, 3)]
  np.testing.assert_array_equal(found[0], found[1])
  assert any(np.abs(found[0][0] - other[0]).max() > 0.01 for other in found)


def test_places_need_not_be_drawn():
  module, variables, inputs = drawn(FAR)
  learning = learning_states(dataclasses.replace(FAR, drawn_places=False), 0)
  np.testing.assert_allclose(
    learning[LENGTHS > 0],
    run(module, variables, *inputs)[LENGTHS > 0],
    rtol=1e-4,
    atol=1e-4,
  )


def test_gradients_reach_all_positions():
  module, variables, inputs = drawn(FAR)

  @quick_jit
  @jax.grad
  def gradient(params):
    states = module.apply({'params': params}, *inputs)
    return jnp.square(states[0]).sum()

  found = gradient(variables['params'])['document_position']['embedding']
  assert np.any(found, axis=1).all()


def unit_gradient(module, variables, units, unit_mask, plan):
  """Gradient of all real document states to the unit vectors."""

  @quick_jit
  @jax.grad
  def gradient(units):
    memory = module.apply(variables, units, unit_mask, method='prepare')
    states = module.apply(variables, memory, plan, method='score_states')
    return jnp.square(jnp.where(unit_mask[..., None], states, 0)).sum()

  return gradient(units)


def test_padding_units_have_zero_gradient():
  """Padded unit vectors, and vectors of empty plan slots, reach nothing."""
  module, variables, (tokens, mask, plan) = drawn(STEPWISE)
  units = run(module, variables, tokens, mask, method='encode_units')
  gradient = unit_gradient(module, variables, units, mask.any(-1), plan)
  np.testing.assert_array_equal(np.any(gradient, axis=-1), LENGTHS > 0)


def test_a_document_without_units_keeps_gradients_finite():
  module, variables, (tokens, mask, plan) = drawn(STEPWISE)
  empty, no_plan = mask.at[1].set(False), plan.at[1].set(-1)
  units = run(module, variables, tokens, empty, method='encode_units')
  gradient = unit_gradient(module, variables, units, empty.any(-1), no_plan)
  assert np.isfinite(gradient).all()
  assert not np.any(gradient[1])


@pytest.mark.parametrize('config', [STEPWISE, MEAN], ids=['first', 'mean'])
def test_padding_tokens_have_zero_gradient(config):
  """A reserved token stands on all padding, and on nothing else."""
  module, variables, (tokens, mask, plan) = drawn(config)
  tokens = jnp.where(mask, tokens % 28, 28)
  params = variables['params']

  def projected(table):
    embeddings = params['sentence']['embeddings']
    embeddings = embeddings | {'token': {'embedding': table}}
    sentence = params['sentence'] | {'embeddings': embeddings}
    states = module.apply(
      {'params': params | {'sentence': sentence}}, tokens, mask, plan
    )[LENGTHS > 0]
    return (states * np.random.default_rng(0).normal(size=states.shape)).sum()

  table = params['sentence']['embeddings']['token']['embedding']
  gradient = quick_jit(jax.grad(projected))(table)
  assert not np.any(gradient[28])
  assert np.any(gradient[tokens[1, 0, 0]])


def test_wrong_masks_change_the_states():
  module, variables, (tokens, mask, plan) = drawn(STEPWISE)
  states = run(module, variables, tokens, mask, plan)
  for wrong in (mask.at[1, 0, 2].set(True), mask.at[1, 4:, 0].set(True)):
    changed = run(module, variables, tokens, wrong, plan)
    np.testing.assert_array_equal(states[0], changed[0])
    assert np.abs(states[1, :4] - changed[1, :4]).max() > 0.01


def test_scanned_sentence_encoder_equals_the_loop():
  module, variables, inputs = drawn(STEPWISE)
  sentence = dataclasses.replace(SENTENCE, scan_layers=True)
  other = HierarchicalEncoder(dataclasses.replace(STEPWISE, sentence=sentence))
  params = variables['params']
  stacked = params | {'sentence': stack_layers(params['sentence'])}
  np.testing.assert_allclose(
    run(other, {'params': stacked}, *inputs),
    run(module, variables, *inputs),
    atol=1e-4,
  )


def test_remat_keeps_gradients():
  module, variables, (tokens, mask, plan) = drawn(STEPWISE)
  sentence = dataclasses.replace(SENTENCE, remat=True)
  other = HierarchicalEncoder(dataclasses.replace(STEPWISE, sentence=sentence))
  units = run(module, variables, tokens, mask, method='encode_units')
  np.testing.assert_allclose(
    unit_gradient(other, variables, units, mask.any(-1), plan),
    unit_gradient(module, variables, units, mask.any(-1), plan),
    rtol=1e-3,
    atol=1e-3,
  )


def test_bfloat16_is_close_and_finite():
  module, variables, inputs = drawn(MEAN)
  half = HierarchicalEncoder(
    dataclasses.replace(
      MEAN, sentence=dataclasses.replace(SENTENCE, dtype=jnp.bfloat16)
    )
  )
  states = run(half, variables, *inputs)
  assert states.dtype == jnp.bfloat16
  exact = run(module, variables, *inputs)
  real = LENGTHS > 0
  np.testing.assert_allclose(
    states.astype(np.float32)[real], exact[real], atol=0.3
  )


@pytest.mark.parametrize(
  ('config', 'expected'),
  [
    (
      HierarchicalConfig(
        TransformerConfig(vocab=50358, layers=2), 4, summary_positions=512
      ),
      91_448_065,
    ),
    (
      HierarchicalConfig(TransformerConfig(vocab=50358, layers=8), 4, 132, 132),
      133_784_833,
    ),
  ],
)
def test_parameter_count(config, expected):
  scorer = 768 + 1
  inputs = sized_inputs(config)
  assert count(HierarchicalEncoder(config), *inputs) + scorer == expected


@pytest.mark.parametrize('name', CONTRACTS)
def test_parameter_contract(name):
  config = CONTRACTS[name]
  module = HierarchicalEncoder(config)
  assert describe(module, *sized_inputs(config)) == contract(name)


def test_plan_given_to_a_model_without_steps():
  module, variables, inputs = drawn(NOT_STEPWISE)
  with pytest.raises(InputError, match='plan is given, but summary_positions'):
    run(module, variables, *inputs, PLAN)


def test_plan_missing():
  module, variables, inputs = drawn(STEPWISE)
  with pytest.raises(InputError, match='plan is missing, but summary_positi'):
    run(module, variables, *inputs[:2])


def test_too_many_units():
  module, variables, _ = drawn(STEPWISE)
  units = jnp.zeros((BATCH, 17, SENTENCE.embed))
  with pytest.raises(InputError, match=r'17 units are given, .* has 13 rows'):
    run(module, variables, units, units[..., 0] == 0, method='prepare')


def test_more_units_than_the_reach():
  module, variables, _ = drawn(FAR)
  units = jnp.zeros((BATCH, 13, SENTENCE.embed))
  with pytest.raises(InputError, match='13 units are given, but reach is 11'):
    run(module, variables, units, units[..., 0] == 0, method='prepare')


def test_too_many_plan_slots():
  module, variables, (tokens, mask, _) = drawn(STEPWISE)
  with pytest.raises(InputError, match=r'6 plan slots .* has 5 rows'):
    run(module, variables, tokens, mask, jnp.zeros((BATCH, 6), int))


def test_wrong_rank():
  module, variables, (tokens, mask, _) = drawn(STEPWISE)
  jaxtyping.config.update('jaxtyping_disable', True)
  try:
    with pytest.raises(InputError, match=r'shape \(2, 7\); \[batch, units'):
      module.apply(
        variables, tokens[..., 0], mask[..., 0], method='encode_units'
      )
  finally:
    jaxtyping.config.update('jaxtyping_disable', False)


@pytest.mark.parametrize(
  ('options', 'message'),
  [
    ({'pooling': 'last'}, "pooling is 'last'; 'first' or 'mean' exist"),
    ({'document_layers': 0}, 'document_layers is 0; 1 or more are needed'),
    (
      {'reach': 12},
      r'reach is 12; 0, or 13 \(the document positions\) or more',
    ),
    (
      {'reach': 17, 'document_positions': 0},
      'reach is 17, but document_positions is 0: units that are a set',
    ),
  ],
)
def test_bad_configuration(options, message):
  jaxtyping.config.update('jaxtyping_disable', True)
  try:
    with pytest.raises(InputError, match=message):
      dataclasses.replace(STEPWISE, **options)
  finally:
    jaxtyping.config.update('jaxtyping_disable', False)
