"""Compiled programs are kept between runs, in the user's cache folder."""

import os
from pathlib import Path

# A folder, or `off`.
VARIABLE = 'STEPWISE_CACHE'
_SETTING = 'jax_compilation_cache_dir'
# Programs that compile faster are not worth a file.
_LEAST_SECONDS = 0.2


def use_compilation_cache() -> Path | None:
  """Lets JAX keep what it compiles; the folder, or None if it cannot.

  A cache only saves time, so nothing that is wrong with its folder is an
  error. Whoever has set up one of JAX keeps it.
  """
  import jax

  present = getattr(jax.config, _SETTING)
  if present is not None:
    return Path(present)
  folder = _folder()
  if folder is None or not _writable(folder):
    return None
  jax.config.update(_SETTING, str(folder))
  jax.config.update(
    'jax_persistent_cache_min_compile_time_secs', _LEAST_SECONDS
  )
  jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)
  return folder


def _folder() -> Path | None:
  setting = os.environ.get(VARIABLE, '')
  if setting.lower() in ('off', '0'):
    return None
  if setting:
    return Path(setting)
  # The XDG specification: relative paths are to be ignored.
  base = os.environ.get('XDG_CACHE_HOME', '')
  try:
    parent = Path(base) if os.path.isabs(base) else Path.home() / '.cache'
  except RuntimeError:  # No home.
    return None
  return parent / 'stepwise' / 'xla'


def _writable(folder: Path) -> bool:
  try:
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f'.probe-{os.getpid()}'
    probe.touch()
    probe.unlink()
  except OSError:
    return False
  return True
