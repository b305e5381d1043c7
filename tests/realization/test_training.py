"""Training the realizer: its loss, its batches, and what it can learn."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.data import Buckets
from stepwise.evaluation import bleu
from stepwise.layers import EncoderDecoder, TransformerConfig, make_mesh
from stepwise.models import RealizerConfig
from stepwise.realization import Example, InputFormat, save_examples
from stepwise.realization.learned import (
  SearchConfig,
  TokenClasses,
  search_texts,
)
from stepwise.realization.training import (
  ExampleBatches,
  RealizerBatch,
  bleu_evaluator,
  fitting_buckets,
  pad_examples,
  realizer_loss,
  realizer_task,
)
from stepwise.training import InputConfig, ModelSpec, restack
from tests.realization.runs import TINY, make_run, write_examples

CONFIG = TransformerConfig(
  vocab=11, embed=8, heads=2, mlp=12, layers=2, positions=16, dropout=0.5
)
MODEL = EncoderDecoder(CONFIG)
apply = jax.jit(MODEL.apply)
loss_of = jax.jit(functools.partial(realizer_loss, MODEL))


def example(name, inputs, targets):
  return Example(name, np.array(inputs, np.int32), np.array(targets, np.int32))


EXAMPLES = [
  example('a', [3, 4, 5], [6, 7, 1]),
  example('b', [3, 9, 5, 2, 8], [2, 1]),
  example('c', [10], [6, 6, 6, 6, 1]),
]


@pytest.fixture(scope='module')
def params():
  tokens = jnp.ones((1, 3), jnp.int32)
  init = jax.jit(MODEL.init)
  variables = init(jax.random.key(0), tokens, tokens > 0, tokens)
  return nn.unbox(variables)['params']


def batch_of(examples, size, rows):
  arrays = pad_examples(examples, size, rows)
  return RealizerBatch(*map(jnp.asarray, (arrays['inputs'], arrays['targets'])))


def test_the_loss_is_that_of_every_example_alone(params):
  total = np.zeros(3)
  for one in EXAMPLES:
    before = jnp.array([[0, *one.targets[:-1]]], jnp.int32)
    inputs = jnp.asarray(one.inputs)[None]
    logits = apply({'params': params}, inputs, inputs > 0, before)
    log_probs = np.asarray(jax.nn.log_softmax(logits))[0]
    total += (
      -sum(log_probs[i, token] for i, token in enumerate(one.targets)),
      len(one.targets),
      (log_probs.argmax(axis=1) == one.targets).sum(),
    )
  # Padding and empty rows weigh nothing.
  sums = loss_of(params, batch_of(EXAMPLES, (7, 6), 5))
  np.testing.assert_allclose(np.array(sums), total, rtol=1e-5)


def test_dropout_needs_a_key(params):
  batch = batch_of(EXAMPLES, (5, 5), 3)
  plain, same = (loss_of(params, batch) for _ in range(2))
  dropped = loss_of(params, batch, jax.random.key(1))
  assert plain.loss == same.loss != dropped.loss


def test_gradients_are_finite_with_an_empty_row(params):
  batch = batch_of(EXAMPLES, (5, 5), 4)
  grads = jax.jit(jax.grad(lambda p: loss_of(p, batch).loss))(params)
  assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(grads))


def test_bleu_is_that_of_every_sentence_alone():
  """Batches, padding and scanned layers change nothing of what is written."""
  model = RealizerConfig(
    vocab=11, embed=8, heads=2, mlp=12, layers=2, positions=16
  )
  built = {
    scan: dataclasses.replace(model, scan_layers=scan).build()
    for scan in (False, True)
  }
  first = model.smallest_inputs()
  params = {
    scan: nn.unbox(jax.jit(module.init)(jax.random.key(0), *first))['params']
    for scan, module in built.items()
  }
  single = restack(params[True], params[False])
  # The end is token 1, and others than padding may be written.
  free = jnp.arange(11) > 0
  classes = TokenClasses(free, free & False, free & False)
  written = [
    search_texts(
      *(built[False], single, jnp.asarray(one.inputs)[None], classes),
      SearchConfig(max_tokens=5),
      end=1,
    ).tokens[0, 0]
    for one in EXAMPLES
  ]
  expected = bleu(
    [' '.join(str(token) for token in text if token) for text in written],
    [' '.join(map(str, one.targets[:-1])) for one in EXAMPLES],
  )
  # One device, and three that share a batch.
  for mesh in (None, make_mesh(3)):
    buckets = Buckets((7,), (5,))
    evaluate = bleu_evaluator(model, EXAMPLES, buckets, rows=2, mesh=mesh)
    assert evaluate(params[True]) == {
      'validation/bleu': pytest.approx(expected.score)
    }


def many(count):
  rng = np.random.default_rng(0)
  return [
    example(
      str(i), rng.integers(2, 9, 1 + i % 9), rng.integers(2, 9, 1 + i % 4)
    )
    for i in range(count)
  ]


def test_every_example_comes_once_an_epoch():
  examples, buckets = many(23), Buckets((4, 9), (4,))
  batches = ExampleBatches(examples, buckets, 4, seed=5, length=1000)
  epochs = []
  for epoch in range(2):
    rows = []
    for index in range(epoch * 6, epoch * 6 + 6):
      arrays = batches[index]
      assert arrays['inputs'].shape in {(4, 4), (4, 9)}
      pairs = zip(arrays['inputs'], arrays['targets'], strict=True)
      rows += [(tuple(i[i > 0]), tuple(t[t > 0])) for i, t in pairs if i.any()]
    expected = [(tuple(e.inputs), tuple(e.targets)) for e in examples]
    assert sorted(rows) == sorted(expected)
    epochs.append(rows)
  assert epochs[0] != epochs[1]
  again = ExampleBatches(examples, buckets, 4, seed=5, length=1000)
  np.testing.assert_array_equal(again[9]['inputs'], batches[9]['inputs'])


def test_fitting_buckets_hold_everything():
  buckets = fitting_buckets(many(23))
  assert (buckets.lengths[-1], buckets.units[-1]) == (16, 4)


def test_what_cannot_be_trained(tmp_path):
  examples = write_examples(tmp_path / 'examples.jsonl')
  with pytest.raises(InputError, match='bertsum_tiny selects; a realizer is'):
    realizer_task(make_run(examples, model=ModelSpec('bertsum_tiny')))
  with pytest.raises(InputError, match='writes text and has no twin'):
    realizer_task(make_run(examples, model=ModelSpec(TINY, twin=True)))


@pytest.mark.parametrize(
  ('bad', 'message'),
  [
    (example('big', [30522], [1]), "'big' has token 30522 of 'wordpiece', the"),
    (example('long', [9] * 513, [1]), "'long' has 513 tokens, the model reads"),
  ],
)
def test_examples_that_do_not_fit(bad, message, tmp_path):
  from stepwise.data import wordpiece

  path = tmp_path / 'examples.jsonl'
  save_examples(path, [bad], wordpiece(), InputFormat())
  task = realizer_task(make_run(path, input=InputConfig(str(path), 1)))
  with pytest.raises(InputError) as error:
    task.open_input(np.arange(2))
  assert message in str(error.value)
