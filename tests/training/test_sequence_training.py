"""Runs whose documents are spread over devices learn and choose as on one."""

import jax
import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.data import Buckets
from stepwise.inference import PredictConfig, Predictor, Reading
from stepwise.layers import make_mesh
from stepwise.models import NEWS_DECODING
from stepwise.training import (
  InputConfig,
  MeshConfig,
  ModelSpec,
  selector_task,
)
from stepwise.training._input import load_labelled
from stepwise.training._loop import make_programs
from stepwise.training._mesh import choose_mesh, gather, place_batch
from tests.training.runs import tiny_config, write_records

# A window of 16 tokens reaches into the neighbouring shards; documents and
# summary slots do not fill four of them evenly.
MODEL = ModelSpec(
  'etcsum_tiny',
  sizes={
    'document_tokens': 64,
    'summary_tokens': 30,
    'encoder.layers': 1,
    'encoder.pattern.radius': 16,
  },
  dropout=0.0,
  products='float32',
)


@pytest.fixture(scope='module')
def records(tmp_path_factory):
  return write_records(tmp_path_factory.mktemp('records'))


def run_config(records, mesh, model=MODEL, tokens=64):
  buckets = Buckets((tokens,), (8,))
  inputs = InputConfig(str(records), batch_size=4, buckets=buckets)
  return tiny_config(records, model=model, input=inputs, mesh=mesh)


def two_updates(config):
  """State and metrics after two updates of the run's own program."""
  task = selector_task(config)
  programs = make_programs(config, task)
  state, metrics = programs.init(), []
  batches = task.open_input(np.arange(config.input.batch_size))
  for _ in range(2):
    batch = place_batch(next(batches), programs.mesh)
    state, measured = programs.update(state, batch)
    metrics.append(jax.device_get(measured))
  return gather(state.params, programs.mesh), metrics


@pytest.mark.slow
def test_updates_equal_those_of_one_device(records):
  plain, expected = two_updates(run_config(records, MeshConfig(data=1)))
  spread, found = two_updates(
    run_config(records, MeshConfig(data=2, sequence=2, model=2))
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4), found, expected
  )
  jax.tree.map(
    lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), spread, plain
  )


@pytest.mark.slow
def test_choices_equal_those_of_one_device(records):
  task = selector_task(run_config(records, MeshConfig(data=1)))
  params = task.module.init(jax.random.key(1), *task.dummy())['params']
  readings = [
    Reading(None, record)
    for record, _ in load_labelled(str(records), task.model)
  ]
  config = PredictConfig(NEWS_DECODING, batch_size=3)
  found = [
    Predictor(
      task.model,
      jax.tree.map(np.asarray, params),
      config,
      Buckets((64,), (8,)),
      mesh=mesh,
    ).predict(readings[:4])
    for mesh in (None, make_mesh(2, 2, sequence=2))
  ]
  for plain, spread in zip(*found, strict=True):
    assert spread.units == plain.units
    np.testing.assert_allclose(
      spread.rankings, plain.rankings, rtol=1e-4, atol=1e-5
    )


def test_the_mesh_has_an_axis_only_if_it_is_asked_for(records):
  spread = run_config(records, MeshConfig(data=2, sequence=2, model=2))
  assert dict(choose_mesh(spread).shape) == {
    'data': 2,
    'fsdp': 1,
    'sequence': 2,
    'model': 2,
  }
  plain = run_config(records, MeshConfig(data=4, model=2))
  assert 'sequence' not in choose_mesh(plain).shape
  with pytest.raises(InputError, match='a 2 x 8 x 1 mesh needs 16 devices'):
    choose_mesh(run_config(records, MeshConfig(data=2, sequence=8)))


def test_a_window_longer_than_a_shard_is_refused(records):
  sizes = dict(MODEL.sizes) | {'encoder.pattern.radius': 33}
  model = ModelSpec(MODEL.name, sizes=sizes, products='float32')
  with pytest.raises(
    InputError, match='radius is 33, must be at most the 25 long tokens'
  ):
    two_updates(run_config(records, MeshConfig(data=2, sequence=4), model))


def test_models_without_a_long_axis_are_refused(records):
  run = run_config(
    records, MeshConfig(data=1, sequence=2), ModelSpec('hibert_tiny')
  )
  with pytest.raises(InputError, match='HiBERTConfig cannot spread the tokens'):
    selector_task(run)


def test_sizes_of_a_mesh_are_positive():
  with pytest.raises(InputError, match='sequence is 0, must be at least 1'):
    MeshConfig(sequence=0)
