"""Compiled programs are kept between runs, in the user's cache folder."""

from pathlib import Path

from stepwise._files import cache_folder

_SETTING = 'jax_compilation_cache_dir'
# Programs that compile faster are not worth a file.
_LEAST_SECONDS = 0.2


def use_compilation_cache() -> Path | None:
  """Lets JAX keep what it compiles; the folder, or None if it cannot.

  Whoever has set up one of JAX keeps it.
  """
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
