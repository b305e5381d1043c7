"""Files and folders are whole or as they were; locks; the cache folder."""

import json
import os
import subprocess
import sys

import pytest

from stepwise import _files
from stepwise._errors import InputError


def names(folder):
  return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
  path = tmp_path / 'ein Böses.gz'
  path.write_text('before')
  with pytest.raises(ZeroDivisionError), _files.replacing(path) as beside:
    assert beside.suffix == path.suffix
    beside.write_text('half')
    assert path.read_text() == 'before'
    raise ZeroDivisionError
  assert path.read_text() == 'before'
  assert names(tmp_path) == [path.name]
  with _files.replacing(path) as beside:
    beside.write_text('after')
  assert path.read_text() == 'after'
  assert names(tmp_path) == [path.name]


def test_text_has_plain_line_ends_and_json_can_be_read(tmp_path):
  path = tmp_path / 'a'
  _files.write_text(path, 'ü\n≈\n')
  assert path.read_bytes() == 'ü\n≈\n'.encode()
  content = {'a': [1, None], 'ü': '≈'}
  _files.write_json(path, content)
  assert json.loads(path.read_text()) == content
  assert path.read_text().endswith('}\n')


def test_what_cannot_be_written_is_a_users_mistake(tmp_path):
  with pytest.raises(InputError, match=r'b: no such folder: .*absent'):
    _files.write_text(tmp_path / 'absent' / 'b', 'x')
  (tmp_path / 'folder').mkdir()
  with pytest.raises(InputError, match=r'folder cannot be written: '):
    _files.write_text(tmp_path / 'folder', 'x')
  assert names(tmp_path) == ['folder']


@pytest.fixture
def folder(tmp_path):
  folder = tmp_path / 'folder'
  folder.mkdir()
  (folder / 'before').touch()
  return folder


def test_a_folder_takes_the_place_of_another(folder):
  with _files.replacing_folder(folder) as new:
    (new / 'after').touch()
    assert names(folder) == ['before']
  assert names(folder) == ['after']
  assert names(folder.parent) == ['folder']


def test_a_failure_leaves_the_folder(folder):
  with (
    pytest.raises(ZeroDivisionError),
    _files.replacing_folder(folder) as new,
  ):
    (new / 'after').touch()
    raise ZeroDivisionError
  assert names(folder) == ['before']
  assert names(folder.parent) == ['folder']


def test_a_failed_rename_puts_the_folder_back(folder, monkeypatch):
  replace = os.replace

  def fail_on_new(source, target):
    if source.name == 'new':
      raise OSError('no')
    replace(source, target)

  monkeypatch.setattr(os, 'replace', fail_on_new)
  with (
    pytest.raises(OSError, match='no'),
    _files.replacing_folder(folder) as new,
  ):
    (new / 'after').touch()
  assert names(folder) == ['before']


def test_one_process_at_a_time_holds_a_lock(tmp_path):
  path = tmp_path / 'out'
  code = (
    'import sys, pathlib, time; from stepwise._files import locked\n'
    'with locked(pathlib.Path(sys.argv[1])):\n'
    "  print('held', flush=True); time.sleep(600)"
  )
  other = subprocess.Popen(
    [sys.executable, '-c', code, str(path)], stdout=subprocess.PIPE
  )
  try:
    assert other.stdout is not None
    assert other.stdout.readline() == b'held\n'
    with (
      pytest.raises(InputError, match=r'Another run is writing .*out; wait'),
      _files.locked(path),
    ):
      pass
  finally:
    other.kill()
    other.communicate()
  # However it ended, the lock is free.
  with _files.locked(path):
    with pytest.raises(InputError, match='Another run'), _files.locked(path):
      pass
    assert names(tmp_path) == ['out.lock']
  assert names(tmp_path) == []


def test_the_cache_is_where_the_variable_says(tmp_path, monkeypatch):
  monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
  monkeypatch.setenv('STEPWISE_CACHE', 'off')
  assert _files.cache_folder('xla') is None
  monkeypatch.setenv('STEPWISE_CACHE', str(tmp_path / 'own'))
  assert _files.cache_folder('xla') == tmp_path / 'own'
  monkeypatch.delenv('STEPWISE_CACHE')
  assert _files.cache_folder('xla') == tmp_path / 'stepwise' / 'xla'
