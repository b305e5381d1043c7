"""The table of slices: every run file, from what was measured."""

import json
import re

import pytest

from benchmarks import slices

ROW = {
  'topology': 'v5e:2x4',
  'micro_batches': 16,
  'programs': [
    {'name': 'update', 'flops': 3.2e15, 'chip_bytes': 9 * 2**30},
    {'name': 'ranking', 'flops': 1.0, 'chip_bytes': 2**29},
  ],
}
SMALL = {'topology': 'v5e:8x8', 'reason': 'update: out of memory'}


def test_every_run_file_has_a_row():
  first, second, *_ = names = slices.run_files(quick=False)
  # 14 of the paper's Table 1; planners and realizers of Rotowire.
  assert sum(name.startswith('cnn_dailymail/') for name in names) == 14
  assert sum(name.startswith('rotowire/') for name in names) == 6
  assert names[-1].startswith('pretraining/')
  rows = {first: ROW, second: {'topology': None, 'too_small': [SMALL]}}
  _, _, one, other, *rest = slices.markdown(rows).splitlines()
  assert one == f'| `{first}` | v5e:2x4 | 16 | 3,200.0 | 9.00 |  |  | 0.50 |'
  assert f'| `{second}` | not v5e:8x8: update: out of memory |' in other
  assert len(rest) == len(names) - 2
  assert all('not measured' in line for line in rest)


def test_the_page_has_the_table_of_the_results():
  path = slices.GIN.parent / 'benchmarks' / 'results' / slices.RESULT
  rows = json.loads(path.read_text())['rows'] if path.exists() else {}
  page = (slices.GIN.parent / 'docs' / 'slices.md').read_text()
  (table,) = re.findall(r'<!-- slices -->\n(.*?)\n<!-- /slices -->', page, re.S)
  assert table == slices.markdown(rows)


def test_what_does_not_fit_is_not_compiled_further(monkeypatch):
  tried = []

  def dry_run(config, topology, make_task, on_program):
    tried.append(topology)
    reason = 'out of memory' if topology == 'v5e:2x2' else ''
    program = slices.CompiledProgram('update', 8, 64, 8, 1e12, reason=reason)
    on_program(program)
    return slices.DryRun({'data': 8}, 1, (), (program,))

  monkeypatch.setattr(slices, 'dry_run', dry_run)
  config = slices.read_config('hibert_tiny.gin')
  row = slices.smallest_slice(config)
  assert tried == ['v5e:2x2', 'v5e:2x4']
  assert (row['topology'], row['chips']) == ('v5e:2x4', 8)
  told = {'topology': 'v5e:2x2', 'reason': 'update: out of memory'}
  assert row['too_small'] == [told]


@pytest.mark.parametrize('name', slices.run_files(quick=True))
def test_runs_are_known_by_what_they_say(name):
  config = slices.read_config(name)
  known = {'digest': slices.digest(config)}
  assert slices.is_current(known, config)
  assert not slices.is_current(None, config)


@pytest.mark.parametrize('name', slices.run_files(quick=False))
def test_every_run_file_says_what_its_batches_are(name):
  """A dry run reads no records: nothing may be left to them."""
  config = slices.read_config(name)
  assert config.input.buckets is not None
  size = config.input.buckets.lengths[-1], config.input.buckets.units[-1]
  task = slices.make_task(config)
  arrays = task.empty(size, 2)
  assert {len(array) for array in arrays.values()} == {2}
  if task.model.chooses_units and task.model.stepwise:
    # What the last step of the longest plan reads.
    slots = arrays['plan'].shape[1] + arrays['targets'].shape[1] - 1
    assert slots <= (task.model.limits.plan or slots)
