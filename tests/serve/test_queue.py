"""Jobs of a kind are done together, each once, none lost."""

import asyncio
import threading
from concurrent.futures import CancelledError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwise.serve._queue import Batcher, Busy, Job, Room, next_batch


def double(contents):
  return [2 * content for content in contents]


jobs = st.builds(
  Job, st.sampled_from('ab'), st.integers(0, 20), st.none(), st.just(double)
)


@given(st.lists(jobs, min_size=1), st.integers(1, 5))
def test_a_batch_is_the_oldest_job_and_those_most_like_it(waiting, most):
  batch = next_batch(waiting, most)
  oldest, *others = batch
  assert oldest is waiting[0]
  alike = [job for job in waiting[1:] if job.kind == oldest.kind]
  assert len(others) == min(most - 1, len(alike))
  assert all(any(job is each for each in alike) for job in others)
  left = [job for job in alike if all(job is not each for each in others)]

  def distance(job):
    return abs(job.size - oldest.size)

  assert max(map(distance, others), default=0) <= min(
    map(distance, left), default=20
  )


@pytest.fixture
def batcher():
  sizes = []
  made = Batcher(3, sizes.append)
  made.sizes = sizes
  made.start()
  yield made
  made.close()


class Gate:
  """Work that waits until it is let go."""

  def __init__(self):
    self.begun, self.open = threading.Event(), threading.Event()

  def __call__(self, contents):
    self.begun.set()
    assert self.open.wait(60)
    return list(contents)


def test_what_waits_is_done_together(batcher):
  gate = Gate()
  first = batcher.submit(Job('gate', 0, 'x', gate))
  gate.begun.wait(60)
  found = [batcher.submit(Job('d', 0, value, double)) for value in range(7)]
  assert len(batcher) == 7
  gate.open.set()
  assert first.result(60) == 'x'
  assert [each.result(60) for each in found] == [0, 2, 4, 6, 8, 10, 12]
  assert batcher.sizes == [1, 3, 3, 1]


def test_what_nobody_waits_for_is_not_done():
  cancelled, done = [], []
  batcher = Batcher(3, on_cancelled=lambda: cancelled.append(1))
  batcher.start()
  gate = Gate()
  batcher.submit(Job('gate', 0, 'x', gate))
  gate.begun.wait(60)

  def note(contents):
    done.extend(contents)
    return contents

  left, stayed = (batcher.submit(Job('n', 0, each, note)) for each in 'ab')
  assert left.cancel()
  gate.open.set()
  # Closing does what waits.
  batcher.close()
  assert stayed.result(0) == 'b'
  assert done == ['b']
  assert cancelled == [1]
  with pytest.raises(CancelledError):
    left.result(0)


def test_a_failure_is_of_one_alone(batcher):
  def invert(contents):
    return [1 / content for content in contents]

  gate = Gate()
  batcher.submit(Job('gate', 0, 'x', gate))
  gate.begun.wait(60)
  found = [batcher.submit(Job('i', 0, each, invert)) for each in (1, 0, 2)]
  gate.open.set()
  assert (found[0].result(60), found[2].result(60)) == (1, 0.5)
  with pytest.raises(ZeroDivisionError):
    found[1].result(60)


def test_a_result_that_is_an_error_is_raised(batcher):
  found = batcher.submit(Job('e', 0, None, lambda contents: [KeyError('a')]))
  with pytest.raises(KeyError, match='a'):
    found.result(60)


def test_room_is_refused_or_waited_for():
  async def run():
    room = Room(1)
    async with room.place():
      assert room.taken == 1
      with pytest.raises(Busy):
        async with room.place():
          pass
      waiting = asyncio.create_task(_take(room))
      await asyncio.sleep(0)
      assert not waiting.done()
    await waiting
    assert room.taken == 0

  asyncio.run(run())


async def _take(room):
  async with room.place(wait=True):
    pass
