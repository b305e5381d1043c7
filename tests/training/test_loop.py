"""Runs: continued, moved to other devices, measured, and stopped."""

import json
import os
import shutil
import signal
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from stepwise._errors import InputError
from stepwise.inference import PredictConfig
from stepwise.layers import make_mesh
from stepwise.models import Batch, find_config
from stepwise.training import (
  CheckpointConfig,
  DivergenceError,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  PreemptionError,
  load_trained,
  rouge_evaluator,
  train,
)
from stepwise.training._input import load_labelled
from stepwise.training._loop import make_programs
from stepwise.training._store import CheckpointStore
from stepwise.training._task import selector_task
from tests.training.runs import (
  BUCKETS,
  tiny_config,
  with_validation,
  write_records,
)

STEPS = 4


@pytest.fixture(scope='module')
def records(tmp_path_factory):
  return write_records(tmp_path_factory.mktemp('records'))


@pytest.fixture(scope='module')
def config(records):
  """With dropout and sampled steps: both must survive a stop."""
  return tiny_config(
    records,
    input=InputConfig(
      str(records), batch_size=4, examples='sample', buckets=BUCKETS
    ),
    checkpoints=CheckpointConfig(every=2, keep_last=9),
    steps=STEPS,
  )


@pytest.fixture(scope='module')
def whole(config, tmp_path_factory):
  """An uninterrupted run: its folder and what it returned."""
  output = tmp_path_factory.mktemp('whole') / 'run'
  return output, train(config, output)


def assert_identical(left, right):
  jax.tree.map(np.testing.assert_array_equal, left, right)


def assert_close(left, right, atol=1e-5):
  jax.tree.map(
    lambda x, y: np.testing.assert_allclose(x, y, atol=atol), left, right
  )


def logged(output, name='train/loss'):
  lines = (output / 'metrics.jsonl').read_text().splitlines()
  rows = [json.loads(line) for line in lines]
  return {row['step']: row[name] for row in rows if name in row}


def copy_run(whole, tmp_path):
  return shutil.copytree(whole[0], tmp_path / 'run')


def test_a_run_returns_its_last_parameters(whole, config):
  output, result = whole
  assert result.step == STEPS
  assert list(logged(output)) == [1, 2, 3, 4]
  assert json.loads((output / 'config.json').read_text())['steps'] == STEPS
  assert_identical(load_trained(config, output).params, result.params)


def test_a_run_may_end_with_the_mean_of_checkpoints(whole, config):
  output, _ = whole
  kept = replace(config.checkpoints, average=2)
  mean = load_trained(replace(config, checkpoints=kept), output)
  assert mean.step == STEPS
  store = CheckpointStore(output / 'checkpoints', config.checkpoints)
  shapes = make_programs(config, selector_task(config)).shapes
  each = [store.restore(step, shapes)[0].params for step in (2, 4)]
  store.close()
  assert_close(mean.params, jax.tree.map(lambda x, y: (x + y) / 2, *each), 1e-7)
  with pytest.raises(AssertionError):
    assert_close(mean.params, each[1], 1e-7)
  with pytest.raises(InputError, match='average is 3, but keep_last is 2'):
    CheckpointConfig(average=3)


def test_a_continued_run_ends_with_the_same_bits(whole, config, tmp_path):
  output = copy_run(whole, tmp_path)
  shutil.rmtree(output / 'checkpoints' / '4')
  steps = []
  result = train(config, output, on_step=lambda step, _: steps.append(step))
  assert steps == [3, 4]
  assert_identical(result.params, whole[1].params)
  assert logged(output) == logged(whole[0])


def largest_file(folder):
  files = [path for path in folder.rglob('*') if path.is_file()]
  return max(files, key=lambda path: path.stat().st_size)


def test_a_damaged_checkpoint_is_never_loaded(whole, config, tmp_path):
  output = copy_run(whole, tmp_path)
  victim = largest_file(output / 'checkpoints' / '4')
  victim.write_bytes(victim.read_bytes()[:-100])
  steps = []
  with pytest.warns(UserWarning, match='step 4 is skipped: .* is damaged'):
    result = train(config, output, on_step=lambda step, _: steps.append(step))
  assert steps == [3, 4]
  assert_identical(result.params, whole[1].params)
  assert [path.name for path in (output / 'damaged').iterdir()] == ['4-0']


def test_a_finished_run_has_nothing_left_to_do(whole, config, tmp_path):
  steps = []
  result = train(
    config,
    copy_run(whole, tmp_path),
    on_step=lambda step, _: steps.append(step),
  )
  assert steps == []
  assert_identical(result.params, whole[1].params)


def test_other_settings_are_refused(whole, config):
  with pytest.raises(InputError, match='a run with another seed: continue it'):
    train(replace(config, seed=1), whole[0])


@pytest.mark.slow
def test_a_run_moves_between_numbers_of_devices(whole, config, tmp_path):
  """Eight devices, then one, then eight again: the same run."""
  eight = replace(config, mesh=MeshConfig(data=4, model=2))
  output = tmp_path / 'run'
  train(replace(eight, steps=2), output)
  train(replace(config, steps=3), output)
  result = train(eight, output)
  assert result.step == STEPS
  assert_close(result.params, whole[1].params)
  losses, expected = logged(output), logged(whole[0])
  assert losses.keys() == expected.keys()
  for step, loss in losses.items():
    np.testing.assert_allclose(loss, expected[step], rtol=1e-5)


@pytest.mark.slow
def test_short_activations_and_recomputation(records, tmp_path):
  spec = ModelSpec('hibert_tiny', dtype='bfloat16', remat=True)
  result = train(tiny_config(records, model=spec, steps=1), tmp_path)
  leaves = jax.tree.leaves(result.params)
  assert {leaf.dtype for leaf in leaves} == {np.dtype('float32')}
  assert all(np.isfinite(leaf).all() for leaf in leaves)


def test_the_best_checkpoint_is_kept_and_returned(records, tmp_path):
  scores = iter([3.0, 9.0, 5.0, 4.0])
  config = tiny_config(
    records,
    evaluation=with_validation(
      records,
      every=1,
      documents=str(records.parent / 'articles-0.jsonl'),
    ),
    checkpoints=CheckpointConfig(
      every=1, keep_last=1, best_metric='test/score', best_mode='max'
    ),
  )
  result = train(
    config, tmp_path, evaluators=[lambda params: {'test/score': next(scores)}]
  )
  assert result.step == 2
  kept = {path.name for path in (tmp_path / 'checkpoints').glob('[0-9]*')}
  assert kept == {'2', '4'}
  assert logged(tmp_path, 'test/score') == {1: 3.0, 2: 9.0, 3: 5.0, 4: 4.0}
  rouge = logged(tmp_path, 'validation/rouge1')
  assert all(0 < score < 100 for score in rouge.values())
  assert len(logged(tmp_path, 'validation/loss')) == STEPS


@pytest.mark.slow
def test_several_devices_decode_as_one(records):
  labelled = load_labelled(str(records), find_config('hibert_tiny'))
  config = find_config('hibert_tiny')
  params = config.build().init(jax.random.key(0), *config.smallest_inputs())
  documents = str(records.parent / 'articles-0.jsonl')
  one, four = (
    rouge_evaluator(
      *(config, labelled, documents, PredictConfig(batch_size=2), BUCKETS),
      mesh,
    )(nn.unbox(params)['params'])
    for mesh in (None, make_mesh(4))
  )
  assert one == pytest.approx(four)
  assert one['validation/rouge1'] > 0


def test_a_run_is_saved_before_it_is_evaluated(records, tmp_path):
  """What a failing evaluation leaves is evaluated when the run goes on."""
  config = tiny_config(records, evaluation=with_validation(records, every=3))

  def fail(params):
    raise RuntimeError('no memory left')

  with pytest.raises(RuntimeError, match='no memory left'):
    train(config, tmp_path, evaluators=[fail])
  assert (tmp_path / 'checkpoints' / '3').is_dir()
  steps, seen = [], []

  def note(params):
    seen.append(len(steps))
    return {}

  train(
    config,
    tmp_path,
    evaluators=[note],
    on_step=lambda step, _: steps.append(step),
  )
  assert steps == [4]
  # Step 3 before anything else, step 4 before `on_step` tells of it.
  assert seen == [0, 0]
  assert list(logged(tmp_path, 'validation/loss')) == [3, 4]


def test_a_signal_saves_and_stops(records, tmp_path):
  config = tiny_config(records, checkpoints=CheckpointConfig(every=100))

  def interrupt(step, metrics):
    if step == 2:
      os.kill(os.getpid(), signal.SIGTERM)

  before = signal.getsignal(signal.SIGTERM)
  with pytest.raises(PreemptionError, match='after step 3, which is saved'):
    train(config, tmp_path, on_step=interrupt)
  assert signal.getsignal(signal.SIGTERM) is before
  steps = []
  train(config, tmp_path, on_step=lambda step, _: steps.append(step))
  assert steps == [4]


def test_speed_and_layout_are_written(whole):
  output, _ = whole
  for name in ('steps_per_second', 'tokens_per_second'):
    assert all(rate > 0 for rate in logged(output, f'train/{name}').values())
  layout = (output / 'layout.txt').read_text().splitlines()
  assert layout[0] == 'mesh: data 1, fsdp 1, model 1'
  assert layout[1] == 'products: float32'
  assert layout[2].endswith('parameters: whole')


def test_some_updates_can_be_traced(config, tmp_path):
  longer = replace(config, steps=5, profile=1)
  train(longer, tmp_path)
  assert list((tmp_path / 'profile').rglob('*.trace.json.gz'))


def test_a_diverged_run_stops_with_its_batch(records, tmp_path):
  config = tiny_config(records, optimizer=OptimizerConfig(1e30), log_every=9)
  with pytest.raises(DivergenceError, match='diverged at step 2: the loss is'):
    train(config, tmp_path)
  # The parameters that failed are not among the checkpoints.
  assert not list((tmp_path / 'checkpoints').glob('[0-9]*'))
  with np.load(tmp_path / 'diverged_2.npz') as saved:
    assert saved['step'] == 2
    batch = Batch.of({k: saved[k] for k in saved.files if k != 'step'})
  assert (batch.valid.any(axis=1)).any()


@pytest.mark.slow
def test_a_saved_batch_replays_the_failure(records, tmp_path):
  spec = ModelSpec('hibert_tiny', dropout=0.0)
  config = tiny_config(records, model=spec, max_loss=0.5)
  with pytest.raises(
    DivergenceError, match=r'at step 1: .*\(limit 0\.5\)'
  ) as e:
    train(config, tmp_path)
  loss = float(str(e.value).split('the loss is ')[1].split(' ')[0])
  task = selector_task(config)
  with np.load(tmp_path / 'diverged_1.npz') as saved:
    batch = Batch.of({k: saved[k] for k in saved.files if k != 'step'})
  again = task.loss(make_programs(config, task).init().params, batch)
  np.testing.assert_allclose(float(again.mean), loss, rtol=1e-3)


@pytest.mark.slow
def test_runs_begin_with_given_parameters(whole, config, tmp_path):
  given = jax.tree.map(jnp.asarray, whole[1].params)
  still = replace(config, steps=1, optimizer=OptimizerConfig(0.0))
  result = train(still, tmp_path / 'run', initial_params=given)
  assert_identical(result.params, whole[1].params)
  wrong = {**given, 'scorer': {}}
  with pytest.raises(
    InputError, match=r'do not fit hibert_tiny, first at .*sc'
  ):
    train(still, tmp_path / 'other', initial_params=wrong)


def test_batches_must_spread_over_devices(config, tmp_path):
  with pytest.raises(InputError, match='a multiple of the 3 data devices'):
    train(replace(config, mesh=MeshConfig(data=3)), tmp_path)
  with pytest.raises(InputError, match='9 x 1 mesh needs 9 devices'):
    train(replace(config, mesh=MeshConfig(data=9)), tmp_path)
  with pytest.raises(InputError, match='2 x 8 x 1 mesh needs 16 devices'):
    train(replace(config, mesh=MeshConfig(data=2, fsdp=8)), tmp_path)
  uneven = with_validation(config.input.train, batch_size=3)
  mesh = MeshConfig(data=2)
  with pytest.raises(InputError, match='of evaluation is 3, must be a multip'):
    train(replace(config, mesh=mesh, evaluation=uneven), tmp_path)


def test_nothing_to_load(config, tmp_path):
  with pytest.raises(InputError, match='there is no checkpoint yet'):
    load_trained(config, tmp_path)
