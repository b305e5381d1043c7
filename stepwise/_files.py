"""Opening files by name, compressed or not; files that are whole or not there;
locks; the user's cache folder.
"""

import atexit
import contextlib
import gzip
import io
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from stepwise._errors import InputError
from stepwise._extras import needs

COMPRESSED = ('.gz', '.zst')
# A folder for what may be made again, or `off`.
CACHE_VARIABLE = 'STEPWISE_CACHE'
_MAGIC = {'.gz': b'\x1f\x8b', '.zst': b'\x28\xb5\x2f\xfd'}
# A document, or a line of many, has at most so many bytes when decompressed:
# a small file can hold more than any memory.
MAX_BYTES = 64 * 2**20


def check_size(name: str | os.PathLike[str], size: int) -> None:
  """What is too large for one document is an `InputError`."""
  if size > MAX_BYTES:
    raise InputError(
      f'{os.fspath(name)} is too large: a document may have {MAX_BYTES >> 20} '
      'MB, decompressed.'
    )


@runtime_checkable
class ByteStream(Protocol):
  """What documents are read from: a file, standard input, a web answer."""

  def read(self, size: int = -1, /) -> bytes: ...

  def readline(self, size: int = -1, /) -> bytes: ...


def read_limited(stream: ByteStream, name: str | os.PathLike[str]) -> bytes:
  """All that is left of a stream, if a document may be as large."""
  data = stream.read(MAX_BYTES + 1)
  check_size(name, len(data))
  return data


@contextlib.contextmanager
def open_for_reading(path: Path, *, binary: bool = False) -> Iterator[BinaryIO]:
  """Bytes of a file, decompressed if its name ends in `.gz` or `.zst`.

  A file that is missing, damaged or, before anything is read, evidently
  binary is an `InputError`; `binary` files may be so.
  """
  damage = (EOFError, zlib.error, gzip.BadGzipFile, *_zstd_errors(path))
  try:
    with path.open('rb') as raw, _decompress(path, raw) as stream:
      if not binary and b'\0' in stream.peek(4096)[:4096]:
        raise InputError(f'{path}: binary file; UTF-8 text is needed.')
      yield stream
  except FileNotFoundError:
    raise InputError(f'{path}: no such file.') from None
  except (IsADirectoryError, PermissionError) as error:
    raise InputError(f'{path}: {error.strerror}.') from error
  except damage as error:
    raise InputError(f'{path}: damaged {path.suffix} file: {error}.') from error


def _decompress(path: Path, raw: BinaryIO) -> io.BufferedReader:
  if path.suffix == '.gz':
    return io.BufferedReader(gzip.GzipFile(fileobj=raw))  # pyright: ignore
  if path.suffix == '.zst':
    reader = _zstandard(path).ZstdDecompressor()
    stream = reader.stream_reader(raw, read_across_frames=True)
    return io.BufferedReader(stream)
  return io.BufferedReader(raw)  # pyright: ignore


@contextlib.contextmanager
def decompress_stream(raw: ByteStream, name: str) -> Iterator[ByteStream]:
  """Bytes of a stream, decompressed if it begins as such a file does."""
  stream: Any = io.BufferedReader(raw)  # pyright: ignore
  head = stream.peek(4)[:4]
  form = next((f for f, mark in _MAGIC.items() if head.startswith(mark)), '')
  path = Path(f'{name}{form}')
  damage = (EOFError, zlib.error, gzip.BadGzipFile, *_zstd_errors(path))
  try:
    yield _decompress(path, stream)
  except damage as error:
    raise InputError(f'damaged {form} data: {error}.') from error
  finally:
    stream.detach()


def _zstandard(path: Path) -> Any:
  with needs('files', f'{path}: a .zst file'):
    import zstandard
  return zstandard


def _zstd_errors(path: Path) -> tuple[type[Exception], ...]:
  return (_zstandard(path).ZstdError,) if path.suffix == '.zst' else ()


def check_parent(path: Path) -> None:
  """Complains about a missing folder before the work, not after it."""
  if not path.absolute().parent.is_dir():
    raise InputError(f'{path}: no such folder: {path.parent}.')


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
  """A path beside `path` to write to; it takes its place unless writing fails.

  It has the same suffix, for writers that look at it.
  """
  check_parent(path)
  beside = path.with_name(f'.{os.getpid()}.partial.{path.name}')
  try:
    yield beside
    os.replace(beside, path)
  finally:
    beside.unlink(missing_ok=True)


@contextlib.contextmanager
def replace_when_done(path: Path) -> Iterator[Any]:
  """A binary file written beside `path` and renamed to it unless writing fails.

  Compressed if the name ends in `.gz` or `.zst`.
  """
  with (
    replacing(path) as beside,
    beside.open('wb') as raw,
    _compress(path, raw) as stream,
  ):
    yield stream


def _compress(path: Path, raw: BinaryIO | io.BytesIO) -> Any:
  if path.suffix == '.gz':
    # No name and no time inside: equal content gives equal files.
    return gzip.GzipFile(filename='', fileobj=raw, mode='wb', mtime=0)
  if path.suffix == '.zst':
    return _zstandard(path).ZstdCompressor().stream_writer(raw, closefd=False)
  return contextlib.nullcontext(raw)


def compress(name: str, data: bytes) -> bytes:
  """Data as a file of that name holds them: `.gz` and `.zst` are compressed."""
  raw = io.BytesIO()
  with _compress(Path(name), raw) as stream:
    stream.write(data)
  return raw.getvalue()


def write_text(path: Path, text: str) -> None:
  """UTF-8 with plain line ends, wherever it is written."""
  try:
    with replacing(path) as beside:
      beside.write_text(text, encoding='utf-8', newline='\n')
  except OSError as error:
    raise InputError(f'{path} cannot be written: {error.strerror}.') from None


def write_json(path: Path, content: Any) -> None:
  """JSON that people can read."""
  write_text(path, json.dumps(content, indent=2) + '\n')


@contextlib.contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
  """A new folder beside `folder` that takes its place unless writing fails."""
  check_parent(folder)
  folder = folder.absolute()
  scratch = Path(tempfile.mkdtemp(prefix=f'.{folder.name}.', dir=folder.parent))
  try:
    new = scratch / 'new'
    new.mkdir()
    yield new
    _swap(new, folder, scratch / 'old')
  finally:
    shutil.rmtree(scratch, ignore_errors=True)


def _swap(new: Path, folder: Path, old: Path) -> None:
  """Puts `new` in the place of `folder`, which becomes `old`.

  A folder that is not empty cannot be replaced in one step: for a moment there
  is none, but never half of one.
  """
  if not folder.exists():
    os.replace(new, folder)
    return
  os.replace(folder, old)
  try:
    os.replace(new, folder)
  except OSError:
    os.replace(old, folder)
    raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
  """Holds a lock on `path` for this process, until it ends however it ends.

  The lock is a file beside `path`, which is never opened itself: systems that
  lock what is open would keep others from reading it.
  """
  from filelock import FileLock, Timeout

  beside = path.with_name(f'{path.name}.lock')
  lock = FileLock(beside, blocking=False)
  try:
    lock.acquire()
  except Timeout as error:
    raise InputError(
      f'Another run is writing {path}; wait for it or choose another output.'
    ) from error
  try:
    yield
  finally:
    # While it is held: whoever waits for it looks whether it is still there.
    with contextlib.suppress(PermissionError):  # Windows removes it later.
      beside.unlink(missing_ok=True)
    lock.release()


def temporary_folder() -> Path:
  """A folder that is gone when the process ends."""
  folder = Path(tempfile.mkdtemp(prefix='stepwise-'))
  atexit.register(shutil.rmtree, folder, ignore_errors=True)
  return folder


def cache_folder(name: str) -> Path | None:
  """Where to keep what may be made again; None if that is nowhere.

  The user's cache folder or that of the variable `STEPWISE_CACHE`. A cache
  only saves time, so nothing that is wrong with it is an error.
  """
  setting = os.environ.get(CACHE_VARIABLE, '')
  if setting.lower() in ('off', '0'):
    return None
  if setting:
    folder = Path(setting)
  else:
    import platformdirs

    # On Windows, a folder of the author's name would come before ours.
    folder = platformdirs.user_cache_path('stepwise', appauthor=False) / name
  return folder if _writable(folder) else None


def _writable(folder: Path) -> bool:
  try:
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f'.probe-{os.getpid()}'
    probe.touch()
    probe.unlink()
  except OSError:
    return False
  return True
