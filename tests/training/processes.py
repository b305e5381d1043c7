"""The command line in processes of its own, to be killed."""

import os
import signal
import subprocess
import sys
import time

# One simulated device a process; compiles fast, always to the same code.
ENVIRONMENT = {
  **os.environ,
  'JAX_PLATFORMS': 'cpu',
  'JAX_DISABLE_MOST_OPTIMIZATIONS': '1',
}
# Seconds; a machine that does much else may need more.
PATIENCE = float(os.environ.get('STEPWISE_TEST_PATIENCE', '300'))


def start(*arguments, devices=1):
  return subprocess.Popen(
    [sys.executable, '-m', 'stepwise.cli.main', *map(str, arguments)],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
    env={
      **ENVIRONMENT,
      'XLA_FLAGS': f'--xla_force_host_platform_device_count={devices}',
    },
  )


def run(*arguments):
  """Exit code, output and errors of a process that may end by itself."""
  process = start(*arguments)
  try:
    output, errors = process.communicate(timeout=PATIENCE)
  finally:
    process.kill()  # Nothing, if it has ended.
  return process.returncode, output, errors


def kill_when(process, condition, how=signal.SIGKILL, *, wait=True):
  """Signals a process, the hard way, as soon as something is the case."""
  deadline = time.monotonic() + PATIENCE
  while not condition():
    assert process.poll() is None, process.communicate()
    assert time.monotonic() < deadline, 'it never happened'
    time.sleep(0.01)
  process.send_signal(how)
  if wait:
    process.communicate()
    assert process.returncode == -how
