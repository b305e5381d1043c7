"""Metrics survive a stop without lines twice or torn."""

import json
import sys

import pytest

from stepwise._errors import InputError
from stepwise.training import JsonLinesWriter, MetricWriter, TensorBoardWriter


def write(path, steps, after=0):
  writer = JsonLinesWriter(path, after=after)
  for step in steps:
    writer.write(step, {'loss': step / 2})
  writer.close()


def test_a_continued_file_has_every_step_once(tmp_path):
  path = tmp_path / 'metrics.jsonl'
  write(path, [1, 2, 3])
  with path.open('a') as stream:
    stream.write('{"step": 4, "lo')
  write(path, [3, 4], after=2)
  rows = [json.loads(line) for line in path.read_text().splitlines()]
  assert rows == [{'step': s, 'loss': s / 2} for s in (1, 2, 3, 4)]


def test_event_files_hold_the_numbers(tmp_path):
  writer = TensorBoardWriter(tmp_path)
  assert isinstance(writer, MetricWriter)
  writer.write(3, {'train/loss': 0.5})
  writer.close()
  (events,) = tmp_path.glob('events.out.tfevents.*')
  assert b'train/loss' in events.read_bytes()


def test_a_missing_library_is_named(tmp_path, monkeypatch):
  monkeypatch.setitem(sys.modules, 'tensorboardX', None)
  with pytest.raises(InputError, match=r'stepwise\[tensorboard\]'):
    TensorBoardWriter(tmp_path)
