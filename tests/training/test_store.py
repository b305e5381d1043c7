"""Seals tell whole checkpoints from others."""

import jax.numpy as jnp
import numpy as np
import pytest

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
  folder = tmp_path / 'checkpoints' / '7'
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


def unseal(folder):
  (folder / 'seal.json').unlink()


def tear_seal(folder):
  (folder / 'seal.json').write_text('{"deep/wei')


@pytest.mark.parametrize(
  ('harm', 'reason'),
  [
    (truncate, 'deep/weights is damaged'),
    (flip, 'deep/weights is damaged'),
    (remove, 'other is missing'),
    (unseal, 'it was never completed'),
    (tear_seal, 'it was never completed'),
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


def test_a_whole_checkpoint_stays(folder):
  set_aside_damaged(folder.parent)
  assert damage(folder) is None


def test_states_come_back_with_the_position(tmp_path):
  config = CheckpointConfig(keep_last=2)
  store = CheckpointStore(tmp_path, config, ranked=False)
  for step in (1, 2, 3):
    store.save(step, state(step), {'next_index': step})
  store.wait()
  store.close()
  again = CheckpointStore(tmp_path, config, ranked=False)
  assert again.latest_step == 3
  assert again.best_step is None
  assert not (tmp_path / '1').exists()
  restored, position = again.restore(2, state(0))
  np.testing.assert_array_equal(restored.params['w'], state(2).params['w'])
  assert position == {'next_index': 2}
  again.close()


def test_an_unknown_metric_is_named(tmp_path):
  config = CheckpointConfig(best_metric='validation/bleu')
  store = CheckpointStore(tmp_path, config, ranked=True)
  with pytest.raises(InputError, match="best_metric is 'validation/bleu'"):
    for step in (1, 2, 3):
      store.save(step, state(step), {}, {'validation/loss': 1.0})
      store.wait()
    assert store.best_step
  store.close()
