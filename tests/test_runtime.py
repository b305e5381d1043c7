"""What the process is asked for before models run in it."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stepwise import _runtime

needs_glibc = pytest.mark.skipif(
  sys.platform != 'linux', reason='a setting of glibc'
)


def faults_of_refilling(size: int = 96 * 2**20, pieces: int = 1) -> int:
  """Pages the kernel has to give when large arrays are made a second time."""

  def fill() -> None:
    _ = [np.ones(size, np.uint8) for _ in range(pieces)]

  fill()
  before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
  fill()
  return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.fixture
def clean_environment():
  """Without settings of malloc."""
  return {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(('MALLOC_', 'GLIBC_'))
  }


@needs_glibc
def test_freed_memory_is_used_again(monkeypatch):
  monkeypatch.setattr(_runtime.os, 'environ', {})
  assert _runtime.keep_freed_memory()
  assert faults_of_refilling() < 100


_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from stepwise.cli import main
from tests.test_runtime import faults_of_refilling

def many():
  # Many pieces: a large one alone would come from the first arena.
  with ThreadPoolExecutor(1) as pool:
    return pool.submit(faults_of_refilling, size=2**20, pieces=96).result()

main._run = lambda: print(many())
main.main()
"""


@needs_glibc
def test_threads_of_the_command_line_use_it_again(clean_environment):
  ran = subprocess.run(
    [sys.executable, '-c', _THREADS],
    env=clean_environment,
    cwd=Path(__file__).parents[1],
    capture_output=True,
    text=True,
    check=True,
  )
  assert int(ran.stdout) < 1000


@pytest.mark.parametrize('name', ['MALLOC_ARENA_MAX', 'GLIBC_TUNABLES'])
def test_settings_of_the_user_stay(name, monkeypatch):
  monkeypatch.setenv(name, '1')
  assert not _runtime.keep_freed_memory()
