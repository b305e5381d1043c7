"""Jobs need extras: the core does without them, and a missing one is named."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import stepwise
from stepwise import _extras
from stepwise._errors import InputError
from stepwise.evaluation import bleu, content_ordering, plot_lengths
from stepwise.tables import read_sheets

ROOT = Path(stepwise.__file__).parent.parent


@pytest.fixture
def without(monkeypatch):
  """Makes libraries impossible to import."""

  def block(*names):
    for name in [*sys.modules]:
      if name.partition('.')[0] in names:
        monkeypatch.delitem(sys.modules, name)
    for name in names:
      monkeypatch.setitem(sys.modules, name, None)

  return block


@pytest.mark.parametrize(
  ('library', 'extra', 'call'),
  [
    ('rapidfuzz', 'metrics', lambda: content_ordering([['a']], [['a']])),
    ('sacrebleu', 'metrics', lambda: bleu(['a'], ['a'])),
    ('matplotlib', 'plots', lambda: plot_lengths({}, 'absent.png')),
    ('pyarrow', 'tables', lambda: read_sheets('absent.parquet')),
  ],
)
def test_a_missing_library_is_named(library, extra, call, without):
  without(library)
  advice = rf"needs {library}: pip install 'stepwise\[{extra}\]'\.$"
  with pytest.raises(InputError, match=advice):
    call()


@pytest.mark.parametrize(
  ('library', 'extra', 'call'),
  [
    ('apache_beam', 'beam', lambda: importlib.import_module('stepwise.beam')),
    ('distributed', 'dask', lambda: _dask_options()),
  ],
)
def test_a_missing_engine_is_named(library, extra, call, without, monkeypatch):
  without(library)
  if extra == 'beam':
    for name in [*sys.modules]:
      if name.startswith('stepwise.beam'):
        monkeypatch.delitem(sys.modules, name)
  advice = rf"needs {library}: pip install 'stepwise\[{extra}\]'\.$"
  with pytest.raises(InputError, match=advice):
    call()


def _dask_options():
  from stepwise.beam import make_options

  return make_options('DaskRunner')


def test_other_failures_are_not_hidden():
  with (
    pytest.raises(ModuleNotFoundError, match='absent_library'),
    _extras.needs('files', 'a job'),
  ):
    import absent_library  # noqa: F401  # pyright: ignore


def test_the_core_does_without_extras(tmp_path):
  """In a process that has none of them, where training says what it lacks."""
  (tmp_path / 'a.txt').write_text('It rained. We stayed in.')
  (tmp_path / 'records.jsonl').touch()
  blocked = {name for names in _extras.EXTRAS.values() for name in names}
  # What flax and jax themselves bring.
  blocked -= {'optax', 'orbax', 'scipy'}
  code = f"""
import sys
for name in {sorted(blocked)}:
  sys.modules[name] = None
import stepwise.layers, stepwise.models, stepwise.checkpoints, stepwise.planning
from stepwise.cli.main import main
for arguments in (['summarize', 'a.txt', '-n', '1'],
                  ['train', 'records.jsonl', '--output', 'run']):
  sys.argv = ['stepwise', *arguments]
  try:
    main()
  except SystemExit as ended:
    print(ended.code)
"""
  done = subprocess.run(
    [sys.executable, '-c', code], capture_output=True, text=True, cwd=tmp_path
  )
  assert done.stdout.split('\n')[1:] == ['0', '2', ''], done.stderr
  last = done.stderr.splitlines()[-1]
  assert last.startswith('stepwise: stepwise.training needs ')
  assert last.endswith("pip install 'stepwise[train]'.")


def test_extras_are_those_of_the_package():
  project = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']
  listed = project['optional-dependencies']
  assert set(_extras.EXTRAS) <= set(listed)
  # Tests have no bucket of Google's: a folder stands in for it.
  for extra in set(_extras.EXTRAS) - {'gcs'}:
    assert extra in listed['dev'][0]
