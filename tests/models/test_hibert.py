import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.layers import (
  HierarchicalConfig,
  HierarchicalEncoder,
  TransformerConfig,
  TransformerEncoder,
)
from stepwise.models import PlanValueConfig, unit_sets, word_error
from stepwise.models._batch import Batch
from stepwise.models._hibert import (
  HIBERT_CONFIGS,
  HiBERT,
  HiBERTConfig,
  unit_grid,
)
from stepwise.models._set_rouge import set_rouge
from tests.layers.parameters import count, draw, quick_jit, run

FIRST = 28
SMALL = HiBERTConfig(
  HierarchicalConfig(
    TransformerConfig(
      vocab=29,
      embed=15,
      heads=3,
      mlp=17,
      layers=1,
      positions=11,
      norm_epsilon=1e-3,
    ),
    document_layers=2,
    document_positions=13,
    summary_positions=5,
  ),
  first_token=FIRST,
  max_unit_tokens=5,
)
NOT_STEPWISE = dataclasses.replace(
  SMALL, encoder=dataclasses.replace(SMALL.encoder, summary_positions=0)
)
WINDOWED = dataclasses.replace(
  SMALL, encoder=dataclasses.replace(SMALL.encoder, pooling='mean', window=5)
)
FAR = dataclasses.replace(
  WINDOWED, encoder=dataclasses.replace(WINDOWED.encoder, reach=397)
)
# Units of every document; one is longer than the grid is wide.
DOCUMENTS = [
  [[1], [2], [3, 4, 5, 6, 7, 8], [9, 10, 11, 12], [13, 14]],
  [[1], [2], [15, 16, 17]],
]
UNITS, LENGTH = 7, 17


def flat_batch(documents, units=UNITS, length=LENGTH, padding=0):
  """The record's arrays, padded; written independently of `unit_grid`."""
  tokens = np.full((len(documents), length), padding)
  unit_ids = np.full((len(documents), length), -1)
  valid = np.zeros((len(documents), units), bool)
  for row, document in enumerate(documents):
    flat = [(token, i) for i, unit in enumerate(document) for token in unit]
    tokens[row, : len(flat)], unit_ids[row, : len(flat)] = zip(
      *flat, strict=True
    )
    valid[row, : len(document)] = True
  plan = jnp.array([[1, 3, -1], [1, -1, -1]])
  return Batch(*map(jnp.asarray, (tokens, unit_ids, valid)), plan)


def loop_grid(documents, width):
  tokens = np.zeros((len(documents), UNITS, width), int)
  mask = np.zeros(tokens.shape, bool)
  for row, document in enumerate(documents):
    for i, unit in enumerate(document):
      line = [FIRST, *unit][:width]
      tokens[row, i, : len(line)] = line
      mask[row, i, : len(line)] = True
  return tokens, mask


@pytest.mark.parametrize('width', [2, 5, 11])
def test_grid_equals_a_loop(width):
  grid = unit_grid(flat_batch(DOCUMENTS), FIRST, width)
  tokens, mask = loop_grid(DOCUMENTS, width)
  np.testing.assert_array_equal(grid.tokens, tokens)
  np.testing.assert_array_equal(grid.mask, mask)


def test_a_unit_that_is_not_valid_has_no_tokens():
  batch = flat_batch(DOCUMENTS)
  batch = batch._replace(valid=batch.valid.at[0, 3].set(False))
  grid = unit_grid(batch, FIRST, 5)
  assert not grid.mask[0, 3].any()
  assert not grid.tokens[0, 3].any()


def test_equals_the_encoder_on_the_loop_grid():
  model = HiBERT(SMALL)
  batch = flat_batch(DOCUMENTS)
  variables = draw(model, batch)
  params = variables['params']
  states = run(
    HierarchicalEncoder(SMALL.encoder),
    {'params': params['encoder']},
    *map(jnp.asarray, loop_grid(DOCUMENTS, 5)),
    jnp.pad(batch.plan, ((0, 0), (1, 0)), constant_values=SMALL.begin_unit),
  )
  scorer = params['scorer']['dense']
  expected = states @ scorer['kernel'] + scorer['bias'][0]
  np.testing.assert_allclose(
    run(model, variables, batch), expected[..., 0], rtol=1e-4, atol=1e-4
  )


def test_score_from_memory_equals_all_at_once():
  """Also mapped over beams, the memory unmapped, as beam search does."""
  model = HiBERT(SMALL)
  batch = flat_batch(DOCUMENTS)
  variables = draw(model, batch)
  memory = run(model, variables, batch, method='encode')
  plans = jnp.stack([batch.plan, batch.plan.at[0, 1].set(4)], 1)
  score = jax.vmap(
    lambda plan: model.apply(variables, memory, plan, method='score'),
    in_axes=1,
    out_axes=1,
  )
  scores = jax.jit(score)(plans)
  for beam in range(2):
    expected = run(model, variables, batch._replace(plan=plans[:, beam]))
    np.testing.assert_allclose(scores[:, beam], expected, rtol=1e-4, atol=1e-4)
  assert np.abs(scores[0, 0] - scores[0, 1]).max() > 0.01


@pytest.mark.parametrize('config', [SMALL, WINDOWED], ids=['grid', 'windows'])
def test_padding_never_matters(config):
  model = HiBERT(config)
  batch = flat_batch(DOCUMENTS)
  variables = draw(model, batch)
  logits = run(model, variables, batch)
  other = flat_batch(DOCUMENTS, units=11, length=23, padding=9)
  padded = run(model, variables, other)
  np.testing.assert_allclose(
    padded[:, :UNITS][batch.valid], logits[batch.valid], rtol=1e-4, atol=1e-4
  )


def test_a_reach_is_what_the_model_reads():
  assert WINDOWED.limits.units == 13
  assert FAR.limits.units == 397
  batch = flat_batch(DOCUMENTS)
  assert count(HiBERT(FAR), batch) == count(HiBERT(WINDOWED), batch)


def test_far_more_units_than_positions_are_read_at_once():
  """And score the same in a larger batch."""
  model = HiBERT(FAR)
  long = [[n % 27 + 1] * (n % 3 + 1) for n in range(300)]
  documents = [long, DOCUMENTS[1]]
  batch = flat_batch(documents, units=300, length=600)
  variables = draw(model, batch)
  logits = run(model, variables, batch)
  other = flat_batch(documents, units=397, length=701, padding=9)
  padded = run(model, variables, other)
  np.testing.assert_allclose(
    padded[:, :300][batch.valid], logits[batch.valid], rtol=1e-4, atol=1e-4
  )
  # A short document beside it is read as if no other were there.
  np.testing.assert_allclose(
    logits[1, :3],
    run(HiBERT(WINDOWED), variables, flat_batch(DOCUMENTS))[1, :3],
    rtol=1e-4,
    atol=1e-4,
  )


def test_training_draws_places_of_documents_that_fit():
  """Losses differ from draw to draw, without any dropout."""
  sentence = dataclasses.replace(FAR.encoder.sentence, dropout=0.0)
  encoder = dataclasses.replace(FAR.encoder, sentence=sentence)
  config = dataclasses.replace(FAR, encoder=encoder)
  model = HiBERT(config)
  documents = [[[n] for n in range(1, 12)], [[n] for n in range(3, 12)]]
  batch = flat_batch(documents, units=11)
  batch = batch._replace(targets=jnp.array([[9, 5], [7, 2]]))
  params = draw(model, batch)['params']
  learn = quick_jit(
    jax.value_and_grad(lambda p, rng: config.loss(model)(p, batch, rng).mean)
  )
  found = [learn(params, jax.random.key(seed)) for seed in (0, 0, 1, 2, 3)]
  losses = [float(loss) for loss, _ in found]
  assert losses[0] == losses[1]
  assert len(set(losses)) > 1
  table = found[-1][1]['encoder']['document_position']['embedding']
  assert np.isfinite(table).all() and np.any(table)


def test_a_model_that_is_not_stepwise_takes_no_plan():
  model = HiBERT(NOT_STEPWISE)
  batch = flat_batch(DOCUMENTS)
  variables = draw(model, batch)
  memory = run(model, variables, batch, method='encode')
  assert run(model, variables, memory, method='score').shape == (2, UNITS)
  with pytest.raises(InputError, match='plan is given but begin_unit is None'):
    run(model, variables, memory, batch.plan, method='score')


def test_bfloat16_logits_are_float32():
  sentence = dataclasses.replace(
    SMALL.encoder.sentence, dtype=jnp.dtype(jnp.bfloat16)
  )
  half = dataclasses.replace(
    SMALL, encoder=dataclasses.replace(SMALL.encoder, sentence=sentence)
  )
  batch = flat_batch(DOCUMENTS)
  variables = draw(HiBERT(SMALL), batch)
  logits = run(HiBERT(half), variables, batch)
  assert logits.dtype == jnp.float32
  np.testing.assert_allclose(
    logits[batch.valid],
    run(HiBERT(SMALL), variables, batch)[batch.valid],
    atol=0.2,
  )


@pytest.mark.parametrize(
  ('name', 'expected'),
  [
    ('hibert_cnndm', 133_784_833),
    ('hibert_rotowire', 91_448_065),
  ],
)
def test_parameter_count(name, expected):
  model = HiBERT(HIBERT_CONFIGS[name])
  assert count(model, flat_batch(DOCUMENTS)) == expected


@pytest.mark.parametrize('name', sorted(HIBERT_CONFIGS))
def test_named_configurations_score_every_unit(name):
  model, batch = HiBERT(HIBERT_CONFIGS[name]), flat_batch(DOCUMENTS)
  logits, _ = jax.eval_shape(model.init_with_output, jax.random.key(0), batch)
  assert logits.shape == batch.valid.shape


def test_more_unit_tokens_than_positions():
  with pytest.raises(InputError, match='max_unit_tokens is 12; 2 to 11'):
    dataclasses.replace(SMALL, max_unit_tokens=12)


def loop_unit_means(sentence, variables, document, window):
  """Means of token states, one window of one document at a time."""
  flat = [(token, i) for i, unit in enumerate(document) for token in unit]
  states = []
  for start in range(0, len(flat), window):
    tokens = jnp.array([[token for token, _ in flat[start : start + window]]])
    states += list(run(sentence, variables, tokens, tokens >= 0)[0])
  owners = np.array([i for _, i in flat])
  return [np.array(states)[owners == i].mean(0) for i in range(len(document))]


def test_windows_of_running_text_equal_a_loop():
  model, batch = HiBERT(WINDOWED), flat_batch(DOCUMENTS)
  variables = draw(model, batch)
  memory = run(model, variables, batch, method='encode')
  sentence = TransformerEncoder(WINDOWED.encoder.sentence)
  weights = {'params': variables['params']['encoder']['sentence']}
  for row, document in enumerate(DOCUMENTS):
    means = loop_unit_means(sentence, weights, document, 5)
    found = memory.units[row]
    np.testing.assert_allclose(found[: len(means)], means, atol=1e-4)
    assert not found[len(means) :].any()


def test_a_window_longer_than_the_positions():
  with pytest.raises(InputError, match='window is 12; 0 to 11'):
    dataclasses.replace(SMALL.encoder, window=12)


VALUED = dataclasses.replace(
  WINDOWED, plan_value=PlanValueConfig(width=7, pool=4, sizes=(1, 2))
)


def valued_batch():
  """The last row is empty, as rows that fill up a batch are."""
  batch = flat_batch([*DOCUMENTS, [[1]]])
  empty = jnp.asarray([True, True, False])
  return batch._replace(
    unit_ids=jnp.where(empty[:, None], batch.unit_ids, -1),
    valid=batch.valid & empty[:, None],
    plan=jnp.full((3, 1), -1),
    targets=jnp.array([[3, 2], [2, 0], [-1, -1]]),
    reference=jnp.array([[9, 10, 0, 13, -1], [15, 17, 0, -1, -1], [-1] * 5]),
  )


@pytest.mark.parametrize('pieces', [0, 3])
def test_whole_plans_are_learnt_with_the_steps(pieces):
  value = dataclasses.replace(VALUED.plan_value, pieces=pieces)
  valued = dataclasses.replace(VALUED, plan_value=value)
  model, batch = HiBERT(valued), valued_batch()
  params = draw(model, batch)['params']

  def loss_and_gradient(config):
    def loss(params):
      return config.loss(HiBERT(config))(params, batch).loss

    return jax.value_and_grad(loss)(params)

  steps = dataclasses.replace(valued, plan_value=None)
  alone = steps.loss(HiBERT(steps))(params, batch).loss
  total, gradient = loss_and_gradient(valued)
  pool = run(
    model,
    {'params': params},
    run(model, {'params': params}, batch, method='encode'),
    batch,
    batch.valid,
    method='pool_units',
  )
  judged = run(model, {'params': params}, pool, method='judge_sets')
  values = judged.values
  sets = unit_sets(valued.plan_value)
  rouge = set_rouge(
    *(batch.tokens, batch.unit_ids, batch.reference, pool.units),
    jnp.asarray(sets),
  )
  wanted = 0.0
  for row in range(2):
    known = (np.asarray(pool.real[row]) | ~sets).all(1)
    error = np.asarray(values[row] - 20 * rouge[row])[known]
    wanted += 4.0 * ((error - error.mean()) ** 2).mean()
    if judged.guess:
      given = pool.text.ids, judged.guess, batch.reference
      wanted += 4.0 * word_error(*given)[row]
  np.testing.assert_allclose(total - alone, wanted, rtol=1e-4)
  assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))

  # The layers that read learn from it; what likes units only from steps.
  _, less = loss_and_gradient(
    dataclasses.replace(
      valued, plan_value=dataclasses.replace(valued.plan_value, weight=0.0)
    )
  )

  def same(part):
    pairs = zip(
      jax.tree.leaves(gradient[part]), jax.tree.leaves(less[part]), strict=True
    )
    return all(np.allclose(left, right, atol=1e-6) for left, right in pairs)

  assert same('scorer')
  assert not same('encoder')


def test_whole_plans_need_references():
  model, batch = HiBERT(VALUED), valued_batch()._replace(reference=None)
  params = draw(model, batch)['params']
  with pytest.raises(InputError, match='build records with --reference'):
    VALUED.loss(model)(params, batch)
