"""What the process is asked for before models run in it.

Both settings are of the whole process: whoever has made one keeps it.
"""

import ctypes
import functools
import os
import sys
from pathlib import Path

from stepwise._files import cache_folder

_SETTING = 'jax_compilation_cache_dir'
# Programs that compile faster are not worth a file.
_LEAST_SECONDS = 0.2
# Of glibc's mallopt: no mapping of its own for a large piece of memory, no
# return of freed memory at the top, one arena for all threads: an arena of a
# thread gives its memory back whatever the other two say.
_MALLOC_OPTIONS = {
  'MMAP_MAX': (-4, 0),
  'TRIM': (-1, -1),
  'ARENAS': (-8, 1),
}


@functools.cache
def prepare() -> None:
  """Keeps compiled programs and freed memory; once in a process."""
  use_compilation_cache()
  keep_freed_memory()


def use_compilation_cache() -> Path | None:
  """Lets JAX keep what it compiles; the folder, or None if it cannot."""
  import jax

  present = getattr(jax.config, _SETTING)
  if present is not None:
    return Path(present)
  folder = cache_folder('xla')
  if folder is None:
    return None
  jax.config.update(_SETTING, str(folder))
  jax.config.update(
    'jax_persistent_cache_min_compile_time_secs', _LEAST_SECONDS
  )
  jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)
  return folder


def keep_freed_memory() -> bool:
  """Lets glibc use freed memory again instead of giving it back.

  A compiled program takes hundreds of megabytes at every call. Fresh from the
  kernel they cost more time than many of the operations that fill them: a
  quarter of an update of the default model. Memory that was needed once stays
  with the process. Threads that have an arena keep it, so the command line
  calls this before it imports anything that starts one. False = it is as it
  was: another C library, or the user has set something of malloc.
  """
  chosen = [name for name in os.environ if name.startswith('MALLOC_')]
  if chosen or 'GLIBC_TUNABLES' in os.environ or sys.platform != 'linux':
    return False
  library = ctypes.CDLL(None)
  if not hasattr(library, 'gnu_get_libc_version'):
    return False
  return all(library.mallopt(*pair) for pair in _MALLOC_OPTIONS.values())
