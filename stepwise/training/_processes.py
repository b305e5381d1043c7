"""Several processes of one run: they wait for each other, and fail together."""

from collections.abc import Callable
from typing import TypeVar

import jax
import numpy as np
from jax.experimental import multihost_utils

from stepwise._errors import InputError

Result = TypeVar('Result')

# Bytes of a message that other processes are told.
_MESSAGE = 1000


def wait_for_all(what: str) -> None:
  if jax.process_count() > 1:
    multihost_utils.sync_global_devices(what)


def sum_of_processes(values: np.ndarray) -> np.ndarray:
  """The sum of what the processes have."""
  if jax.process_count() == 1:
    return values
  return multihost_utils.process_allgather(values).sum(axis=0)


def together(function: Callable[[], Result]) -> Result:
  """Runs a function in every process; an `InputError` of one is that of all.

  Otherwise the others would wait for it for ever.
  """
  if jax.process_count() == 1:
    return function()
  found, error = [], ''
  try:
    found.append(function())
  except InputError as mistake:
    error = str(mistake)
  own = np.frombuffer(error.encode()[:_MESSAGE].ljust(_MESSAGE), np.uint8)
  for message in multihost_utils.process_allgather(own):
    if text := bytes(message).decode(errors='replace').strip():
      raise InputError(text)
  return found[0]
