"""An ordered map over processes that never reads far ahead of its results."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar('Item')
Result = TypeVar('Result')


def available_cores() -> int:
  """Cores this process may use, where the system tells, or else all."""
  if hasattr(os, 'sched_getaffinity'):
    return len(os.sched_getaffinity(0))
  return os.cpu_count() or 1


def map_chunks(
  function: Callable[[list[Item]], list[Result]],
  items: Iterable[Item],
  *,
  processes: int,
  chunk_size: int = 32,
) -> Generator[list[Result], None, None]:
  """Applies `function` to consecutive chunks; yields the results in order.

  With one process everything happens in the caller's. Otherwise `function` and
  the items must pickle; the processes are spawned, so threads and accelerators
  of the caller do not matter, and end when the caller dies, however it dies.
  """
  chunks = _split(items, chunk_size)
  if processes == 1:
    yield from map(function, chunks)
    return
  context = multiprocessing.get_context('spawn')
  pool = ProcessPoolExecutor(processes, context, _die_with_parent)
  try:
    waiting = deque(
      pool.submit(function, chunk) for chunk in islice(chunks, 2 * processes)
    )
    while waiting:
      result = waiting.popleft().result()
      waiting.extend(
        pool.submit(function, chunk) for chunk in islice(chunks, 1)
      )
      yield result
  finally:
    pool.shutdown(cancel_futures=True)


def _split(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
  iterator = iter(items)
  while chunk := list(islice(iterator, size)):
    yield chunk


def _die_with_parent() -> None:
  """Ends this worker with its parent: a killed pool would leave it waiting.

  Ctrl-C reaches the whole group of processes; the parent answers it for all.
  """
  signal.signal(signal.SIGINT, signal.SIG_IGN)
  parent = multiprocessing.parent_process()
  assert parent is not None, 'runs in workers only'

  def wait_and_exit() -> None:
    parent.join()
    os._exit(1)

  threading.Thread(target=wait_and_exit, daemon=True).start()
