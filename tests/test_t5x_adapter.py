"""The t5x adapter; what needs t5x runs where t5x is installed.

STEPWISE_REQUIRE_T5X=1 makes a missing or broken installation a failure.
"""

import dataclasses
import functools
import importlib
import json
import os
import sys
import warnings

import flax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax.linen.partitioning import get_axis_names
from jax.sharding import PartitionSpec

from stepwise._errors import InputError
from stepwise.decoding import DecodeConfig
from stepwise.inference import decode, document_order
from stepwise.layers import (
  EncoderDecoder,
  TransformerConfig,
  make_mesh,
  param_shardings,
  split_axes,
)
from stepwise.models import (
  NEWS_DECODING,
  Batch,
  extractive_loss,
  find_config,
  stepwise_loss,
)

NAMES = ('etcsum_tiny', 'hibert_tiny', 'bertsum_tiny')
DATA = {
  'tokens': (4, 29),
  'unit_ids': (4, 29),
  'valid': (4, 7),
  'plan': (4, 3),
  'targets': (4, 3),
}


def random_batch() -> dict[str, jax.Array]:
  """Four documents of seven units, with plans and one or two targets."""
  rng = np.random.default_rng(0)
  owners = np.sort(rng.integers(0, 7, (4, 29 - 7)), axis=1)
  units = np.sort(np.concatenate([owners, np.tile(np.arange(7), (4, 1))], 1))
  arrays = {
    'tokens': rng.integers(20, 97, (4, 29)),
    'unit_ids': units,
    'plan': np.array([[-1] * 3, [2, -1, -1], [3, 5, -1], [-1] * 3]),
    'targets': np.array([[2, 4, 0], [6, 0, -1], [0, -1, -1], [5, 3, 0]]),
  }
  batch = {name: jnp.array(a, jnp.int32) for name, a in arrays.items()}
  return {**batch, 'valid': jnp.ones((4, 7), bool)}


def without_dropout(name: str):
  """A named configuration that always gives the same loss."""
  config = find_config(name)
  encoder = config.encoder
  if name.startswith('hibert'):
    body = dataclasses.replace(encoder.sentence, dropout=0.0)
    encoder = dataclasses.replace(encoder, sentence=body)
  else:
    encoder = dataclasses.replace(encoder, dropout=0.0)
  return dataclasses.replace(config, encoder=encoder)


# --- Without t5x --------------------------------------------------------------


@pytest.mark.parametrize('name', NAMES)
def test_axes_leave_their_boxes_unchanged(name, key):
  model = find_config(name).build()
  boxed = jax.eval_shape(model.init, key, Batch.of(random_batch()))
  split = split_axes(boxed)
  assert split.keys() == {'params', 'params_axes'}
  assert split['params'] == nn.unbox(boxed)['params']
  # The old and the new form of Flax say the same, name by name.
  assert (
    get_axis_names(split['params_axes'])
    == nn.get_partition_spec(boxed)['params']
  )


def test_axes_of_scanned_layers_begin_with_layers(key):
  config = TransformerConfig(
    vocab=31, embed=8, heads=2, mlp=12, layers=3, positions=16, scan_layers=True
  )
  tokens = jnp.ones((1, 5), jnp.int32)
  model = EncoderDecoder(config)
  boxed = jax.eval_shape(model.init, key, tokens, tokens > 0, tokens)
  axes = jax.tree.leaves(
    get_axis_names(split_axes(boxed)['params_axes']['stack']),
    is_leaf=lambda leaf: isinstance(leaf, PartitionSpec),
  )
  assert axes
  assert {names[0] for names in axes} == {'layers'}


def test_parameters_without_names_are_refused(key):
  variables = nn.Dense(3).init(key, jnp.ones((1, 5)))
  with pytest.raises(InputError, match=r'parameter (bias|kernel) has no'):
    split_axes(variables)


def test_a_missing_t5x_is_explained_in_one_sentence(monkeypatch):
  monkeypatch.delitem(sys.modules, 'stepwise.t5x_adapter', raising=False)
  monkeypatch.setitem(sys.modules, 't5x', None)
  with pytest.raises(ImportError, match=r'requirements-t5x\.txt') as caught:
    importlib.import_module('stepwise.t5x_adapter')
  assert '\n' not in str(caught.value)


# --- With t5x -----------------------------------------------------------------


@pytest.fixture(scope='module')
def adapter():
  with warnings.catch_warnings():
    # Deprecations inside t5x and what it imports are not ours.
    warnings.simplefilter('ignore')
    if os.environ.get('STEPWISE_REQUIRE_T5X') != '1':
      pytest.importorskip('t5x.train', exc_type=ImportError)
    return importlib.import_module('stepwise.t5x_adapter')


@pytest.fixture(scope='module')
def sgd(adapter):
  return importlib.import_module('t5x.optimizers').sgd(0.1)


# Deprecated by jax, used by t5x.
ignore_t5x = pytest.mark.filterwarnings('ignore::DeprecationWarning')


def stepwise_model(adapter, sgd, name='hibert_tiny', **options):
  config = without_dropout(name)
  options = {'max_units': 7, 'loss_terms': 5, **options}
  return adapter.StepwiseModel(config, sgd, **options)


def extractive_model(adapter, sgd, **options):
  config = without_dropout('hibert_tiny').twin()
  options = {'max_units': 7, 'loss_terms': 5, **options}
  return adapter.ExtractiveModel(config, sgd, **options)


def initial_params(model):
  def init(rng):
    return model.get_initial_variables(rng=rng, input_shapes=DATA)['params']

  return jax.jit(init)(jax.random.key(1))


def our_loss(loss, model, params, batch, **options):
  """`loss` of `stepwise.models` without dropout, compiled."""
  compiled = jax.jit(functools.partial(loss, model.module, **options))
  return compiled(params, Batch.of(batch))


@pytest.mark.parametrize('name', ['etcsum_tiny', 'hibert_tiny'])
def test_loss_is_the_sum_over_a_constant(name, adapter, sgd):
  model = stepwise_model(adapter, sgd, name)
  params, batch = initial_params(model), random_batch()
  loss, metrics = jax.jit(model.eval_fn)(params, batch)
  sums = our_loss(stepwise_loss, model, params, batch, never=(1,))
  np.testing.assert_allclose(loss, sums.loss / 5, rtol=1e-6)
  np.testing.assert_allclose(metrics['loss'].compute(), sums.mean, rtol=1e-6)
  assert metrics['accuracy'].compute() == sums.correct / sums.weight
  assert metrics['terms'].compute() == sums.weight == 9


def test_training_samples_a_step_and_evaluation_none(adapter, sgd):
  model = stepwise_model(adapter, sgd, sample=True)
  params, batch = initial_params(model), random_batch()
  _, trained = jax.jit(model.loss_fn)(params, batch, jax.random.PRNGKey(0))
  _, evaluated = jax.jit(model.eval_fn)(params, batch)
  assert trained['terms'].compute() == 4
  assert evaluated['terms'].compute() == 9


@ignore_t5x
@pytest.mark.parametrize('build', [stepwise_model, extractive_model])
def test_gradients_of_micro_batches_add_up(build, adapter, sgd):
  trainer = importlib.import_module('t5x.trainer')
  train_state = importlib.import_module('t5x.train_state')
  model = build(adapter, sgd)
  variables = {'params': initial_params(model)}
  state = train_state.FlaxOptimTrainState.create(
    sgd, flax.core.freeze(variables)
  )

  @functools.partial(jax.jit, static_argnums=0)
  def grads(parts, batch, rng):
    return trainer.accumulate_grads_microbatched(
      model, state, batch, rng, parts
    )[:2]

  whole, parts = (
    grads(n, random_batch(), jax.random.PRNGKey(0)) for n in (1, 2)
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-7),
    dict(whole[0]),
    dict(parts[0]),
  )
  np.testing.assert_allclose(
    whole[1]['loss'].compute(), parts[1]['loss'].compute(), rtol=1e-6
  )


def test_plans_are_those_of_our_search(adapter, sgd):
  model = stepwise_model(adapter, sgd)
  params, batch = initial_params(model), random_batch()
  plans, further = jax.jit(model.predict_batch_with_aux)(params, batch)
  found = jax.jit(functools.partial(decode, model.config))(
    {'params': params}, Batch.of(batch)
  )
  np.testing.assert_array_equal(plans, found.plans[:, 0])
  np.testing.assert_array_equal(further['score'], found.scores[:, 0])
  again = jax.jit(model.predict_batch)(params, batch)
  np.testing.assert_array_equal(again, plans)


def test_extractive_loss_and_selection(adapter, sgd):
  model = extractive_model(adapter, sgd, top_k=2, positive_weight=3.0)
  params, batch = initial_params(model), random_batch()
  sums = our_loss(extractive_loss, model, params, batch, positive_weight=3.0)
  loss, metrics = jax.jit(model.eval_fn)(params, batch)
  np.testing.assert_allclose(loss, sums.loss / 5, rtol=1e-6)
  assert metrics['terms'].compute() == 28
  best = DecodeConfig(max_units=2)
  chosen = jax.jit(
    lambda p, b: document_order(
      decode(model.config, {'params': p}, b, best).plans[:, 0]
    )
  )
  np.testing.assert_array_equal(
    jax.jit(model.predict_batch)(params, batch),
    chosen(params, Batch.of(batch)),
  )


@ignore_t5x
@pytest.mark.parametrize('build', [stepwise_model, extractive_model])
def test_scores_are_those_of_documents_alone(build, adapter, sgd):
  model = build(adapter, sgd)
  params, batch = initial_params(model), random_batch()
  rows = [{k: a[i : i + 1] for k, a in batch.items()} for i in range(4)]
  loss = jax.jit(model.eval_fn)
  alone = [-5 * loss(params, row)[0] for row in rows]
  # As t5x does: a mesh whose four data devices a single document cannot fill.
  rules = adapter.logical_axis_rules()
  with make_mesh(4, 2), nn.logical_axis_rules(rules):
    scores = jax.jit(model.score_batch)(params, batch)
  np.testing.assert_allclose(scores, jnp.stack(alone), rtol=1e-5)


@ignore_t5x
def test_t5x_shards_parameters_as_our_rules_say(adapter, sgd):
  partitioning = importlib.import_module('t5x.partitioning')
  utils = importlib.import_module('t5x.utils')
  model = stepwise_model(adapter, sgd, 'etcsum_tiny')
  partitioner = partitioning.PjitPartitioner(
    num_partitions=None,
    model_parallel_submesh=(1, 2, 1, 1),
    logical_axis_rules=adapter.logical_axis_rules(),
  )
  initializer = utils.TrainStateInitializer(
    optimizer_def=sgd,
    init_fn=model.get_initial_variables,
    input_shapes=DATA,
    partitioner=partitioner,
  )
  found = dict(initializer.train_state_axes.params)
  boxed = jax.eval_shape(
    model.module.init, jax.random.key(0), Batch.of(random_batch())
  )
  rules = adapter.logical_axis_rules()
  wanted = param_shardings(boxed, make_mesh(4, 2), rules)['params']
  specs = jax.tree.map(lambda sharding: sharding.spec, wanted)
  assert jax.tree.map(tuple, found) == jax.tree.map(tuple, specs)


def test_rules_can_keep_axes_whole(adapter):
  rules = dict(adapter.logical_axis_rules(whole=('vocab',)))
  assert rules['vocab'] is None
  assert rules['heads'] == 'model'
  with pytest.raises(InputError, match=r"without a rule: \['vocabulary'\]"):
    adapter.logical_axis_rules(whole=('vocabulary',))


def test_configurations_of_the_other_kind_are_refused(adapter, sgd):
  config = find_config('hibert_tiny')
  sizes = {'max_units': 7, 'loss_terms': 5}
  with pytest.raises(InputError, match='not that of a stepwise model'):
    adapter.StepwiseModel(config.twin(), sgd, **sizes)
  with pytest.raises(InputError, match='not that of a non-stepwise'):
    adapter.ExtractiveModel(config, sgd, **sizes)
  search = dataclasses.replace(NEWS_DECODING, never=())
  with pytest.raises(
    InputError, match=r'never is \(\), must have begin_unit 1'
  ):
    adapter.StepwiseModel(config, sgd, search=search, **sizes)


def test_packing_is_refused(adapter, sgd):
  model = stepwise_model(adapter, sgd)
  assert model.FEATURE_CONVERTER_CLS(pack=False).pack is False
  for packs in (model, realizer(adapter, sgd)):
    with pytest.raises(InputError, match='pack is True'):
      packs.FEATURE_CONVERTER_CLS(pack=True)


# --- The realizer -------------------------------------------------------------

TEXTS = {'encoder_input_tokens': (2, 7), 'decoder_input_tokens': (2, 5)}


def realizer(adapter, sgd, **options):
  seqio = importlib.import_module('seqio')
  config = TransformerConfig(
    vocab=31, embed=8, heads=2, mlp=12, layers=2, positions=16, dropout=0.0
  )
  words = seqio.PassThroughVocabulary(31, eos_id=2)
  return adapter.RealizerModel(config, words, words, sgd, **options)


def random_texts():
  rng = np.random.default_rng(0)
  source, targets = rng.integers(3, 31, (2, 7)), rng.integers(3, 31, (2, 5))
  source[1, 4:] = 0
  targets[0, 3:] = 0
  return {
    'encoder_input_tokens': jnp.array(source),
    'decoder_input_tokens': jnp.array(
      np.pad(targets[:, :-1], ((0, 0), (1, 0)))
    ),
    'decoder_target_tokens': jnp.array(targets),
    'decoder_loss_weights': jnp.array(targets > 0, jnp.int32),
  }


def sharp_params(model):
  """Weights that are large enough for clear preferences."""
  init = jax.jit(lambda rng: model.get_initial_variables(rng, TEXTS)['params'])
  params = init(jax.random.key(2))
  return jax.tree.map(lambda leaf: 8 * leaf, params)


def log_probs(model, params, batch):
  source = batch['encoder_input_tokens']
  logits = model.module.apply(
    {'params': params}, source, source != 0, batch['decoder_input_tokens']
  )
  return jax.nn.log_softmax(logits)


def test_realizer_scores_the_real_tokens(adapter, sgd):
  model = realizer(adapter, sgd, loss_normalizing_factor=4.0)
  params, batch = sharp_params(model), random_texts()
  terms = log_probs(model, params, batch)
  targets = batch['decoder_target_tokens']
  wanted = [
    sum(terms[row, i, targets[row, i]] for i in range(count))
    for row, count in ((0, 3), (1, 5))
  ]
  scores = jax.jit(model.score_batch)(params, batch)
  np.testing.assert_allclose(scores, jnp.stack(wanted), rtol=1e-5)
  loss, _ = jax.jit(model.eval_fn)(params, batch)
  np.testing.assert_allclose(loss, -scores.sum() / 4, rtol=1e-5)


def test_one_beam_writes_the_likeliest_token_at_every_step(adapter, sgd):
  model = realizer(adapter, sgd, num_decodes=1)
  params, batch = sharp_params(model), random_texts()
  written = jnp.zeros((2, 5), jnp.int32)
  for i in range(4):
    so_far = {**batch, 'decoder_input_tokens': written}
    best = log_probs(model, params, so_far)[:, i].argmax(-1)
    ended = (written[:, 1:] == 2).any(axis=1)
    written = written.at[:, i + 1].set(jnp.where(ended, 0, best))
  predictions = jax.jit(model.predict_batch)(params, batch)
  np.testing.assert_array_equal(predictions[:, :4], written[:, 1:])


def test_more_beams_find_nothing_less_likely(adapter, sgd):
  batch = random_texts()
  scores = []
  for beams in (1, 3):
    model = realizer(adapter, sgd, num_decodes=beams)
    params = sharp_params(model)
    predict = jax.jit(model.predict_batch_with_aux)
    scores.append(predict(params, batch)[1]['score'])
  assert (scores[1] >= scores[0] - 1e-5).all()


# --- Files --------------------------------------------------------------------


def documents():
  """As tasks have them: strings are bytes, special units have no text."""
  tf = importlib.import_module('tensorflow')
  rows = [
    ('Tulips bloom. Rain fell.', [[0, 0], [0, 0], [0, 13], [14, 24]], 'a'),
    ('Zoë slept.', [[0, 0], [0, 0], [0, 10]], 'b'),
  ]
  signature = {
    'inputs_pretokenized': tf.TensorSpec((), tf.string),
    'spans': tf.TensorSpec((None, 2), tf.int32),
    'id': tf.TensorSpec((), tf.string),
  }
  return tf.data.Dataset.from_generator(
    lambda: (dict(zip(signature, row, strict=True)) for row in rows),
    output_signature=signature,
  )


def test_summaries_are_written_as_evaluate_reads_them(adapter, tmp_path):
  read_predictions = importlib.import_module('stepwise.data').read_predictions
  path = tmp_path / 'summaries.jsonl'
  plans = list(np.array([[3, 2, -1], [2, -1, -1]]))
  scores = {'score': [-0.5, -1.5]}
  adapter.write_summaries(
    str(path), (plans, scores), documents(), 'predict_with_aux'
  )
  assert [found.sentences for found in read_predictions(path)] == [
    ('Rain fell.', 'Tulips bloom.'),
    ('Zoë slept.',),
  ]
  first = json.loads(path.read_text().splitlines()[0])
  assert (first['id'], first['score']) == ('a', -0.5)


def test_scores_are_written_without_summaries(adapter, tmp_path):
  path = tmp_path / 'scores.jsonl'
  inferences = ([-0.5, -1.5], {})
  adapter.write_summaries(str(path), inferences, documents(), 'score')
  rows = [json.loads(line) for line in path.read_text().splitlines()]
  assert rows == [{'score': -0.5, 'id': 'a'}, {'score': -1.5, 'id': 'b'}]


def test_saved_weights_are_read_by_plain_orbax(adapter, tmp_path):
  ocp = importlib.import_module('orbax.checkpoint')
  params = {'scorer': {'bias': np.arange(3.0), 'kernel': np.ones((2, 3))}}
  path = adapter.save_params(params, str(tmp_path))
  assert path == str(tmp_path / 'checkpoint_0')
  restored = ocp.PyTreeCheckpointer().restore(f'{path}/state')
  assert restored['state']['step'] == 0
  jax.tree.map(np.testing.assert_array_equal, restored['target'], params)


@ignore_t5x
@pytest.mark.parametrize('name', ['etcsum_tiny', 'bertsum_tiny'])
def test_any_number_of_partitions_computes_the_same(name, adapter, sgd):
  """On eight devices; t5x itself would make all of them one model."""
  utils = importlib.import_module('t5x.utils')
  batch, losses, kinds = random_batch(), [], []
  kind = find_config(name)
  if kind.stepwise:
    model = stepwise_model(adapter, sgd, name)
  else:
    sizes = {'max_units': 7, 'loss_terms': 5}
    model = adapter.ExtractiveModel(without_dropout(name), sgd, **sizes)
  for parts in (1, 2, 4, 8):
    partitioner = adapter.Partitioner(
      num_partitions=parts, logical_axis_rules=adapter.logical_axis_rules()
    )
    assert dict(partitioner.mesh.shape) == {'data': 8 // parts, 'model': parts}
    initializer = utils.TrainStateInitializer(
      optimizer_def=sgd,
      init_fn=model.get_initial_variables,
      input_shapes=DATA,
      partitioner=partitioner,
    )
    axes = initializer.train_state_axes
    state = initializer.from_scratch(jax.random.key(1))
    loss = partitioner.partition(
      lambda params: model.loss_fn(params, batch, None)[0],
      in_axis_resources=(axes.params,),
      out_axis_resources=None,
    )
    losses.append(float(loss(state.params)))
    whole = [leaf.sharding.is_fully_replicated for leaf in _tables(state)]
    kinds.append(any(whole))
  np.testing.assert_allclose(losses, losses[0], rtol=1e-5)
  assert kinds == [True, False, False, False]


def _tables(state):
  """The large ones: no number of partitions leaves them whole."""
  leaves = jax.tree.leaves(state.params)
  return [leaf for leaf in leaves if leaf.ndim == 2 and leaf.shape[0] > 10_000]


@ignore_t5x
def test_partitions_must_divide_the_devices(adapter):
  with pytest.raises(InputError, match='is 3, must divide the 8 devices'):
    _ = adapter.Partitioner(num_partitions=3).mesh
