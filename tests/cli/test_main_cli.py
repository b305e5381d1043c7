"""The command line as a whole, and the verbs doctor and bench."""

import json
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from stepwise._errors import InputError
from stepwise.cli import bench, doctor
from stepwise.cli.main import app

HEAVY = ('jax', 'flax', 'numpy', 'tensorflow', 'tokenizers', 'matplotlib')


def run(*arguments):
  return subprocess.run(
    [sys.executable, '-m', 'stepwise.cli.main', *map(str, arguments)],
    capture_output=True,
    text=True,
  )


def test_help_lists_every_verb():
  shown = run('--help')
  assert shown.returncode == 0
  verbs = typer.main.get_command(app).commands  # pyright: ignore
  assert {'bench', 'data', 'doctor', 'evaluate', 'oracle'} <= set(verbs)
  for verb, command in verbs.items():
    assert verb in shown.stdout
    assert command.help, f'{verb} has no help'


def test_help_imports_nothing_heavy():
  """The property behind an answer in under half a second."""
  code = f"""
import sys
sys.argv = ['stepwise', '--help']
from stepwise.cli.main import main
try:
  main()
except SystemExit as exit:
  assert not exit.code
print('heavy:', [name for name in {HEAVY} if name in sys.modules])
"""
  done = subprocess.run(
    [sys.executable, '-c', code], capture_output=True, text=True
  )
  assert done.stdout.splitlines()[-1] == 'heavy: []', done.stderr


@pytest.mark.parametrize(
  ('arguments', 'message'),
  [
    (['data', 'check', 'absent.jsonl'], 'absent.jsonl'),
    (['evaluate', 'lead:3', 'absent.jsonl'], 'absent.jsonl'),
    (['oracle', 'absent.jsonl', 'out.jsonl'], 'absent.jsonl'),
    (['bench', 'absent'], "No benchmark 'absent'; there are attention"),
  ],
)
def test_a_users_mistake_is_one_sentence(arguments, message):
  done = run(*arguments)
  assert done.returncode == 2
  assert done.stdout == ''
  (line,) = done.stderr.splitlines()
  assert line.startswith('stepwise: ')
  assert message in line


@pytest.mark.parametrize(
  ('arguments', 'message'),
  [
    (['absent'], 'No such command'),
    (['doctor', '--absent'], 'No such option'),
    (['oracle', 'in.jsonl'], 'Missing argument'),
  ],
)
def test_wrong_usage_is_explained(arguments, message):
  result = CliRunner().invoke(app, arguments)
  assert result.exit_code == 2
  assert message in result.stderr
  assert isinstance(result.exception, SystemExit)


def test_a_bug_of_ours_keeps_its_traceback(monkeypatch):
  monkeypatch.setattr(doctor, '_versions', lambda: 1 / 0)
  result = CliRunner().invoke(app, ['doctor'])
  assert isinstance(result.exception, ZeroDivisionError)


def test_doctor_reports_versions_devices_and_extras():
  done = run('doctor', '--json')
  assert done.returncode == 0
  assert done.stderr == ''
  report = json.loads(done.stdout)
  assert report['versions']['python'] == sys.version.split()[0]
  assert report['versions']['jax']
  checks = report['checks']
  assert set(checks) == {
    *('devices', 'tasks', 'plots', 'parquet', 'tpu', 'bench', 'dev', 't5x')
  }
  assert checks['devices'] == {'works': True, 'detail': '8 x cpu'}
  assert 'x cpu' in run('doctor').stdout


@pytest.fixture
def nothing_installed(monkeypatch):
  monkeypatch.setattr(doctor.importlib.util, 'find_spec', lambda name: None)
  monkeypatch.setattr(doctor, '_LIST_DEVICES', 'raise SystemExit("no jax")')


def test_doctor_says_what_to_install(nothing_installed):
  result = CliRunner().invoke(app, ['doctor', '--json'])
  assert result.exit_code == 0
  checks = json.loads(result.stdout)['checks']
  assert not any(check['works'] for check in checks.values())
  assert checks['devices']['detail'] == 'no jax'
  assert checks['plots']['detail'] == (
    'matplotlib not found: pip install "stepwise[plots]"'
  )
  assert '"stepwise[bench]"' in checks['bench']['detail']
  assert '--no-deps git+https' in checks['t5x']['detail']


def test_doctor_survives_a_broken_or_hanging_library(monkeypatch):
  crash = doctor._probe('import absent_library')
  assert crash == doctor.Check(
    False, "ModuleNotFoundError: No module named 'absent_library'"
  )
  monkeypatch.setattr(doctor, '_PROBE_SECONDS', 0.1)
  hanging = doctor._probe('import time; time.sleep(60)')
  assert not hanging.works
  assert 'set JAX_PLATFORMS=cpu' in hanging.detail


def test_doctor_imports_deeply_only_when_asked(monkeypatch):
  imported = []
  monkeypatch.setattr(
    doctor,
    '_import',
    lambda modules: imported.extend(modules) or doctor.Check(True, ''),
  )
  assert CliRunner().invoke(app, ['doctor']).exit_code == 0
  assert imported == []
  assert CliRunner().invoke(app, ['doctor', '--deep']).exit_code == 0
  assert 'tensorflow' in imported


def test_bench_needs_a_checkout(tmp_path):
  with pytest.raises(InputError, match='no benchmarks folder: install'):
    bench._check_benchmark(tmp_path / 'benchmarks', 'attention')


def test_bench_passes_arguments_on():
  done = run('bench', 'attention', '--help')
  assert done.returncode == 0
  assert 'usage: stepwise bench attention' in done.stdout
  assert '--memory-gib' in done.stdout
