"""Work that waits, and one thread that does it, like with like."""

import asyncio
import contextlib
import threading
from collections.abc import (
  AsyncIterator,
  Callable,
  Hashable,
  Iterator,
  Sequence,
)
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


class Busy(Exception):
  """Too much is waited for already."""


@dataclass(frozen=True, eq=False)
class Job:
  """Something to do.

  Attributes:
    kind: jobs of one kind may be done together.
    size: those of similar size are.
    content: what `work` is given.
    work: a result, or an exception, for every content, in order.
  """

  kind: Hashable
  size: int
  content: Any
  work: Callable[[Sequence[Any]], Sequence[Any]]
  done: Future[Any] = field(default_factory=Future)


def next_batch(waiting: Sequence[Job], most: int) -> list[Job]:
  """The oldest job, so that none starves, and those most like it."""
  oldest = waiting[0]
  alike = [job for job in waiting[1:] if job.kind == oldest.kind]
  alike.sort(key=lambda job: abs(job.size - oldest.size))
  return [oldest, *alike[: most - 1]]


class Batcher:
  """Does jobs in a thread of its own, so that all wait for one model.

  A job whose future is cancelled before its turn is not done at all.
  """

  def __init__(
    self,
    most: int,
    on_batch: Callable[[int], object] = lambda size: None,
    on_cancelled: Callable[[], object] = lambda: None,
  ):
    self._most = most
    self._on_batch, self._on_cancelled = on_batch, on_cancelled
    self._waiting: list[Job] = []
    self._changed = threading.Condition()
    self._closing = False
    self._thread = threading.Thread(target=self._run, name='stepwise-batches')

  def start(self) -> None:
    self._thread.start()

  def close(self) -> None:
    """Does what still waits, then ends."""
    with self._changed:
      self._closing = True
      self._changed.notify()
    self._thread.join()

  def __len__(self) -> int:
    """Jobs that wait."""
    return len(self._waiting)

  def submit(self, job: Job) -> Future[Any]:
    with self._changed:
      self._waiting.append(job)
      self._changed.notify()
    return job.done

  def _run(self) -> None:
    for batch in self._batches():
      live = [job for job in batch if self._begin(job)]
      if live:
        self._on_batch(len(live))
        _finish(live)

  def _batches(self) -> Iterator[list[Job]]:
    while True:
      with self._changed:
        self._changed.wait_for(lambda: self._waiting or self._closing)
        if not self._waiting:
          return
        batch = next_batch(self._waiting, self._most)
        self._waiting = [job for job in self._waiting if job not in batch]
      yield batch

  def _begin(self, job: Job) -> bool:
    if job.done.set_running_or_notify_cancel():
      return True
    self._on_cancelled()
    return False


def _finish(jobs: Sequence[Job]) -> None:
  """A failure of one is not that of the others: they are done one by one."""
  try:
    results = jobs[0].work([job.content for job in jobs])
  except Exception as error:
    if len(jobs) == 1:
      jobs[0].done.set_exception(error)
      return
    for job in jobs:
      _finish([job])
    return
  for job, result in zip(jobs, results, strict=True):
    if isinstance(result, Exception):
      job.done.set_exception(result)
    else:
      job.done.set_result(result)


class Room:
  """Places for what is waited for; there are only so many."""

  def __init__(self, places: int):
    self.places = places
    self._free = asyncio.Semaphore(places)
    self.taken = 0

  def check(self) -> None:
    """`Busy` if there is no place."""
    if self._free.locked():
      raise Busy

  @contextlib.asynccontextmanager
  async def place(self, *, wait: bool = False) -> AsyncIterator[None]:
    """A place, or `Busy` if there is none and nobody wants to wait."""
    if not wait:
      self.check()
    async with self._free:
      self.taken += 1
      try:
        yield
      finally:
        self.taken -= 1
