"""Metrics survive a stop without lines twice or torn."""

import json
import sys
from types import SimpleNamespace

import jax.numpy as jnp
import pytest

from stepwise._errors import InputError
from stepwise.data import Buckets
from stepwise.training import (
  InputConfig,
  JsonLinesWriter,
  MetricWriter,
  ModelSpec,
  TensorBoardWriter,
  selector_task,
)
from stepwise.training import _metrics as metrics_module
from stepwise.training._dry_run import _batch_shapes
from stepwise.training._loop import make_programs
from stepwise.training._metrics import SpeedMeter
from tests.training.runs import tiny_config


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


ROWS, TOKENS, UNITS = 3, 29, 5


def forward_flops(encoder):
  """Of BERTSum, from its sizes; every unit stands between two delimiters."""
  slots, embed = TOKENS + 2 * UNITS, encoder.embed
  projections = 4 * slots * embed**2
  scores_and_values = 2 * slots**2 * embed
  feed_forward = 2 * slots * embed * encoder.mlp
  layer = projections + scores_and_values + feed_forward
  document = encoder.layers * layer + UNITS * embed
  return 2 * ROWS * document


def test_the_share_of_the_peak_is_that_of_the_sizes(monkeypatch):
  """Two updates in four seconds: three passes each, over what was possible."""
  run = tiny_config(
    '-',
    model=ModelSpec('bertsum_tiny'),
    input=InputConfig(
      '-', ROWS, buckets=Buckets((TOKENS,), (UNITS,)), plan_steps=2
    ),
  )
  programs = make_programs(run, selector_task(run))
  clock, worked = iter([10.0, 14.0, 14.0]), iter([5.0, 8.0, 8.0])
  fake = SimpleNamespace(
    monotonic=lambda: next(clock), process_time=lambda: next(worked)
  )
  monkeypatch.setattr(metrics_module, 'time', fake)
  meter = SpeedMeter(programs, 0, peak=1e9)
  batch = _batch_shapes(programs, (TOKENS, UNITS), ROWS)
  for tokens in (50, 70):
    meter.add(batch, jnp.asarray(tokens))
  numbers = meter.measure(2)
  work = 2 * 3 * forward_flops(programs.task.model.encoder)
  assert numbers['train/mfu'] == pytest.approx(work / 4 / 1e9)
  assert numbers['train/steps_per_second'] == 0.5
  assert numbers['train/tokens_per_second'] == 30.0
  assert numbers['train/core_seconds'] == 1.5
