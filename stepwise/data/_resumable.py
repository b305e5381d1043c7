"""A file of JSON lines that a killed run continues where it stopped."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from stepwise._errors import InputError
from stepwise._files import locked, write_json


class ResumableLines:
  """Lines go to `TARGET.partial`, which becomes `TARGET` when all are written.

  `TARGET.partial.json` says what the lines are made from (the fingerprint). It
  is written before the first line and removed after the last, so lines without
  it cannot exist. A write that was cut short leaves a line without an end: it
  is dropped when the file is opened again. A run that failed before its first
  line leaves nothing. One run at a time holds the lock.
  """

  def __init__(
    self, target: str | os.PathLike[str], fingerprint: dict, *, key: str
  ):
    """Opens the file, keeping the complete lines of an unfinished run.

    Args:
      target: what the file will be called.
      fingerprint: what its lines are made from, as JSON has it.
      key: an entry of every record that tells them apart; `done` holds its
        values in the lines that are there already.
    """
    self._target = Path(target)
    self._partial = Path(f'{target}.partial')
    self._about = Path(f'{target}.partial.json')
    if not self._target.parent.is_dir():
      raise InputError(f'The folder of the output {target} does not exist.')
    with contextlib.ExitStack() as stack:
      stack.enter_context(locked(self._target))
      self._partial.touch()
      self._file = stack.enter_context(self._partial.open('r+b'))
      self._check(fingerprint)
      self.done = {record[key] for record in self._complete_records()}
      self._open = stack.pop_all()

  def append(self, records: Iterable[dict]) -> None:
    """Adds one line per record, all in one write."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    self._file.write(''.join(f'{line}\n' for line in lines).encode())
    self._file.flush()

  def finish(self) -> None:
    """Gives the file its name, once it is safely on disk."""
    os.fsync(self._file.fileno())
    # Where a file that is open keeps its name, it could not be renamed.
    self._file.close()
    os.replace(self._partial, self._target)
    self._about.unlink(missing_ok=True)

  def __enter__(self) -> 'ResumableLines':
    return self

  def __exit__(
    self,
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
  ) -> None:
    self._file.close()
    if self._partial.exists() and not self._partial.stat().st_size:
      # There is nothing to continue.
      self._partial.unlink()
      self._about.unlink(missing_ok=True)
    self._open.close()

  def _check(self, fingerprint: dict) -> None:
    """Refuses to continue lines that were made from something else."""
    started = os.fstat(self._file.fileno()).st_size > 0
    if (
      started and (before := json.loads(self._about.read_text())) != fingerprint
    ):
      changed = [
        key for key in fingerprint if before.get(key) != fingerprint[key]
      ]
      raise InputError(
        f'{self._partial} was begun with another {" and ".join(changed)}: '
        'repeat that command to finish it, or delete the file to start again.'
      )
    write_json(self._about, fingerprint)

  def _complete_records(self) -> Iterator[dict]:
    """Records of the lines that have an end; what follows them is cut off."""
    complete = 0
    for line in self._file:
      if line.endswith(b'\n'):
        complete += len(line)
        yield json.loads(line)
    self._file.seek(complete)
    self._file.truncate()
