"""A signal that asks a run to stop, noticed between two updates."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

import jax
from jax.experimental import multihost_utils


@contextlib.contextmanager
def watch_for_preemption() -> Iterator[Callable[[int], bool]]:
  """Gives `(step) -> whether to save and stop`; to be asked at every step.

  Among several processes JAX's own service listens for SIGTERM and finds a
  step at which all of them stop. A process alone listens by itself.
  """
  if jax.distributed.is_initialized():
    yield multihost_utils.reached_preemption_sync_point
    return
  asked = threading.Event()
  if threading.current_thread() is not threading.main_thread():
    # Only the main thread may listen; others are stopped by their owner.
    yield lambda step: False
    return
  before = signal.signal(signal.SIGTERM, lambda *_: asked.set())
  try:
    yield lambda step: asked.is_set()
  finally:
    signal.signal(signal.SIGTERM, before)
