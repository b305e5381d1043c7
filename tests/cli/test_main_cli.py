"""The command line as a whole, and the verbs doctor and bench."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

from stepwise import __version__
from stepwise._errors import InputError
from stepwise._extras import EXTRAS
from stepwise.cli import bench, doctor
from stepwise.cli.main import app
from tests.training.runs import write_articles

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


def commands():
  """Every verb, by the words that call it."""
  waiting = [((), typer.main.get_command(app))]
  while waiting:
    words, command = waiting.pop()
    yield words, command
    waiting += [
      ((*words, name), each)
      for name, each in getattr(command, 'commands', {}).items()
    ]


def test_help_of_every_verb_imports_nothing_heavy():
  """The property behind an answer in under half a second."""
  verbs = [list(words) for words, _ in commands()]
  code = f"""
import sys
from stepwise.cli.main import app
for verb in {verbs}:
  try:
    app([*verb, '--help'])
  except SystemExit as ended:
    assert not ended.code, verb
print('heavy:', [name for name in {HEAVY} if name in sys.modules])
"""
  done = subprocess.run(
    [sys.executable, '-c', code], capture_output=True, text=True
  )
  assert done.stdout.splitlines()[-1] == 'heavy: []', done.stderr


def options():
  """Options of all verbs by name: what they are, and the verbs."""
  found = {}
  for words, command in commands():
    for option in command.params:
      if option.param_type_name != 'option':
        continue
      kind = option.type_descriptor.annotation  # pyright: ignore
      about = (kind, option.default, option.help, option.metavar)  # pyright: ignore
      about += (option.secondary_opts, option.multiple)  # pyright: ignore
      for name in option.opts:
        found.setdefault(name, {}).setdefault(repr(about), []).append(words)
  return found


def test_an_option_is_the_same_in_every_verb():
  """Name, type, default and meaning."""
  found = options()
  assert len(found['--json']) == len(found['--html']) == 1
  # A configuration is needed to convert, and may be in a gin file to train.
  # Oracles are read with the rules, texts with what agrees best with the field.
  exempt = ('--config', '--extractor')
  different = {
    name: kinds
    for name, kinds in found.items()
    if len(kinds) > 1 and name not in exempt
  }
  assert different == {}


def test_the_version():
  result = CliRunner().invoke(app, ['--version'])
  assert (result.exit_code, result.stdout) == (0, f'stepwise {__version__}\n')


def test_exit_codes_are_told():
  assert 'Exit codes: 0' in CliRunner().invoke(app, ['--help']).stdout


def test_the_shell_completes_verbs_and_options():
  def complete(line):
    environment = {
      **os.environ,
      '_STEPWISE_COMPLETE': 'complete_bash',
      'COMP_WORDS': line,
      'COMP_CWORD': str(len(line.split()) - 1),
    }
    code = "from stepwise.cli.main import app; app(prog_name='stepwise')"
    return subprocess.run(
      [sys.executable, '-c', code],
      capture_output=True,
      text=True,
      env=environment,
    ).stdout.split()

  assert complete('stepwise summ') == ['summarize']
  assert '--trigram-blocking' in complete('stepwise infer --tri')


def test_a_reader_that_stops_is_no_error():
  done = subprocess.run(
    f'{sys.executable} -m stepwise.cli.main oracle --help | true; '
    'echo ${PIPESTATUS[0]}',
    shell=True,
    executable='/bin/bash',
    capture_output=True,
    text=True,
  )
  assert done.stderr == ''
  assert done.stdout.split()[-1] in ('0', '1')


def test_an_interrupted_run_ends_quietly(tmp_path):
  source = write_articles(tmp_path / 'in.jsonl', 3000)
  # Whoever runs the tests in the background has told them to ignore it.
  program = (
    'import signal; signal.signal(signal.SIGINT, signal.default_int_handler);'
    'from stepwise.cli.main import main; main()'
  )
  process = subprocess.Popen(
    [
      *(sys.executable, '-c', program, 'oracle', source),
      *(tmp_path / 'out', '--processes', '2'),
    ],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    start_new_session=True,
  )
  partial = tmp_path / 'out.partial'
  while not (partial.exists() and partial.stat().st_size):
    assert process.poll() is None, process.communicate()
    time.sleep(0.01)
  # As a terminal does: to all processes of the group.
  os.killpg(process.pid, signal.SIGINT)
  output, errors = process.communicate()
  assert (process.returncode, output, errors) == (130, '', '')


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
  others = {'devices', 'tpu', 'bench', 'dev', 't5x'}
  assert set(checks) == {*EXTRAS, *others}
  assert checks['devices'] == {'works': True, 'detail': '8 x cpu'}
  versions, _, steps = run('doctor').stdout.partition('\nNext:\n')
  assert 'x cpu' in versions
  assert '  stepwise serve  ' in steps


def test_doctor_names_the_extra_of_a_job():
  report = {
    'devices': doctor.Check(True, ''),
    'serve': doctor.Check(False, 'uvicorn not found'),
  }
  last = doctor._next_steps(report)[-1]
  assert last.split() == [
    *('pip', 'install', "'stepwise[serve]'", 'then', 'stepwise', 'serve')
  ]


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
