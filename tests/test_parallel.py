"""The ordered map keeps order, chunks evenly and reads only a little ahead."""

import itertools
import os

import pytest

from stepwise._parallel import map_chunks


def double(numbers):
  return [2 * number for number in numbers]


def process_ids(numbers):
  return [os.getpid() for _ in numbers]


@pytest.mark.parametrize('processes', [1, 2])
def test_results_come_in_order(processes):
  chunks = list(map_chunks(double, range(7), processes=processes, chunk_size=3))
  assert chunks == [[0, 2, 4], [6, 8, 10], [12]]


def test_work_happens_in_other_processes():
  chunks = map_chunks(process_ids, range(4), processes=2, chunk_size=1)
  assert os.getpid() not in set(itertools.chain.from_iterable(chunks))


@pytest.mark.parametrize('processes', [1, 2])
def test_an_endless_input_is_read_as_needed(processes):
  numbers = itertools.count()
  chunks = map_chunks(double, numbers, processes=processes, chunk_size=1)
  assert [next(chunks) for _ in range(3)] == [[0], [2], [4]]
  chunks.close()
  # Three results, and at most two chunks waiting for each process.
  assert next(numbers) <= 3 + 2 * processes
