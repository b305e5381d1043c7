"""JAX looks for a TPU only where there may be one."""

import importlib.metadata
import importlib.util

import pytest

from stepwise.cli import _platform
from stepwise.cli._platform import skip_absent_tpu


@pytest.fixture
def libtpu(monkeypatch):
  found = importlib.util.find_spec('json')
  monkeypatch.setattr(importlib.util, 'find_spec', lambda name: found)
  monkeypatch.setattr(
    _platform, '_plugins', lambda: importlib.metadata.EntryPoints()
  )


def platforms(tmp_path, **environment):
  skip_absent_tpu(environment, tmp_path)
  return environment.get('JAX_PLATFORMS')


@pytest.mark.usefixtures('libtpu')
def test_libtpu_without_a_chip(tmp_path):
  assert platforms(tmp_path) == 'cpu'
  (tmp_path / 'vfio').mkdir()
  (tmp_path / 'vfio' / 'vfio').touch()  # There without any chip, too.
  assert platforms(tmp_path) == 'cpu'


@pytest.mark.usefixtures('libtpu')
@pytest.mark.parametrize('chip', ['accel0', 'vfio/0'])
def test_a_chip_is_used(tmp_path, chip):
  (tmp_path / chip).parent.mkdir(exist_ok=True)
  (tmp_path / chip).touch()
  assert platforms(tmp_path) is None


@pytest.mark.usefixtures('libtpu')
def test_what_the_user_says_counts(tmp_path):
  assert platforms(tmp_path, JAX_PLATFORMS='tpu') == 'tpu'


@pytest.mark.usefixtures('libtpu')
def test_another_accelerator_is_left_to_jax(tmp_path, monkeypatch):
  plugin = importlib.metadata.EntryPoint('cuda', 'module', 'jax_plugins')
  monkeypatch.setattr(
    _platform, '_plugins', lambda: importlib.metadata.EntryPoints([plugin])
  )
  assert platforms(tmp_path) is None


def test_without_libtpu_nothing_is_said(tmp_path, monkeypatch):
  monkeypatch.setattr(importlib.util, 'find_spec', lambda name: None)
  assert platforms(tmp_path) is None
