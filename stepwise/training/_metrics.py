"""Where the numbers of a run go: JSON lines, and TensorBoard if asked."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from stepwise._errors import InputError
from stepwise._files import write_text


@runtime_checkable
class MetricWriter(Protocol):
  """Takes named numbers of a step."""

  def write(self, step: int, metrics: Mapping[str, float]) -> None: ...

  def close(self) -> None: ...


class JsonLinesWriter:
  """One JSON object per call, `step` first, on disk at once."""

  def __init__(self, path: Path, *, after: int = 0):
    """Keeps the lines of a run that continues after a step.

    Later ones, and a line that was cut short, belong to steps that come again.
    """
    kept = list(_lines_until(path, after))
    write_text(path, ''.join(kept))
    self._file = path.open('a', encoding='utf-8', newline='\n')

  def write(self, step: int, metrics: Mapping[str, float]) -> None:
    self._file.write(json.dumps({'step': step, **metrics}) + '\n')
    self._file.flush()

  def close(self) -> None:
    self._file.close()


def _lines_until(path: Path, last: int) -> Iterator[str]:
  if not path.exists():
    return
  with path.open() as stream:
    for line in stream:
      if line.endswith('\n') and json.loads(line)['step'] <= last:
        yield line


class TensorBoardWriter:
  """Event files, through tensorboardX."""

  def __init__(self, folder: Path, *, after: int = 0):
    try:
      from tensorboardX import SummaryWriter
    except ImportError:
      raise InputError(
        'TensorBoard files need tensorboardX: pip install'
        ' "stepwise[tensorboard]"'
      ) from None
    # TensorBoard hides what an earlier file has from this step on.
    self._writer = SummaryWriter(str(folder), purge_step=after + 1)

  def write(self, step: int, metrics: Mapping[str, float]) -> None:
    for name, value in metrics.items():
      self._writer.add_scalar(name, value, step)

  def close(self) -> None:
    self._writer.close()
