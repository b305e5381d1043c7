"""Runners with processes of their own; one of them is killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import partial

import distributed
import pytest

from stepwise.beam import ReadParts, Summarize, make_options, run_job
from stepwise.data import OracleOptions, write_oracles
from tests.beam.slow_work import SlowOracles, load_noted, notes
from tests.beam.sources import joined, write_input
from tests.summarization.tiny_bundles import tiny_bundle

pytestmark = [
  pytest.mark.slow,
  # Of libraries that start processes and forget to close them.
  pytest.mark.filterwarnings('ignore'),
]

STEPWISE = [sys.executable, '-m', 'stepwise.cli.main']
TWO = [
  *('--runner', 'DirectRunner', '--part', '4', '--'),
  *('--direct_num_workers', '2', '--direct_running_mode', 'multi_processing'),
]


def stepwise(*arguments):
  return subprocess.run(
    [*STEPWISE, *map(str, arguments)], capture_output=True, text=True
  )


def wait_for(condition, seconds=120):
  deadline = time.monotonic() + seconds
  while not condition():
    assert time.monotonic() < deadline, 'it did not happen'
    time.sleep(0.05)


@pytest.fixture
def source(tmp_path):
  return write_input(tmp_path / 'in.jsonl', 120)


@pytest.fixture
def oracles(source, tmp_path):
  write_oracles(source, tmp_path / 'here.jsonl', OracleOptions())
  return (tmp_path / 'here.jsonl').read_text()


@pytest.fixture
def log(tmp_path):
  folder = tmp_path / 'log'
  folder.mkdir()
  return folder


def test_two_processes_of_the_direct_runner(source, oracles, log, tmp_path):
  run_job(
    str(source),
    str(tmp_path / 'out.jsonl'),
    ReadParts() | SlowOracles(log),
    make_options('DirectRunner', TWO[5:]),
    made_by={},
    part_size=10,
  )
  assert joined(tmp_path, 'out-*') == oracles
  processes = [process for _, process in notes(log)]
  assert len(set(processes)) == 2
  assert os.getpid() not in processes


def test_two_processes_summarise_and_score(tmp_path):
  source = write_input(tmp_path / 'in.jsonl', 16, bad=False)
  bundle = tiny_bundle(tmp_path / 'tiny')
  here, pattern = tmp_path / 'here.jsonl', f'{tmp_path}/out-*.jsonl'
  assert stepwise('infer', bundle, source, here).returncode == 0
  done = stepwise('infer', bundle, source, tmp_path / 'out.jsonl', *TWO)
  assert done.returncode == 0, done.stderr
  assert joined(tmp_path, 'out-*') == here.read_text()
  numbers = []
  for predictions, flags in ((here, []), (pattern, TWO)):
    out = tmp_path / 'report.json'
    done = stepwise(
      *('evaluate', predictions, source, 'lead:2', '--save-json', out), *flags
    )
    assert done.returncode == 0, done.stderr
    numbers.append(out.read_text().replace(str(predictions), 'P'))
  reports = [json.loads(text)['systems'] for text in numbers]
  assert reports[0] == reports[1]


def test_a_worker_of_a_cluster_is_killed(source, oracles, log, tmp_path):
  with distributed.LocalCluster(
    n_workers=2, threads_per_worker=1, dashboard_address=None
  ) as cluster:
    address = f'--dask_client_address={cluster.scheduler_address}'
    options = make_options('DaskRunner', [address])
    result = []
    job = threading.Thread(
      target=lambda: result.append(
        run_job(
          str(source),
          str(tmp_path / 'out.jsonl'),
          ReadParts() | SlowOracles(log),
          options,
          made_by={},
          part_size=3,
        )
      )
    )
    job.start()
    wait_for(lambda: len({process for _, process in notes(log)}) == 2)
    wait_for(lambda: len(notes(log)) >= 8)
    before = notes(log)
    victim = before[-1][1]
    os.kill(victim, signal.SIGKILL)
    job.join(timeout=300)
  [report] = result
  assert joined(tmp_path, 'out-*') == oracles
  after = notes(log)[len(before) :]
  # It was killed in the middle, and others went on without what was finished.
  assert after and victim not in [process for _, process in after]
  made = [part for part, _ in notes(log)]
  assert len(report.outputs) == len(set(made)) == 40
  assert len(made) - len(set(made)) <= 2


def test_every_worker_loads_a_model_once(source, log, tmp_path):
  with distributed.LocalCluster(
    n_workers=2, threads_per_worker=2, dashboard_address=None
  ) as cluster:
    address = f'--dask_client_address={cluster.scheduler_address}'
    report = run_job(
      str(source),
      str(tmp_path / 'out.jsonl'),
      ReadParts() | Summarize(partial(load_noted, str(log))),
      make_options('DaskRunner', [address]),
      made_by={},
      part_size=3,
    )
  assert len(report.outputs) == 40
  processes = [process for _, process in notes(log)]
  assert len(processes) == len(set(processes)) == 2


def test_a_killed_job_is_finished_by_the_same_command(
  source, oracles, tmp_path
):
  target = tmp_path / 'out.jsonl'
  command = ['oracle', source, target, '--runner', 'DirectRunner', '--part', 2]
  process = subprocess.Popen([*STEPWISE, *map(str, command)])
  parts = tmp_path / 'out.jsonl.parts'
  wait_for(lambda: len(list(parts.glob('00*.json'))) >= 5)
  process.kill()
  process.wait()
  assert not list(tmp_path.glob('out-*'))
  again = stepwise(*command)
  assert again.returncode == 1, again.stderr
  assert ' kept' in again.stdout
  assert joined(tmp_path, 'out-*') == oracles


def test_the_protocol_of_portable_runners(source, oracles, tmp_path):
  """Beam's job service in Python speaks what Flink's and Spark's speak."""
  with socket.socket() as free:
    free.bind(('localhost', 0))
    port = free.getsockname()[1]
  service = 'apache_beam.runners.portability.local_job_service_main'
  server = subprocess.Popen([sys.executable, '-m', service, '-p', str(port)])
  try:
    wait_for(lambda: _answers(port))
    done = stepwise(
      *('oracle', source, tmp_path / 'out.jsonl', '--part', 16),
      *('--runner', 'PortableRunner', '--'),
      *(f'--job_endpoint=localhost:{port}', '--environment_type=LOOPBACK'),
    )
  finally:
    server.kill()
    server.wait()
  assert done.returncode == 1, done.stderr
  assert joined(tmp_path, 'out-*') == oracles


def _answers(port):
  with socket.socket() as client:
    return client.connect_ex(('localhost', port)) == 0
