"""The benchmark of the first summary runs, and measures what it says."""

import json

import pytest

from benchmarks import cold_start


def test_times_are_those_of_the_process():
  sleeping = cold_start.timed(['-c', 'import time; time.sleep(0.5)'], {})
  assert sleeping.clock > 0.5
  assert sleeping.cores < sleeping.clock
  given = 'import os, sys; sys.exit(os.environ["X"] != "1")'
  cold_start.timed(['-c', given], {'X': '1'})


@pytest.mark.slow
def test_the_script_writes_its_results(tmp_path, capsys):
  cold_start.main(['--quick', '--out', str(tmp_path)])
  content = json.loads((tmp_path / 'cold_start.json').read_text())
  assert {'device', 'versions', 'commit', 'date', 'command'} <= content.keys()
  assert content['model'] == 'hibert_tiny, random weights'
  runs = content['runs']
  assert list(runs) == ['import jax', 'cold', 'warm']
  # What is compiled is not compiled again.
  assert runs['warm']['core_seconds'] < runs['cold']['core_seconds']
  assert 'import jax' in capsys.readouterr().out
