"""The search for a slice stops where it should; its script runs."""

import json

import pytest

from benchmarks import train_step
from benchmarks.train_step import (
  ACCUMULATED,
  PLANS,
  QUICK,
  WHOLE,
  attempts,
  run_config,
)
from stepwise.training import resolve_model

SIZES = {'v5e:2x2': 4, 'v5e:4x8': 32, 'v5e:8x8': 64}
SIZES |= {'v3:2x2': 8, 'v3:4x4': 32, 'v3:4x8': 64}


@pytest.mark.parametrize(
  ('kind', 'limit', 'expected'),
  [
    # Documents a device can hold, and the programs tried until all fits.
    ('v5e', 16, ['v5e:2x2 16', 'v5e:4x8 1']),
    ('v5e', 8, ['v5e:2x2 16', 'v5e:4x8 1', 'v5e:8x8 1']),
    ('v3', 8, ['v3:2x2 8', 'v3:4x4 1', 'v3:4x8 1']),
  ],
)
def test_the_smallest_slice_that_fits(kind, limit, expected, monkeypatch):
  def compile_update(plan, attempt):
    batch = run_config(plan).input.batch_size
    rows = batch // (SIZES[attempt.topology] * attempt.accumulate)
    tried.append(f'{attempt.topology} {attempt.accumulate}')
    return {'goal': attempt.goal, 'fits': rows <= limit}

  tried = []
  monkeypatch.setattr(train_step, 'devices', lambda name: range(SIZES[name]))
  monkeypatch.setattr(train_step, 'compile_update', compile_update)
  rows = list(attempts(PLANS[kind], whole=True))
  assert tried == expected
  assert list(attempts(PLANS[kind], whole=False)) == rows[:1]
  for goal in (WHOLE, ACCUMULATED):
    fits = [row['fits'] for row in rows if row['goal'] == goal]
    assert fits == [False] * (len(fits) - 1) + [True]


def test_the_run_is_that_of_the_paper():
  run = run_config(PLANS['v5e'], accumulate=16)
  config = resolve_model(run.model)
  assert run.input.batch_size == 512
  assert run.input.buckets.lengths[-1] == config.document_tokens
  assert config.document_tokens + config.summary_tokens + 3 == 8192
  assert config.max_global == 512
  # Units, five delimiters and segments, BEG and at least two of the plan.
  assert run.input.buckets.units[-1] + 5 + 3 <= config.max_global
  assert config.encoder.remat_period and config.encoder.scan_layers


@pytest.mark.slow
def test_the_script_writes_its_results(tmp_path, capsys):
  train_step.main(['--quick', '--whole', '--out', str(tmp_path)])
  content = json.loads((tmp_path / 'train_step_cpu.json').read_text())
  assert {'device', 'versions', 'commit', 'date', 'command'} <= content.keys()
  (accumulated, whole) = content['attempts']
  assert whole['fits'] and accumulated['fits']
  assert (whole['accumulate'], accumulated['accumulate']) == (1, 4)
  assert whole['micro_batch_rows'] == run_config(QUICK).input.batch_size
  assert whole['device_bytes'] > whole['temporary_bytes']
  assert whole['temporary_bytes'] > accumulated['temporary_bytes']
  assert 'PFLOP' in capsys.readouterr().out
