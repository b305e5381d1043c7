"""Files of any file system that Beam knows: local, gs://, s3://, hdfs://."""

import functools
import json
import shutil
import tempfile
import uuid
import weakref
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems

from stepwise._errors import InputError

# Small files of a far system are asked for at the same time.
_THREADS = 16


@dataclass(frozen=True)
class FoundFile:
  """A file, and what tells it from one of the same name."""

  path: str
  size: int
  changed: float


def is_local(path: str) -> bool:
  return '://' not in path


def absolute(path: str) -> str:
  """Workers may be in other folders; a slash at the end stays."""
  if not is_local(path):
    return path
  return f'{Path(path).absolute()}{"/" * path.endswith("/")}'


def find_files(pattern: str) -> list[FoundFile]:
  """All files of a path with or without wildcards, in the order of names."""
  try:
    [found] = FileSystems.match([pattern])
  except (BeamIOError, ValueError) as error:
    raise InputError(f'{pattern} cannot be read: {error}.') from error
  return sorted(
    (
      FoundFile(
        each.path, each.size_in_bytes, each.last_updated_in_seconds or 0.0
      )
      for each in found.metadata_list
    ),
    key=lambda file: file.path,
  )


def open_bytes(path: str) -> BinaryIO:
  """What the file holds, as it is: nothing is decompressed."""
  stream = FileSystems.open(
    path, compression_type=CompressionTypes.UNCOMPRESSED
  )
  return cast(BinaryIO, stream)


def write_whole(path: str, data: bytes) -> None:
  """A file that is whole or not there: written beside and renamed.

  Whoever wrote the same before, such as a worker that was taken for dead, is
  replaced.
  """
  beside = f'{_folder(path)}/.{uuid.uuid4().hex}.{_name(path)}'
  with FileSystems.create(
    beside, compression_type=CompressionTypes.UNCOMPRESSED
  ) as stream:
    stream.write(data)
  FileSystems.rename([beside], [path])


def write_json(path: str, content: Any) -> None:
  write_whole(path, json.dumps(content, ensure_ascii=False).encode())


def read_json(path: str) -> Any:
  with open_bytes(path) as stream:
    return json.loads(stream.read())


def read_all_json(paths: Iterable[str]) -> list[Any]:
  with ThreadPoolExecutor(_THREADS) as pool:
    return list(pool.map(read_json, paths))


def rename_all(old: list[str], new: list[str]) -> None:
  """Renames files of one folder; those that are gone have their new names."""
  if not old:
    return
  there = {_name(file.path) for file in find_files(f'{_folder(old[0])}/*')}
  pairs = [
    pair for pair in zip(old, new, strict=True) if _name(pair[0]) in there
  ]
  if pairs:
    FileSystems.rename(*map(list, zip(*pairs, strict=True)))


def delete_folder(path: str) -> None:
  if is_local(path):
    shutil.rmtree(path, ignore_errors=True)
  elif found := find_files(f'{path}/**'):
    FileSystems.delete([file.path for file in found])


class LocalCopy:
  """A file or a folder of this machine; a copy is deleted with the object."""

  def __init__(self, path: str, *, folder: bool = False):
    if is_local(path):
      self.path = Path(path)
      return
    scratch = tempfile.mkdtemp(prefix='stepwise-')
    weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
    self.path = Path(scratch) / _name(path.rstrip('/'))
    if folder:
      self._copy_folder(path.rstrip('/'))
    else:
      _copy(path, self.path)

  def _copy_folder(self, path: str) -> None:
    found = find_files(f'{path}/**')
    if not found:
      raise InputError(f'{path}: no such folder.')
    for file in found:
      _copy(file.path, self.path / file.path.removeprefix(f'{path}/'))


@functools.lru_cache(maxsize=1)
def local_copy(path: str) -> LocalCopy:
  """The last file asked for is kept: parts of a file follow one another."""
  return LocalCopy(path)


def _copy(path: str, target: Path) -> None:
  target.parent.mkdir(parents=True, exist_ok=True)
  with open_bytes(path) as stream, target.open('wb') as copy:
    shutil.copyfileobj(stream, copy)


def _folder(path: str) -> str:
  return path.rpartition('/')[0] or '.'


def _name(path: str) -> str:
  return path.rpartition('/')[2]
