"""What the process is asked for before models run in it."""

import resource
import sys

import numpy as np
import pytest

from stepwise import _runtime


def faults_of_refilling() -> int:
  """Pages the kernel has to give when a large array is made a second time."""
  size = 96 * 2**20
  np.ones(size, np.uint8)
  before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
  np.ones(size, np.uint8)
  return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != 'linux', reason='a setting of glibc')
def test_freed_memory_is_used_again(monkeypatch):
  monkeypatch.setattr(_runtime.os, 'environ', {})
  assert _runtime.keep_freed_memory()
  assert faults_of_refilling() < 100


@pytest.mark.parametrize('name', ['MALLOC_ARENA_MAX', 'GLIBC_TUNABLES'])
def test_settings_of_the_user_stay(name, monkeypatch):
  monkeypatch.setenv(name, '1')
  assert not _runtime.keep_freed_memory()
