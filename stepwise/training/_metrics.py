"""Where the numbers of a run go, and how fast it is."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import jax
from etils import epath

from stepwise._extras import needs
from stepwise.training._config import is_local, write_text
from stepwise.training._flops import peak_flops, product_flops


@runtime_checkable
class MetricWriter(Protocol):
  """Takes named numbers of a step."""

  def write(self, step: int, metrics: Mapping[str, float]) -> None: ...

  def close(self) -> None: ...


class JsonLinesWriter:
  """One JSON object per call, `step` first, on disk at once."""

  def __init__(self, path: epath.PathLike, *, after: int = 0):
    """Keeps the lines of a run that continues after a step.

    Later ones, and a line that was cut short, belong to steps that come again.
    """
    self._path = epath.Path(path)
    self._lines = list(_lines_until(self._path, after))
    write_text(self._path, ''.join(self._lines))

  def write(self, step: int, metrics: Mapping[str, float]) -> None:
    line = json.dumps({'step': step, **metrics}) + '\n'
    if is_local(self._path):
      with self._path.open('a') as stream:
        stream.write(line)
      return
    # Nothing can be appended to an object of a bucket.
    self._lines.append(line)
    self._path.write_text(''.join(self._lines))

  def close(self) -> None:
    """Every line is written already."""


def _lines_until(path: epath.Path, last: int) -> Iterator[str]:
  if not path.exists():
    return
  for line in path.read_text().splitlines(keepends=True):
    if line.endswith('\n') and json.loads(line)['step'] <= last:
      yield line


class TensorBoardWriter:
  """Event files, through tensorboardX."""

  def __init__(self, folder: epath.PathLike, *, after: int = 0):
    with needs('tensorboard', 'a TensorBoard file'):
      from tensorboardX import SummaryWriter
    # TensorBoard hides what an earlier file has from this step on.
    self._writer = SummaryWriter(str(folder), purge_step=after + 1)

  def write(self, step: int, metrics: Mapping[str, float]) -> None:
    for name, value in metrics.items():
      self._writer.add_scalar(name, value, step)

  def close(self) -> None:
    self._writer.close()


class SpeedMeter:
  """Updates and tokens a second, and the share of the devices' peak.

  `core_seconds` is what an update takes of this process's CPU time: on a CPU
  that other work shares, the clock says little of what an update costs.
  """

  def __init__(self, programs: Any, step: int, peak: float | None = None):
    """`peak` is FLOP/s of all devices; None = what is known of them."""
    self._programs = programs
    self._peak = peak or peak_flops(programs.mesh.devices.flat)
    self._flops: dict[Any, float] = {}
    self.restart(step)

  def restart(self, step: int) -> None:
    """Leaves out what was done since, such as an evaluation."""
    self._since, self._then = step, time.monotonic()
    self._worked = time.process_time()
    self._tokens: list[jax.Array] = []
    self._work = 0.0

  def add(self, batch: Any, tokens: jax.Array) -> None:
    """Counts an update, without waiting for it."""
    self._tokens.append(tokens)
    if self._peak:
      self._work += self._flops_of(batch)

  def measure(self, step: int) -> dict[str, float]:
    """Since the last call."""
    tokens = sum(float(count) for count in self._tokens)
    seconds = max(time.monotonic() - self._then, 1e-9)
    updates = step - self._since
    worked = time.process_time() - self._worked
    numbers = {
      'train/steps_per_second': updates / seconds,
      'train/tokens_per_second': tokens / seconds,
      'train/core_seconds': worked / max(updates, 1),
    }
    if self._peak:
      numbers['train/mfu'] = self._work / seconds / self._peak
    self.restart(step)
    return numbers

  def _flops_of(self, batch: Any) -> float:
    """Of an update: the forward pass and twice that for the backward one."""
    key = tuple((x.shape, str(x.dtype)) for x in jax.tree.leaves(batch))
    if key not in self._flops:
      programs = self._programs
      forward = product_flops(programs.task.loss, programs.shapes.params, batch)
      self._flops[key] = 3 * forward
    return self._flops[key]
