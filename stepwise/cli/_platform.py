"""Which devices JAX should look for."""

import importlib.metadata
import importlib.util
from collections.abc import Iterator, MutableMapping
from pathlib import Path

# Device files of TPU chips, older and newer.
_CHIPS = ('accel*', 'vfio/[0-9]*')


def skip_absent_tpu(
  environment: MutableMapping[str, str], devices: Path = Path('/dev')
) -> None:
  """Keeps JAX from waiting for, and complaining about, a TPU that is not there.

  That is what it does where libtpu is installed for its compiler alone. Other
  accelerators come as plugins of JAX; where there is one, JAX decides.
  """
  if 'JAX_PLATFORMS' in environment or not importlib.util.find_spec('libtpu'):
    return
  if not any(_chips(devices)) and not _plugins():
    environment['JAX_PLATFORMS'] = 'cpu'


def _chips(devices: Path) -> Iterator[Path]:
  for pattern in _CHIPS:
    yield from devices.glob(pattern)


def _plugins() -> importlib.metadata.EntryPoints:
  return importlib.metadata.entry_points(group='jax_plugins')
