"""Runs in a bucket: everything that is not orbax's, in memory, as `gs://`.

Arrays of checkpoints go to Google's servers by tensorstore's own client, which
nothing here can stand in for.
"""

import json
import os
from typing import Any, ClassVar

import pytest
from etils import epath
from etils.epath import backend, gpath
from fsspec.implementations.memory import MemoryFileSystem

from stepwise._errors import InputError
from stepwise.training import JsonLinesWriter, read_history
from stepwise.training._config import check_same_run, write_text
from stepwise.training._input import local_files
from stepwise.training._store import (
  _remove_stale_seals,
  best_step,
  read_scores,
  set_aside_damaged,
)
from tests.training.runs import tiny_config


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
