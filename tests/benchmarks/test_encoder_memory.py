"""The benchmark of whole encoders, at its smallest size."""

import json

import pytest

from benchmarks import encoder_memory


@pytest.mark.slow
def test_every_encoder_is_measured_and_drawn(tmp_path):
  encoder_memory.main(['--quick', '--out', str(tmp_path)])
  content = json.loads((tmp_path / 'encoder_memory.json').read_text())
  needed = {
    (row['system'], row['pass']): row['temporaries'] for row in content['rows']
  }
  assert {system for system, _ in needed} == set(encoder_memory.SYSTEMS)
  # What a gradient keeps is more than what a forward pass holds at a time.
  for system in encoder_memory.SYSTEMS:
    assert needed[system, 'gradient'] > needed[system, 'forward'] > 0
  for name in ('encoder_memory.png', 'attention_pattern.png'):
    assert (tmp_path / name).read_bytes().startswith(b'\x89PNG')
