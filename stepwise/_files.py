"""Opening files by name: compressed or not, and never half written."""

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from stepwise._errors import InputError

COMPRESSED = ('.gz', '.zst')


@contextlib.contextmanager
def open_for_reading(path: Path) -> Iterator[BinaryIO]:
  """Bytes of a file, decompressed if its name ends in `.gz` or `.zst`.

  A file that is missing, damaged or, before anything is read, evidently
  binary is an `InputError`.
  """
  damage = (EOFError, zlib.error, gzip.BadGzipFile, *_zstd_errors(path))
  try:
    with path.open('rb') as raw, _decompress(path, raw) as stream:
      if b'\0' in stream.peek(4096)[:4096]:
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


def _zstandard(path: Path) -> Any:
  try:
    import zstandard
  except ImportError:
    raise InputError(
      f'{path}: a .zst file needs zstandard: pip install zstandard'
    ) from None
  return zstandard


def _zstd_errors(path: Path) -> tuple[type[Exception], ...]:
  return (_zstandard(path).ZstdError,) if path.suffix == '.zst' else ()


@contextlib.contextmanager
def replace_when_done(path: Path) -> Iterator[Any]:
  """A binary file written beside `path` and renamed to it unless writing fails.

  Compressed if the name ends in `.gz` or `.zst`.
  """
  if not path.parent.is_dir():
    raise InputError(f'{path}: no such folder: {path.parent}.')
  partial = path.with_name(f'.{path.name}.{os.getpid()}.partial')
  try:
    with partial.open('wb') as raw, _compress(path, raw) as stream:
      yield stream
    os.replace(partial, path)
  finally:
    partial.unlink(missing_ok=True)


def _compress(path: Path, raw: BinaryIO) -> Any:
  if path.suffix == '.gz':
    # No name and no time inside: equal content gives equal files.
    return gzip.GzipFile(filename='', fileobj=raw, mode='wb', mtime=0)
  if path.suffix == '.zst':
    return _zstandard(path).ZstdCompressor().stream_writer(raw, closefd=False)
  return contextlib.nullcontext(raw)
