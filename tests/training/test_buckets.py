"""Runs in a bucket, `gs://`: files in memory, or in a folder of this machine.

Arrays of checkpoints go to Google's servers by tensorstore's own client: here
it writes into the same folder, and everything else of orbax is as it is there.
A checkpoint is committed by a file, not by its name.
"""

import json
import os
import sys
import types
from typing import Any, ClassVar

import numpy as np
import pytest
from etils import epath
from etils.epath import backend, gpath
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from orbax.checkpoint._src.path import gcs_utils
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli.main import app
from stepwise.training import (
  CheckpointConfig,
  CheckpointStore,
  JsonLinesWriter,
  read_history,
  train,
)
from stepwise.training._config import check_same_run, write_text
from stepwise.training._input import local_files
from stepwise.training._store import (
  _remove_stale_seals,
  best_step,
  read_scores,
  set_aside_damaged,
)
from tests.training.runs import tiny_config, write_records
from tests.training.test_store import saved, state


class Bucket(MemoryFileSystem):
  """Objects in memory, under the names they would have at Google."""

  store: ClassVar[dict[str, Any]] = {}
  pseudo_dirs: ClassVar[list[str]] = ['']
  protocol = ('gcs', 'gs')

  @classmethod
  def _strip_protocol(cls, path):
    return super()._strip_protocol(os.fspath(path).removeprefix('gs://'))

  def glob(self, path, **options):
    return [found.lstrip('/') for found in super().glob(path, **options)]


@pytest.fixture
def folder(monkeypatch):
  files, others = Bucket(), backend.fsspec_backend.fs

  def find(path):
    return files if os.fspath(path).startswith('gs://') else others(path)

  monkeypatch.setattr(gpath, '_is_tf_installed', lambda: False)
  monkeypatch.setattr(backend.fsspec_backend, 'fs', find)
  yield epath.Path('gs://shelf/run')
  Bucket.store.clear()


def test_nothing_is_on_the_local_disk(folder, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  write_text(folder / 'note.txt', 'hello')
  assert (folder / 'note.txt').read_text() == 'hello'
  assert list(Bucket.store) == ['/shelf/run/note.txt']
  assert list(tmp_path.iterdir()) == []


def test_the_settings_of_a_run_are_kept(folder):
  path = folder / 'config.json'
  check_same_run(tiny_config('records.jsonl'), path)
  check_same_run(tiny_config('records.jsonl', steps=9), path)
  assert json.loads(path.read_text())['steps'] == 9
  with pytest.raises(InputError, match=r'holds a run with another seed'):
    check_same_run(tiny_config('records.jsonl', seed=1), path)


def test_metrics_continue(folder):
  path = folder / 'metrics.jsonl'
  for after, steps in ((0, (1, 2, 3)), (2, (3, 4))):
    writer = JsonLinesWriter(path, after=after)
    for step in steps:
      writer.write(step, {'loss': step / 2})
    writer.close()
  rows = [json.loads(line) for line in path.read_text().splitlines()]
  assert rows == [{'step': s, 'loss': s / 2} for s in (1, 2, 3, 4)]


def test_a_run_tells_its_history(folder):
  config = tiny_config('records.jsonl')
  check_same_run(config, folder / 'config.json')
  JsonLinesWriter(folder / 'metrics.jsonl').write(5, {'validation/loss': 0.5})
  scores = folder / 'checkpoints' / 'scores.json'
  write_text(scores, json.dumps({2: 0.75, 5: 0.5}))
  found = read_history(folder)
  assert found.curves == {'validation/loss': [(5, 0.5)]}
  assert found.best == (5, 0.5)
  kept = read_scores(folder / 'checkpoints')
  assert best_step(kept, [2, 5], config.checkpoints) == 5


def test_checkpoints_without_seals_stay(folder):
  write_text(folder / 'checkpoints' / '7' / 'weights', 'x')
  set_aside_damaged(folder / 'checkpoints')
  _remove_stale_seals(folder / 'checkpoints')
  assert (folder / 'checkpoints' / '7' / 'weights').exists()


def test_records_are_copied_in_the_order_of_their_names(folder):
  for name in ('b.jsonl', 'a.jsonl', 'other.txt'):
    write_text(folder / name, name)
  found = local_files('gs://shelf/run/*.jsonl')
  assert [path.read_text() for path in found] == ['a.jsonl', 'b.jsonl']
  with pytest.raises(InputError, match=r'gs://shelf/run/\*\.csv: no such file'):
    local_files('gs://shelf/run/*.csv')


class Shelf(LocalFileSystem):
  """Objects as files of a folder, under the names they would have at Google."""

  root: ClassVar[str]
  protocol = ('gcs', 'gs')

  @classmethod
  def _strip_protocol(cls, path):
    path = os.fspath(path)
    if path.startswith('gs://'):
      path = f'{cls.root}/{path.removeprefix("gs://")}'
    return super()._strip_protocol(path)

  def glob(self, path, **options):
    found = super().glob(path, **options)
    return [os.path.relpath(name, self.root) for name in found]


@pytest.fixture
def bucket(monkeypatch, tmp_path):
  """A bucket that orbax writes to, in `tmp_path`; the working folder is not."""
  Shelf.root = str(tmp_path / 'cloud')
  files, others = Shelf(auto_mkdir=True), backend.fsspec_backend.fs

  def find(path):
    return files if os.fspath(path).startswith('gs://') else others(path)

  def store(path):
    return {'driver': 'file', 'path': Shelf._strip_protocol(path)}

  monkeypatch.setattr(gpath, '_is_tf_installed', lambda: False)
  monkeypatch.setattr(backend.fsspec_backend, 'fs', find)
  monkeypatch.setattr(gcs_utils, 'get_kvstore_for_gcs', store)
  monkeypatch.setattr(gcs_utils, 'get_bucket', lambda name: object())
  monkeypatch.setitem(
    sys.modules, 'google.cloud.storage', types.ModuleType('storage')
  )
  (tmp_path / 'here').mkdir()
  monkeypatch.chdir(tmp_path / 'here')
  return epath.Path('gs://shelf/run')


def kept(directory):
  return {int(path.name) for path in directory.iterdir() if path.name.isdigit()}


def test_checkpoints_of_a_bucket_come_back(bucket, tmp_path):
  config = CheckpointConfig(keep_last=1)
  saved(bucket, config, range(1, 5), {1: 3.0, 2: 1.0, 3: 2.0})
  # The best and the newest.
  assert kept(bucket) == {2, 4}
  again = CheckpointStore(bucket, config)
  assert (again.latest_step, again.best_step) == (4, 2)
  restored, position = again.restore(4, state(0))
  np.testing.assert_array_equal(restored.params['w'], state(4).params['w'])
  assert position == {'next_index': 4}
  again.close()
  assert list((tmp_path / 'here').iterdir()) == []


def test_a_checkpoint_without_its_commit_is_none(bucket):
  """As a run leaves it that is killed while it saves."""
  config = CheckpointConfig()
  saved(bucket, config, (1, 2))
  (bucket / '2' / 'commit_success.txt').unlink()
  again = CheckpointStore(bucket, config)
  assert again.latest_step == 1
  again.close()


def test_a_library_that_will_be_needed_is_asked_for_at_once(
  bucket, monkeypatch
):
  monkeypatch.setitem(sys.modules, 'google.cloud.storage', None)
  with pytest.raises(InputError, match=r"pip install 'stepwise\[gcs\]'"):
    train(tiny_config('absent.jsonl'), bucket)
  assert not bucket.exists()


@pytest.mark.slow
def test_a_run_lives_in_a_bucket(bucket, tmp_path):
  """From shards of records to the bundle; it continues, and tells of itself."""
  for seed in (1, 2):
    records = write_records(tmp_path, seed=seed)
    write_text(bucket.parent / f'part-{seed}.jsonl', records.read_text())
  arguments = [
    *('train', 'gs://shelf/part-*.jsonl', '--config', 'hibert_tiny'),
    *('--batch', '8', '--output', str(bucket)),
    *('--validation', 'gs://shelf/part-1.jsonl'),
    *('--set', 'CheckpointConfig.every=1', '--set', 'TrainConfig.log_every=1'),
  ]
  for steps in (2, 3):
    result = CliRunner().invoke(app, [*arguments, '--steps', str(steps)])
    assert result.exit_code == 0, result.output
  assert 'gs://shelf/run/bundle: step' in result.stdout
  assert kept(bucket / 'checkpoints') == {2, 3}
  found = read_history(bucket)
  assert [step for step, _ in found.curves['train/loss']] == [1, 2, 3]
  assert (bucket / 'bundle' / 'model.safetensors').exists()
  result = CliRunner().invoke(app, ['runs', str(bucket)])
  assert 'step 3 of 3' in result.stdout
  assert list((tmp_path / 'here').iterdir()) == []
