"""Seals tell whole checkpoints from others."""

import jax.numpy as jnp
import numpy as np
import pytest
from etils import epath

from stepwise._errors import InputError
from stepwise.training import CheckpointConfig, CheckpointStore, TrainState
from stepwise.training._store import damage, seal, set_aside_damaged


def state(step):
  return TrainState(
    jnp.array(step), {'w': jnp.arange(5.0) + step}, (), jnp.zeros(2, jnp.uint32)
  )


@pytest.fixture
def folder(tmp_path):
  """A sealed folder of two files."""
  folder = epath.Path(tmp_path) / 'checkpoints' / '7'
  (folder / 'deep').mkdir(parents=True)
  (folder / 'deep' / 'weights').write_bytes(b'0123456789')
  (folder / 'other').write_bytes(b'x')
  seal(folder)
  return folder


def truncate(folder):
  (folder / 'deep' / 'weights').write_bytes(b'01234')


def flip(folder):
  (folder / 'deep' / 'weights').write_bytes(b'0123456780')


def remove(folder):
  (folder / 'other').unlink()


def tear_seal(folder):
  (folder.parent / 'seal-7.json').write_text('{"deep/wei')


@pytest.mark.parametrize(
  ('harm', 'reason'),
  [
    (truncate, 'deep/weights is damaged'),
    (flip, 'deep/weights is damaged'),
    (remove, 'other is missing'),
    (tear_seal, 'seal-7.json is damaged'),
  ],
)
def test_every_damage_is_found_and_set_aside(folder, harm, reason):
  assert damage(folder) is None
  harm(folder)
  assert damage(folder) == reason
  with pytest.warns(UserWarning, match=f'step 7 is skipped: {reason}'):
    set_aside_damaged(folder.parent)
  assert not folder.exists()
  assert (folder.parents[1] / 'damaged' / '7-0').is_dir()


def test_a_whole_checkpoint_stays_sealed_or_not(folder):
  set_aside_damaged(folder.parent)
  (folder.parent / 'seal-7.json').unlink()
  set_aside_damaged(folder.parent)
  assert folder.exists()


def saved(directory, config, steps, scores=()):
  store = CheckpointStore(directory, config)
  for step in steps:
    store.save(step, state(step), {'next_index': step})
    if step in scores:
      store.score(step, {'validation/loss': scores[step]})
  store.wait()
  store.close()


def kept(directory):
  return {int(path.name) for path in directory.iterdir() if path.is_dir()}


def test_states_come_back_with_the_position(tmp_path):
  config = CheckpointConfig(keep_last=2)
  saved(tmp_path, config, (1, 2, 3))
  assert (tmp_path / 'seal-3.json').exists()
  again = CheckpointStore(tmp_path, config)
  assert again.latest_step == 3
  assert again.best_step is None
  assert not (tmp_path / '1').exists()
  restored, position = again.restore(2, state(0))
  np.testing.assert_array_equal(restored.params['w'], state(2).params['w'])
  assert position == {'next_index': 2}
  again.close()


def test_scores_come_later_and_keep_the_best(tmp_path):
  config = CheckpointConfig(keep_last=1)
  scores = {1: 3.0, 2: 1.0, 3: float('nan'), 4: 2.0}
  saved(tmp_path, config, range(1, 6), scores)
  assert kept(tmp_path) == {2, 5}
  again = CheckpointStore(tmp_path, config)
  assert again.best_step == 2
  assert again.is_scored(4)
  assert not again.is_scored(5)
  again.close()


def test_a_checkpoint_removed_before_its_seal_is_not_waited_for(tmp_path):
  store = CheckpointStore(tmp_path, CheckpointConfig())
  (tmp_path / '5').mkdir()
  sealing = store._pool.submit(store._seal_committed, store._directory / '3')
  try:
    sealing.result(timeout=60)
  finally:
    store.close()
  assert not (tmp_path / '3').exists()


def test_a_committed_checkpoint_without_a_seal_is_restored(tmp_path):
  """As a run leaves it that is killed right after orbax's commit."""
  config = CheckpointConfig()
  saved(tmp_path, config, (1, 2))
  (tmp_path / 'seal-2.json').unlink()
  again = CheckpointStore(tmp_path, config)
  assert again.latest_step == 2
  restored, _ = again.restore(2, state(0))
  np.testing.assert_array_equal(restored.params['w'], state(2).params['w'])
  again.close()


def test_an_unknown_metric_is_named(tmp_path):
  config = CheckpointConfig(best_metric='validation/bleu')
  store = CheckpointStore(tmp_path, config)
  with pytest.raises(InputError, match="best_metric is 'validation/bleu'"):
    store.score(1, {'validation/loss': 1.0})
  store.close()


def test_a_seal_never_enters_the_folder_that_it_seals(tmp_path):
  """orbax may be removing the folder at that moment."""
  folder = epath.Path(tmp_path) / '3'
  (folder / 'deep').mkdir(parents=True)
  (folder / 'deep' / 'weights').write_bytes(b'0123456789')
  before = {path.name for path in folder.iterdir()}
  seal(folder)
  assert {path.name for path in folder.iterdir()} == before


def test_seals_of_removed_checkpoints_go(tmp_path):
  saved(tmp_path, CheckpointConfig(keep_last=1), (1, 2))
  (tmp_path / 'seal-1.json').write_text('{"weights": "of another day"}')
  again = CheckpointStore(tmp_path, CheckpointConfig(keep_last=1))
  again.close()
  assert {path.name for path in tmp_path.glob('seal-*')} == {'seal-2.json'}
