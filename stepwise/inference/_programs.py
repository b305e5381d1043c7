"""Compiled programs that outlive the process.

JAX keeps what the compiler made, but a new process still traces and lowers the
model to find it: half of the time of one summary. Here the key is what the
program is made from (settings, shapes, the code itself), so a process that
finds its program does neither. A program that came out of JAX's own cache
cannot be written again on CPUs, so these are kept here only.
"""

import contextlib
import dataclasses
import functools
import hashlib
import logging
import os
import pickle
import platform
import time
import zlib
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.experimental import serialize_executable

import stepwise
from stepwise import _runtime
from stepwise._files import replacing

_LOG = logging.getLogger(__name__)
# What reads a batch and searches; changes elsewhere keep programs.
_CODE = ('decoding', 'inference', 'layers', 'models')
_SUFFIX = '.program'
_OLD_SECONDS = 30 * 24 * 3600


@dataclasses.dataclass(frozen=True, eq=False)
class KeptProgram:
  """A function of a static first argument, compiled once for each shape.

  The static argument is a tree of frozen dataclasses and tuples whose `repr`
  says all of it.
  """

  function: Callable[..., Any]

  def __call__(self, static: Any, *arrays: Any) -> Any:
    """Calls it for one device."""
    if _is_debugging() or _is_traced(arrays):
      return self.jitted(static, *arrays)
    leaves, structure = jax.tree.flatten(arrays)
    shapes = tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves)
    return self._compiled(static, structure, shapes, arrays)(*arrays)

  @functools.cached_property
  def jitted(self) -> Any:
    return jax.jit(self.function, static_argnums=0)

  @functools.cached_property
  def _held(self) -> dict[Any, jax.stages.Compiled]:
    return {}

  def _compiled(
    self, static: Any, structure: Any, shapes: Any, arrays: Any
  ) -> jax.stages.Compiled:
    key = static, structure, shapes, _setting('jax_enable_x64')
    if key not in self._held:
      name = f'{self.function.__module__}.{self.function.__qualname__}'
      path = _path(f'{name} {key!r}')
      found = _load(path) if path else None
      if found is None:
        found = self._compile(path, static, arrays)
      self._held[key] = found
    return self._held[key]

  def _compile(
    self, path: Path | None, static: Any, arrays: Any
  ) -> jax.stages.Compiled:
    if path is None:
      return self.jitted.lower(static, *arrays).compile()

    def function(*args: Any) -> Any:
      return self.function(*args)

    # A name of its own, so that JAX's cache holds none that is equal.
    function.__name__ = f'{self.function.__name__}_{path.stem[-8:]}'
    lowered = jax.jit(function, static_argnums=0).lower(static, *arrays)
    with _kept_by_nobody():
      compiled = lowered.compile()
    _save(path, compiled)
    return compiled


@contextlib.contextmanager
def _kept_by_nobody() -> Iterator[None]:
  setting = 'jax_persistent_cache_min_compile_time_secs'
  before = getattr(jax.config, setting)
  jax.config.update(setting, float('inf'))
  try:
    yield
  finally:
    jax.config.update(setting, before)


def _is_debugging() -> bool:
  """Only JAX's own call knows of these settings."""
  return _setting('jax_debug_nans') or _setting('jax_disable_jit')


def _setting(name: str) -> Any:
  return getattr(jax.config, name)


def _is_traced(arrays: Any) -> bool:
  leaves = jax.tree.leaves(arrays)
  return any(isinstance(leaf, Tracer) for leaf in leaves)


def _path(told: str) -> Path | None:
  folder = _runtime.use_compilation_cache()
  if folder is None or '://' in str(folder):
    return None
  key = hashlib.sha256(told.encode()).hexdigest()[:32]
  return folder / f'{_origin()}-{key}{_SUFFIX}'


def _device() -> Any:
  """Where arrays are that nobody has placed."""
  (device,) = jnp.zeros(()).devices()
  return device


@functools.cache
def _origin() -> str:
  """A hash of all that makes a program besides its settings and shapes."""
  device = _device()
  told: list[Any] = [
    *(metadata.version(name) for name in ('jax', 'jaxlib', 'flax')),
    *(device.platform, device.device_kind, device.client.platform_version),
    *(jax.device_count(), _processor() if device.platform == 'cpu' else ''),
    *(os.environ.get(name) for name in ('XLA_FLAGS', 'LIBTPU_INIT_ARGS')),
    _setting('jax_default_matmul_precision'),
  ]
  digest = hashlib.sha256(repr(told).encode())
  package = Path(stepwise.__file__).parent
  for name in _CODE:
    for source in sorted((package / name).rglob('*.py')):
      digest.update(source.read_bytes())
  return digest.hexdigest()[:16]


def _processor() -> str:
  """What the processor can do: the code of a program is made for it."""
  try:
    text = Path('/proc/cpuinfo').read_text(encoding='utf-8')
  except OSError:
    return f'{platform.machine()} {platform.processor()}'
  told = ('model name', 'flags', 'Features')
  return next(
    '\n'.join(line for line in part.splitlines() if line.startswith(told))
    for part in text.split('\n\n')
  )


def _load(path: Path) -> jax.stages.Compiled | None:
  """The program; None if there is none, or none that this JAX takes."""
  if not path.exists() or not _is_own(path):
    return None
  try:
    stored = pickle.loads(zlib.decompress(path.read_bytes()))
    return serialize_executable.deserialize_and_load(
      *stored, execution_devices=[_device()]
    )
  except Exception as error:  # Whatever it is, compiling again mends it.
    _LOG.info('%s is not used: %s', path.name, error)
    return None


def _is_own(path: Path) -> bool:
  """A program is code: that of another user is not run."""
  return not hasattr(os, 'getuid') or path.stat().st_uid == os.getuid()


def _save(path: Path, program: jax.stages.Compiled) -> None:
  """Keeps a program, and forgets those of other code that are old."""
  try:
    stored = pickle.dumps(serialize_executable.serialize(program))
    with replacing(path) as target:
      target.write_bytes(zlib.compress(stored, level=1))
    _forget(path)
  except Exception as error:  # A cache only saves time.
    _LOG.info('%s is not kept: %s', path.name, error)


def _forget(path: Path) -> None:
  origin = path.name.partition('-')[0]
  for other in path.parent.glob(f'*{_SUFFIX}'):
    age = time.time() - other.stat().st_mtime
    if not other.name.startswith(origin) and age > _OLD_SECONDS:
      other.unlink(missing_ok=True)
