"""Two processes of eight devices each: one run, killed, preempted, moved."""

import json
import signal
import socket

import numpy as np
import pytest

from tests.training.processes import PATIENCE, kill_when, start
from tests.training.runs import write_records

pytestmark = pytest.mark.slow

# A run that is stopped has more steps than it will ever reach.
ENDLESS = 4000


def arguments(records, articles, output, steps):
  settings = (
    *('OptimizerConfig.epsilon=1e-3', 'TrainConfig.log_every=1'),
    *('CheckpointConfig.every=2', 'EvaluationConfig.every=3'),
    *('MeshConfig.model=2', 'InputConfig.examples=sample'),
    *('InputConfig.buckets=@Buckets()', 'Buckets.lengths=(64,)'),
    *('Buckets.units=(8,)', 'InputConfig.plan_steps=3'),
    # Summaries of the validation articles, each process its share.
    *(f'EvaluationConfig.documents={articles}', 'DecodeConfig.never=(1,)'),
    *('EvaluationConfig.predict=@PredictConfig()', 'DecodeConfig.max_units=2'),
    *('PredictConfig.decode=@DecodeConfig()', 'DecodeConfig.stop_unit=0'),
  )
  return [
    *('train', records, '--validation', records, '--config', 'etcsum_tiny'),
    *('--size', 'encoder.layers=1', '--steps', steps, '--batch', 16),
    *('--output', output),
    *(word for name in settings for word in ('--set', name)),
  ]


def free_port():
  with socket.socket() as found:
    found.bind(('localhost', 0))
    return found.getsockname()[1]


def start_pair(*run):
  """Both processes of a run on 2 x 8 devices."""
  address = f'localhost:{free_port()}'
  return [
    start(
      *arguments(*run),
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


def last(output):
  return max(logged(output), default=0)


def test_a_run_of_sixteen_devices_ends_on_eight(tmp_path):
  """Preempted, continued, killed, moved: it ends as if nothing had been."""
  records = write_records(tmp_path, count=23)
  articles = tmp_path / 'articles-0.jsonl'
  moved, alone = tmp_path / 'moved', tmp_path / 'alone'
  # A signal to one of them stops both, at the same step.
  pair = start_pair(records, articles, moved, ENDLESS)
  kill_when(pair[1], lambda: last(moved) >= 2, signal.SIGTERM, wait=False)
  for code, errors in finish(*pair):
    assert code == 128 + signal.SIGTERM, errors
    assert 'which is saved: the same command continues' in errors
  saved = [int(p.name) for p in (moved / 'checkpoints').glob('[0-9]*')]
  preempted = last(moved)
  assert max(saved) == preempted < ENDLESS
  # They go on from there, and are killed the hard way.
  first, second = start_pair(records, articles, moved, ENDLESS)
  kill_when(first, lambda: last(moved) >= preempted + 5)
  second.kill()
  second.communicate()
  assert not (moved / 'bundle').exists()
  # One process of eight devices finishes; another has done all of it alone.
  steps = last(moved) + 2
  for output in (moved, alone):
    run = start(*arguments(records, articles, output, steps), devices=8)
    [(code, errors)] = finish(run)
    assert code == 0, errors
  names = 'train/loss', 'validation/loss', 'validation/rouge1'
  for name in names:
    expected, found = logged(alone, name), logged(moved, name)
    assert found.keys() == expected.keys() and len(found) > 2
    values = [[run[step] for step in found] for run in (found, expected)]
    np.testing.assert_allclose(*values, rtol=1e-4)
  assert 'data 4, fsdp 1, model 2' in (moved / 'layout.txt').read_text()
  # What it has learnt is used.
  written = tmp_path / 'summaries.jsonl'
  process = start('infer', moved / 'bundle', articles, written)
  [(code, errors)] = finish(process)
  assert code == 0, errors
  assert len(written.read_text().splitlines()) == 23


def test_a_mistake_of_one_is_that_of_both(tmp_path):
  """The first process writes the folder, and alone sees what is in it."""
  records = write_records(tmp_path, count=5)
  output = tmp_path / 'run'
  output.mkdir()
  (output / 'config.json').write_text('{"seed": 7}')
  for code, errors in finish(*start_pair(records, '-', output, 6)):
    assert code == 2, errors
    assert 'holds a run with another' in errors
