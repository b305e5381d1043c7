"""What users install: the wheel, outside of the checkout."""

import email
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import stepwise

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def wheel(tmp_path_factory) -> Path:
  folder = tmp_path_factory.mktemp('wheel')
  subprocess.run(
    [sys.executable, '-m', 'pip', 'wheel', '--no-deps', '-w', folder, ROOT],
    capture_output=True,
    check=True,
  )
  (path,) = folder.glob('stepwise-*.whl')
  return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
  names = zipfile.ZipFile(wheel).namelist()
  tops = {name.partition('/')[0] for name in names}
  assert {top for top in tops if not top.endswith('.dist-info')} == {'stepwise'}
  for needed in (
    'stepwise/py.typed',
    'stepwise/_rouge/irregular_forms.txt',
    'stepwise/data/vocab/bert_uncased.txt',
    'stepwise/data/vocab/reports.txt',
    'stepwise/pages/shell.html',
    'stepwise/pages/steps.css',
    'stepwise/pages/steps.html',
    'stepwise/pages/steps.js',
    'stepwise/run_files/gin/cnn_dailymail/stepwise_etcsum.gin',
    'stepwise/run_files/gin/t5x/runs/train.gin',
    'stepwise/run_files/requirements-t5x.txt',
    'stepwise/summarization/samples/harbour.txt',
  ):
    assert needed in names
  # The weights of the default model too.
  sources = {
    str(path.relative_to(ROOT))
    for pattern in ('*.py', '*.safetensors', 'config.json')
    for path in (ROOT / 'stepwise').rglob(pattern)
  }
  assert sources <= set(names)


@pytest.fixture(scope='module')
def run(wheel, tmp_path_factory):
  """Runs Python with the unpacked wheel in place of the checkout."""
  site = tmp_path_factory.mktemp('site')
  zipfile.ZipFile(wheel).extractall(site)

  def python(*arguments):
    return subprocess.run(
      [sys.executable, *arguments],
      cwd=site,
      env={**os.environ, 'PYTHONPATH': str(site)},
      capture_output=True,
      text=True,
    )

  return python


def test_installed_files_are_those_of_the_wheel(run):
  done = run('-c', 'import stepwise; print(stepwise.__file__)')
  assert not Path(done.stdout.strip()).is_relative_to(ROOT)


@pytest.mark.parametrize(
  'package', ['layers', 'decoding', 'models', 'data', 'inference', 'evaluation']
)
def test_packages_import(package, run):
  done = run('-c', f'import stepwise.{package}')
  assert done.returncode == 0, done.stderr


def test_the_vocabulary_is_found(run):
  code = 'from stepwise.data import wordpiece; wordpiece()'
  assert run('-c', code).returncode == 0


def test_run_files_are_found(run):
  """`stepwise gin` names those of the wheel, and a run is read from them."""
  done = run('-m', 'stepwise.cli.main', 'gin')
  folder = Path(done.stdout.strip())
  assert folder.parent.name == 'run_files'
  assert not folder.is_relative_to(ROOT)
  names = {path.relative_to(folder) for path in folder.rglob('*.gin')}
  kept = {path.relative_to(ROOT / 'gin') for path in ROOT.glob('gin/**/*.gin')}
  assert names == kept
  code = (
    'from pathlib import Path; from stepwise.training import *;'
    'files = ["TRAIN=a", "VALIDATION=b", "DOCUMENTS=c"];'
    f'path = Path({str(folder)!r}) / "cnn_dailymail" / "stepwise_etcsum.gin";'
    'print(load_gin(TrainConfig, [path], files).model.name)'
  )
  assert run('-c', code).stdout == 'etcsum_base\n'


def build(kind, folder, source):
  """A `wheel` or an `sdist` of a tree, by the backend itself."""
  code = f'from hatchling.build import build_{kind} as b; b({str(folder)!r})'
  subprocess.run(
    [sys.executable, '-c', code], cwd=source, capture_output=True, check=True
  )


def test_the_source_archive_builds_the_same_wheel(tmp_path, wheel):
  build('sdist', tmp_path, ROOT)
  (archive,) = tmp_path.glob('stepwise-*.tar.gz')
  with tarfile.open(archive) as files:
    files.extractall(tmp_path / 'source', filter='data')
  (source,) = (tmp_path / 'source').iterdir()
  build('wheel', tmp_path, source)
  (again,) = tmp_path.glob('stepwise-*.whl')
  assert contents(again) == contents(wheel)


def contents(wheel):
  """Checksums of all files."""
  return {file.filename: file.CRC for file in zipfile.ZipFile(wheel).infolist()}


def test_the_wheel_is_small_enough_to_download(wheel):
  assert wheel.stat().st_size < 90e6
  assert not [n for n in zipfile.ZipFile(wheel).namelist() if 'testdata' in n]


def test_metadata_says_what_it_is(wheel):
  archive = zipfile.ZipFile(wheel)
  (name,) = [n for n in archive.namelist() if n.endswith('/METADATA')]
  metadata = email.message_from_bytes(archive.read(name))
  assert metadata['Version'] == stepwise.__version__
  assert metadata['License-Expression'] == 'Apache-2.0'
  assert 'Typing :: Typed' in metadata.get_all('Classifier')
  assert metadata.get_all('Project-URL')
  assert 'stepwise demo' in metadata.get_payload()
  citation = (ROOT / 'CITATION.cff').read_text(encoding='utf-8')
  assert f'\nversion: {stepwise.__version__}\n' in citation


def test_the_command_line_works(run):
  assert run('-m', 'stepwise.cli.main', '--help').returncode == 0
  bench = run('-m', 'stepwise.cli.main', 'bench', 'attention')
  assert bench.returncode == 2
  assert 'no benchmarks folder' in bench.stderr
