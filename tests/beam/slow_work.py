"""Work that takes long enough for somebody to pull a plug."""

import os
import time
from pathlib import Path

import apache_beam as beam

from stepwise.beam._transforms import make_oracles
from stepwise.data import OracleOptions
from stepwise.summarization import load_summarizer


class SlowOracles(beam.PTransform):
  """Oracles; which process made which part is noted in a folder."""

  def __init__(self, log):
    super().__init__()
    self._log = str(log)

  def expand(self, input_or_inputs):
    return input_or_inputs | beam.Map(make_slowly, self._log)


def make_slowly(documents, log):
  note = Path(log) / f'{documents.part.name} {os.getpid()} {time.time_ns()}'
  note.touch()
  time.sleep(0.3)
  return make_oracles(documents, OracleOptions())


def load_noted(log):
  """A summarizer; that it was loaded is noted in a folder."""
  (Path(log) / f'loaded {os.getpid()} {time.time_ns()}').touch()
  return load_summarizer('lead')


def notes(log):
  """Parts and processes, in the order of time."""
  found = [path.name.split() for path in log.iterdir()]
  found.sort(key=lambda note: note[2])
  return [(part, int(process)) for part, process, _ in found]
