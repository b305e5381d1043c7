"""The attention benchmark measures what it says."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import _attention_report as report
from benchmarks import _attention_systems as systems
from benchmarks import _harness as harness
from benchmarks import attention
from stepwise.layers import RelativeTable

SIZES = systems.Sizes(globals=7, heads=2, dim=5, radius=3)
MIB = 2**20


@pytest.fixture
def problem():
  """Shared projections and no query-dependent term, which all can compute."""
  heads, tables, units = systems.draw_problem(67, SIZES)
  heads = heads._replace(
    l2g_key=heads.g2g_key,
    l2g_value=heads.g2g_value,
    g2l_key=heads.l2l_key,
    g2l_value=heads.l2l_value,
  )
  tables = jax.tree.map(
    lambda table: table._replace(embedding=0 * table.embedding),
    tables,
    is_leaf=lambda node: isinstance(node, RelativeTable),
  )
  return systems.Problem(heads, tables, units)


def test_all_systems_compute_the_same(problem):
  expected = jax.jit(systems.forward(systems.blocked, SIZES))(problem)
  for system in systems.SYSTEMS.values():
    jax.tree.map(
      lambda ours, theirs: np.testing.assert_allclose(ours, theirs, atol=1e-5),
      jax.jit(systems.forward(system, SIZES))(problem),
      expected,
    )


def test_units_have_sixteen_tokens_and_globals_to_spare(problem):
  units = problem.units
  assert np.bincount(units.unit_ids[0]).tolist() == [16, 16, 16, 16, 3]
  assert units.global_examples[0].tolist() == [1, 1, 1, 1, 1, 0, 0]


def test_gradient_is_of_all_heads_and_tables():
  gradient = jax.jit(systems.gradient(systems.dense, SIZES))
  gradients = gradient(systems.draw_problem(67, SIZES))
  leaves = jax.tree.leaves(gradients)
  assert len(leaves) == 14
  assert all(np.any(leaf) for leaf in leaves)


def test_median_seconds_warms_up_and_keeps_its_budget():
  calls = []
  harness.median_seconds(calls.append, [0], repeats=5, budget=60)
  assert len(calls) == 6
  harness.median_seconds(calls.append, [0], repeats=5, budget=0)
  assert len(calls) == 8


def test_temporaries_and_footprint():
  def function(x):
    return jnp.sort(jnp.sin(x) @ jnp.cos(x))

  x = jax.ShapeDtypeStruct((64, 64), jnp.float32)
  compiled = harness.compile_for(jax.devices()[0], function, x)
  inputs_and_outputs = 2 * 64 * 64 * 4
  assert harness.footprint(compiled) == (
    harness.temporaries(compiled) + inputs_and_outputs
  )


def test_explain():
  memory = ValueError(
    'RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required'
    ' for HLO temporaries (37.98G) exceeds available HBM (15.75G).'
  )
  assert harness.explain(memory) == 'out of memory: 37.98G of 15.75G'
  assert harness.explain(ValueError('one\ntwo')) == 'failed: one'


@pytest.mark.parametrize(
  ('seconds', 'too_slow'),
  [(1.0, False), (3.0, True), ('skipped: needs 70 GiB', True)],
)
def test_too_slow_expects_quadratic_growth(seconds, too_slow):
  previous = {'length': 64, 'seconds': seconds}
  assert attention._too_slow(previous, 128, limit=10) == too_slow
  assert not attention._too_slow({}, 128, limit=10)


def test_what_needs_too_much_memory_is_skipped():
  plan = attention.QUICK
  row = attention._measure_one(
    attention.dataclasses.replace(plan, memory=1), 'jax.nn', 'forward', 32, {}
  )
  assert row['temporaries'] > 0
  assert row['seconds'].startswith('skipped: needs')


CONTENT = {
  'command': 'stepwise bench attention',
  'date': '2000-01-01',
  'commit': '0123456789abcdef',
  'device': 'abacus',
  'versions': {'jax': '1.2.3'},
  'host': [
    {
      'system': system,
      'pass': pass_name,
      'length': 8192,
      'seconds': seconds,
      'temporaries': 3 * MIB,
    }
    for system, seconds in (('blocked', 2.0), ('dense', 14.0))
    for pass_name in ('forward', 'gradient')
  ],
  'tpu': [
    {
      'topology': topology,
      'system': system,
      'length': length,
      'temporaries': size * MIB,
      'compiler_bytes': 10 * size * MIB,
    }
    | ({'kernel_bytes': 5 * size * MIB} if system == 'pallas' else {})
    for topology, system, length, size in (
      ('v5e:2x4', 'blocked', 8192, 40),
      ('v5e:2x4', 'blocked', 32768, 451),
      ('v5e:2x4', 'pallas', 8192, 41),
      ('v5e:2x4', 'pallas', 32768, 451),
      ('v3:2x2', 'blocked', 8192, 100),
      ('v3:2x2', 'blocked', 32768, 410),
    )
  ],
}


def test_targets():
  rows = report.check_targets(CONTENT)
  assert [row['measured'] for row in rows] == [
    *(40, 100, 4.1, 451),
    *(41, 451, 0.5, 7),
  ]
  met = [True, True, True, False, False, False, True, True]
  assert [row['met'] for row in rows] == met


def test_targets_that_were_not_measured():
  content = copy.deepcopy(CONTENT)
  content['host'][-1]['seconds'] = 'skipped: needs 70 GiB'
  content['tpu'] = []
  rows = report.check_targets(content)
  assert [row['met'] for row in rows] == [None] * 8
  content['targets'] = rows
  assert 'not measured' in report.markdown(content)
  assert 'skipped: needs 70 GiB' in report.markdown(content)


def test_tables_give_ratios():
  content = CONTENT | {'targets': report.check_targets(CONTENT)}
  text = report.markdown(content)
  assert '| 8192 | 2.00 s (1.0x) | 14.00 s (7.0x) |' in text
  assert '| 8192 | 3.0 MiB | 3.0 MiB |' in text
  assert '| <= 450 MiB | 451.0 MiB | NO |' in text
  assert 'by their block specs:\n\n| n | pallas |' in text


def test_readme_shows_the_stored_results(tmp_path):
  """The tables are written by the script, and none was forgotten."""
  sections = attention.readme_sections(harness.RESULTS)
  assert sections.keys() == {'attention', 'attention_sequence'}
  copied = tmp_path / 'README.md'
  copied.write_text(report.README.read_text())
  for name, text in sections.items():
    report.update_readme(name, text, copied)
    assert text in copied.read_text()
  assert copied.read_text() == report.README.read_text()


def test_quick_run_writes_results_and_plot(tmp_path):
  done = subprocess.run(
    [
      sys.executable,
      '-m',
      'stepwise.cli.main',
      *('bench', 'attention', '--quick', '--out', str(tmp_path)),
    ],
    capture_output=True,
    text=True,
  )
  assert done.returncode == 0, done.stderr
  content = json.loads((tmp_path / 'attention.json').read_text())
  assert {'device', 'versions', 'commit', 'date', 'command'} <= set(content)
  assert content['command'] == 'stepwise bench attention --quick'
  assert len(content['host']) == len(systems.SYSTEMS) * len(systems.PASSES)
  assert all(row['seconds'] > 0 for row in content['host'])
  assert (tmp_path / 'attention.png').read_bytes().startswith(b'\x89PNG')
  assert 'blocked' in done.stdout
  assert not list(Path(tmp_path).glob('*.partial*'))


@pytest.mark.slow
@pytest.mark.parametrize(
  ('topology', 'limit'), [('v5e:2x4', 40), ('v3:2x2', 180)]
)
def test_tpu_memory_targets(topology, limit):
  """Deterministic: the real TPU compiler, apart from this process's jax."""
  pytest.importorskip('libtpu')
  code = (
    'from benchmarks import attention\n'
    f'print(attention.tpu_needs({topology!r}, "blocked", 8192,'
    ' attention.Sizes())["temporaries"])'
  )
  done = subprocess.run(
    [sys.executable, '-c', code], capture_output=True, text=True, check=True
  )
  assert int(done.stdout) <= limit * MIB
