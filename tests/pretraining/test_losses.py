"""Both losses against plain NumPy, together and apart."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from stepwise.layers import ETCEncoder, UnitStructure, make_mesh, on_mesh
from stepwise.models import assemble
from stepwise.models._etcsum import ETCSumMemory
from stepwise.pretraining import contrastive_sums, pretraining_loss
from stepwise.pretraining._losses import loss_parts, row_states
from stepwise.training._mesh import place_batch
from stepwise.training._step import sum_gradients
from tests.layers.parameters import draw, quick_jit
from tests.pretraining.masked import CONFIG, masked_batch

MODULE = CONFIG.build()
BATCH = masked_batch(3, rows=4)


@pytest.fixture(scope='module')
def variables():
  return draw(MODULE, BATCH)


@pytest.fixture(scope='module')
def guesses(variables):
  return quick_jit(MODULE.apply)(variables, BATCH)


apply_encoder = quick_jit(ETCEncoder(CONFIG.reader.encoder).apply)


def encode(variables, *args):
  return apply_encoder({'params': variables['params']['encoder']}, *args)


def log_softmax(x):
  x = x - x.max(axis=-1, keepdims=True)
  return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def numpy_head(params, states):
  """dense, GELU, norm and the token table, in float64."""
  head = jax.tree.map(lambda x: np.asarray(x, np.float64), params['head'])
  x = states @ head['dense']['kernel'] + head['dense']['bias']
  x = 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))
  x = (x - x.mean(-1, keepdims=True)) / np.sqrt(
    x.var(-1, keepdims=True) + CONFIG.reader.encoder.epsilon
  )
  x = x * head['norm']['scale'] + head['norm']['bias']
  table = np.asarray(params['encoder']['embeddings']['tokens']['embedding'])
  return x @ table.T.astype(np.float64) + head['bias']


def test_mlm_is_that_of_plain_numpy(variables, guesses):
  memory = ETCSumMemory(BATCH.tokens, BATCH.unit_ids, BATCH.valid)
  inputs = assemble(memory, None, CONFIG.reader)
  tokens = np.array(inputs.global_tokens)
  for row, units in enumerate(np.asarray(BATCH.hidden)):
    for unit in units[units >= 0]:
      tokens[row, inputs.unit_globals[row, unit]] = CONFIG.hidden_token
  long, _ = encode(variables, inputs.tokens, tokens, inputs.structure)
  loss, correct = 0.0, 0
  for row in range(3):
    masked = np.asarray(BATCH.masked[row])
    masked, labels = masked[masked >= 0], np.asarray(BATCH.labels[row])
    states = np.asarray(long[row], np.float64)[masked + 1]
    log_probs = log_softmax(numpy_head(variables['params'], states))
    loss -= log_probs[np.arange(len(masked)), labels[: len(masked)]].sum()
    correct += (log_probs.argmax(axis=1) == labels[: len(masked)]).sum()
  states = quick_jit(functools.partial(row_states, MODULE))(
    variables['params'], BATCH
  )
  mlm = loss_parts(states, BATCH)['mlm']
  count = int((np.asarray(BATCH.masked) >= 0).sum())
  assert count > 7
  np.testing.assert_allclose(np.array(mlm), [loss, count, correct], rtol=2e-5)


def test_units_are_read_alone(variables, guesses):
  """Whatever stands beside them in their row."""
  for row in range(3):
    slots = np.asarray(BATCH.hidden_slots[row])
    for slot in range(int((BATCH.hidden[row] >= 0).sum())):
      tokens = BATCH.hidden_tokens[row][slots == slot][None]
      ones = jnp.ones_like(tokens)
      one = jnp.array([[CONFIG.reader.unit_token]])
      structure = UnitStructure(0 * tokens, ones, jnp.ones_like(one))
      _, glob = encode(variables, tokens, one, structure)
      found = guesses.units[row, slot]
      np.testing.assert_allclose(glob[0, 0], found, rtol=1e-4, atol=1e-5)


def test_a_document_does_not_know_what_it_hides(variables, guesses):
  """Other tokens of hidden units change how they are read alone, only."""
  other = BATCH._replace(hidden_tokens=(BATCH.hidden_tokens + 7) % 97)
  changed = quick_jit(MODULE.apply)(variables, other)
  np.testing.assert_array_equal(changed.logits, guesses.logits)
  np.testing.assert_array_equal(changed.contexts, guesses.contexts)
  real = np.asarray(BATCH.hidden) >= 0
  assert (changed.units != guesses.units).any(axis=-1)[real].all()


# Through one layer global tokens know of no other unit's words.
DEEPER = dataclasses.replace(
  CONFIG, reader=CONFIG.reader.with_settings(layers=2)
).build()


def test_the_context_reaches_hidden_units():
  """Through visible units: another word of one changes the contexts."""
  run, variables = quick_jit(DEEPER.apply), draw(DEEPER, BATCH)
  hidden = np.asarray(BATCH.hidden)
  index = next(i for i in range(2, 20) if BATCH.unit_ids[0, i] not in hidden[0])
  other = BATCH._replace(tokens=BATCH.tokens.at[0, index].add(1))
  before, after = run(variables, BATCH), run(variables, other)
  changed = np.asarray(before.contexts != after.contexts).any(axis=-1)
  assert changed[0][hidden[0] >= 0].all()
  assert not changed[1:].any()
  np.testing.assert_array_equal(before.units, after.units)


REAL = np.array([[True, True, False], [True, False, False], [True] * 3])


def numpy_contrast(contexts, units, real):
  """Every context against all units of all rows, one after another."""
  every = [(b, h) for b in range(len(real)) for h in range(3) if real[b, h]]
  loss, correct = 0.0, 0
  for own, place in enumerate(every):
    scores = np.array([contexts[place] @ units[other] for other in every])
    log_probs = log_softmax(scores / np.sqrt(contexts.shape[-1]))
    loss -= log_probs[own]
    correct += log_probs.argmax() == own
  return loss, len(every), correct


def test_cpc_is_that_of_plain_numpy():
  rng = np.random.default_rng(0)
  contexts, units = rng.normal(size=(2, 3, 3, 5)).astype(np.float32)
  found = contrastive_sums(*map(jnp.asarray, (contexts, units, REAL)))
  expected = numpy_contrast(contexts, units, REAL)
  np.testing.assert_allclose(np.array(found), expected, rtol=1e-5)


def test_cpc_finds_the_right_unit_where_units_differ():
  rng = np.random.default_rng(0)
  units = rng.normal(size=(3, 3, 64)).astype(np.float32)
  contexts = units + 0.3 * rng.normal(size=units.shape).astype(np.float32)
  found = contrastive_sums(*map(jnp.asarray, (contexts, units, REAL)))
  assert found.correct == found.weight == 6
  # Another row's units are no less wrong than those of the same row.
  swapped = contrastive_sums(
    *map(jnp.asarray, (contexts[[1, 2, 0]], units, REAL[[1, 1, 1]]))
  )
  assert swapped.correct == 0
  assert swapped.mean > 3 * found.mean


def test_more_rows_are_more_negatives():
  states = jax.random.normal(jax.random.key(0), (8, 2, 5))
  real = jnp.ones((8, 2), bool)
  apart = sum(
    contrastive_sums(states[i : i + 2], states[i : i + 2] * 0, real[:2]).loss
    for i in range(0, 8, 2)
  )
  together = contrastive_sums(states, states * 0, real).loss
  np.testing.assert_allclose(apart, 16 * np.log(4), rtol=1e-6)
  np.testing.assert_allclose(together, 16 * np.log(16), rtol=1e-6)


@functools.cache
def gradients(weights, accumulate):
  loss = pretraining_loss(MODULE, *weights)
  keys = jax.random.split(jax.random.key(0), accumulate)
  return quick_jit(
    lambda params, batch: sum_gradients(loss, params, batch, keys)
  )


EIGHT = masked_batch(7, rows=8, seed=5)


def close(found, expected):
  scale = max(float(jnp.abs(x).max()) for x in jax.tree.leaves(expected))
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=2e-5 * scale, rtol=1e-3),
    found,
    expected,
  )


def test_each_loss_alone_and_both(variables):
  """Gradients of means add up by their weights."""
  params = variables['params']
  sums, both = gradients((0.8, 0.2), 1)(params, EIGHT)
  only = [gradients(w, 1)(params, EIGHT) for w in ((1.0, 0.0), (0.0, 1.0))]
  # Each is the gradient of a mean times the number of its terms.
  mlm, cpc = (
    jax.tree.map(lambda x, count=s[''].weight: x / count, g) for s, g in only
  )
  both = jax.tree.map(lambda x: x / sums[''].weight, both)
  close(both, jax.tree.map(lambda a, b: 0.8 * a + 0.2 * b, mlm, cpc))
  expected = 0.8 * only[0][0][''].mean + 0.2 * only[1][0][''].mean
  np.testing.assert_allclose(sums[''].mean, expected, rtol=1e-5)
  # Without masked tokens the head learns nothing; it never sees units.
  assert all((x == 0).all() for x in jax.tree.leaves(cpc['head']))
  close(both['head'], jax.tree.map(lambda x: 0.8 * x, mlm['head']))
  # What hidden units were is learnt through them alone. The token table is the
  # output of the head, too, so MLM changes all of its rows.
  words = set(np.unique(EIGHT.hidden_tokens[EIGHT.hidden_slots >= 0]))
  words = np.array(sorted(words - set(np.unique(EIGHT.tokens))))
  assert (_table(cpc)[words] != 0).any(axis=1).all()
  other = EIGHT._replace(hidden_tokens=EIGHT.hidden_tokens * 0 + 21)
  _, same = gradients((1.0, 0.0), 1)(params, other)
  jax.tree.map(np.testing.assert_array_equal, same, only[0][1])
  _, changed = gradients((0.0, 1.0), 1)(params, other)
  assert (_table(changed)[words] == 0).all()


def _table(grads):
  return grads['encoder']['embeddings']['tokens']['embedding']


def test_the_gradient_is_a_slope(variables):
  params = variables['params']
  loss = quick_jit(pretraining_loss(MODULE))
  rng = np.random.default_rng(0)
  way = jax.tree.map(
    lambda x: jnp.asarray(rng.normal(size=x.shape), x.dtype), params
  )
  _, grads = gradients((0.8, 0.2), 1)(params, EIGHT)
  slope = sum(jax.tree.leaves(jax.tree.map(jnp.vdot, grads, way)))
  step = 1e-3
  up, down = (
    loss(jax.tree.map(lambda x, d, s=s: x + s * d, params, way), EIGHT).loss
    for s in (step, -step)
  )
  np.testing.assert_allclose((up - down) / (2 * step), slope, rtol=2e-2)


def test_accumulated_batches_are_one(variables):
  """Negatives are of the whole batch: of all micro-batches and all devices."""
  params = variables['params']
  whole = gradients((0.8, 0.2), 1)(params, EIGHT)
  mesh = make_mesh(2, devices=jax.devices()[:2])
  arrays = {k: np.asarray(v) for k, v in EIGHT._asdict().items()}
  placed = place_batch(arrays, mesh, type(EIGHT))
  parts = on_mesh(mesh, gradients((0.8, 0.2), 4))(params, placed)
  assert parts[0].keys() == whole[0].keys() == {'', 'mlm', 'cpc'}
  for name, sums in whole[0].items():
    np.testing.assert_allclose(np.array(parts[0][name]), sums, rtol=1e-5)
  close(parts[1], whole[1])


@pytest.mark.slow
def test_eight_documents_are_learnt_by_heart():
  batch = masked_batch(8, seed=3)
  loss = pretraining_loss(DEEPER)
  optimizer = optax.adam(optax.cosine_decay_schedule(4e-3, 300))

  @quick_jit
  def fit(params):
    def step(carry, _):
      params, state = carry
      grads = jax.grad(lambda p: loss(p, batch).mean)(params)
      updates, state = optimizer.update(grads, state)
      return (optax.apply_updates(params, updates), state), None

    carry = params, optimizer.init(params)
    (params, _), _ = jax.lax.scan(step, carry, None, length=300)
    return loss.parts(loss.states(params, batch, None), batch)

  parts = fit(draw(DEEPER, batch)['params'])
  for sums in parts.values():
    # More than one of every document.
    assert sums.correct == sums.weight > len(batch.tokens)
