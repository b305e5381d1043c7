"""Two processes of eight devices each: one run, killed, preempted, moved."""

import json
import signal
import socket

import numpy as np
import pytest

from tests.training.processes import PATIENCE, kill_when, start
from tests.training.runs import write_records

pytestmark = pytest.mark.slow

STEPS = 6


def arguments(records, output, *more):
  settings = (
    *('OptimizerConfig.epsilon=1e-3', 'TrainConfig.log_every=1'),
    *('CheckpointConfig.every=2', 'EvaluationConfig.every=3'),
    *('MeshConfig.model=2', 'InputConfig.examples=sample'),
    *('InputConfig.buckets=@Buckets()', 'Buckets.lengths=(64,)'),
    *('Buckets.units=(8,)', 'InputConfig.plan_steps=3'),
  )
  return [
    *('train', records, '--validation', records, '--config', 'etcsum_tiny'),
    *('--size', 'encoder.layers=1', '--steps', STEPS, '--batch', 16),
    *('--output', output),
    *(word for name in settings for word in ('--set', name)),
    *more,
  ]


def free_port():
  with socket.socket() as found:
    found.bind(('localhost', 0))
    return found.getsockname()[1]


def start_pair(records, output, *more):
  """Both processes of a run on 2 x 8 devices."""
  address = f'localhost:{free_port()}'
  return [
    start(
      *arguments(records, output, *more),
      *('--distributed', f'{address},2,{index}'),
      devices=8,
    )
    for index in range(2)
  ]


def finish(*processes):
  found = [process.communicate(timeout=PATIENCE) for process in processes]
  return [
    (process.returncode, errors)
    for process, (_, errors) in zip(processes, found, strict=True)
  ]


def logged(output, name='train/loss'):
  path = output / 'metrics.jsonl'
  if not path.exists():
    return {}
  rows = [json.loads(line) for line in path.read_text().splitlines()]
  return {row['step']: row[name] for row in rows if name in row}


def test_a_run_of_sixteen_devices_is_killed_and_ends_on_eight(tmp_path):
  records = write_records(tmp_path, count=23)
  alone, moved = tmp_path / 'alone', tmp_path / 'moved'
  [(code, errors)] = finish(start(*arguments(records, alone), devices=8))
  assert code == 0, errors
  first, second = start_pair(records, moved)
  kill_when(first, lambda: max(logged(moved), default=0) >= 4)
  second.kill()
  second.communicate()
  assert not (moved / 'bundle').exists()
  [(code, errors)] = finish(start(*arguments(records, moved), devices=8))
  assert code == 0, errors
  for name in ('train/loss', 'validation/loss'):
    expected, found = logged(alone, name), logged(moved, name)
    assert found.keys() == expected.keys()
    for step, loss in expected.items():
      np.testing.assert_allclose(found[step], loss, rtol=1e-4)
  assert 'data 4, fsdp 1, model 2' in (moved / 'layout.txt').read_text()
  assert (moved / 'bundle' / 'model.safetensors').exists()


def test_a_signal_to_one_stops_both(tmp_path):
  records = write_records(tmp_path, count=23)
  output = tmp_path / 'run'
  longer = (
    '--set',
    'TrainConfig.steps=4000',
    '--set',
    'EvaluationConfig.every=4000',
  )
  pair = start_pair(
    records, output, *longer, '--set', 'CheckpointConfig.every=4000'
  )

  kill_when(
    pair[1],
    lambda: max(logged(output), default=0) >= 2,
    signal.SIGTERM,
    wait=False,
  )
  for code, errors in finish(*pair):
    assert code == 128 + signal.SIGTERM, errors
    assert 'which is saved: the same command continues' in errors
  saved = [int(p.name) for p in (output / 'checkpoints').glob('[0-9]*')]
  assert len(saved) == 1 and 2 <= saved[0] < 4000


def test_a_mistake_of_one_is_that_of_both(tmp_path):
  """The first process writes the folder, and alone sees what is in it."""
  records = write_records(tmp_path, count=5)
  output = tmp_path / 'run'
  output.mkdir()
  (output / 'config.json').write_text('{"seed": 7}')
  for code, errors in finish(*start_pair(records, output)):
    assert code == 2, errors
    assert 'holds a run with another' in errors
