"""Checkpoints: whole or not at all, on any file system, best and newest kept.

orbax writes them asynchronously and commits each at once: what has its final
name is complete. On a local disk a thread then seals it, that is, stores a
digest of every file, so that damage of later days is found before anything is
loaded. A checkpoint without a seal is complete all the same. Seals stand
beside the folders of checkpoints, never in them: orbax may be removing a
folder while its seal is written.

Scores come after the checkpoint they belong to: evaluating takes long, and a
run that dies meanwhile has lost nothing. So they are in a file of their own.
"""

import hashlib
import json
import math
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import orbax.checkpoint as ocp
from etils import epath

from stepwise._errors import InputError
from stepwise.training._config import CheckpointConfig, is_local, write_text
from stepwise.training._processes import wait_for_all
from stepwise.training._step import TrainState

_SCORES = 'scores.json'
_DAMAGED = 'damaged'


class CheckpointStore:
  """The checkpoints of one run, in one folder."""

  def __init__(self, directory: epath.PathLike, config: CheckpointConfig):
    """Opens the folder; damaged checkpoints are set aside.

    Args:
      directory: created if missing; local, or such as `gs://bucket/run`.
      config: what to keep.
    """
    self._directory = epath.Path(directory)
    self._config = config
    if is_local(self._directory):
      self._directory = self._directory.resolve()
    if jax.process_index() == 0:
      self._directory.mkdir(parents=True, exist_ok=True)
      set_aside_damaged(self._directory)
      _remove_stale_seals(self._directory)
    wait_for_all('damaged checkpoints are set aside')
    self._scores = read_scores(self._directory)
    self._manager = ocp.CheckpointManager(
      self._directory,
      options=ocp.CheckpointManagerOptions(
        preservation_policy=_LastAndBest(self),
        cleanup_tmp_directories=True,
      ),
    )
    self._closing = threading.Event()
    # Nothing is being saved: a checkpoint that is not there is gone for good.
    self._settled = threading.Event()
    self._pool = ThreadPoolExecutor(max_workers=1)
    self._sealing: list[Future[None]] = []

  @property
  def latest_step(self) -> int | None:
    return self._manager.latest_step()

  @property
  def best_step(self) -> int | None:
    """That with the best score; None if there is no score."""
    return best_step(self._scores, self._manager.all_steps(), self._config)

  @property
  def result_steps(self) -> list[int]:
    """Those a run ends with, in order; none if nothing is saved."""
    steps = sorted(self._manager.all_steps())
    if self._config.average > 1:
      return steps[-self._config.average :]
    best = self.best_step
    return steps[-1:] if best is None else [best]

  def is_scored(self, step: int) -> bool:
    return step in self._scores

  def save(
    self, step: int, state: TrainState, position: dict[str, Any]
  ) -> None:
    """Begins to save; returns as soon as the state has left the devices.

    Args:
      step: name of the checkpoint.
      state: what to save.
      position: of the input, as its `get_state` returns it.
    """
    if step in self._manager.all_steps():
      return
    self._settled.clear()
    sealing = jax.process_index() == 0 and is_local(self._directory)
    folder = self._directory / str(step)
    if sealing:
      # That of an earlier checkpoint of this step, which is gone.
      _seal_path(folder).unlink(missing_ok=True)
    self._manager.save(
      step,
      args=ocp.args.Composite(
        state=ocp.args.StandardSave(state._asdict()),
        input=ocp.args.JsonSave(position),
      ),
    )
    if sealing:
      self._sealing.append(self._pool.submit(self._seal_committed, folder))

  def score(self, step: int, metrics: dict[str, float]) -> None:
    """Notes how good the checkpoint of a step is."""
    name = self._config.best_metric
    if name not in metrics:
      raise InputError(
        f'best_metric is {name!r}, the evaluation has {sorted(metrics)}.'
      )
    self._scores[step] = metrics[name]
    if jax.process_index() == 0:
      write_text(self._directory / _SCORES, json.dumps(self._scores))

  def restore(
    self, step: int, shapes: TrainState
  ) -> tuple[TrainState, dict[str, Any]]:
    """The state, laid out as `shapes` says, and the position of the input."""
    restored = self._manager.restore(
      step,
      args=ocp.args.Composite(
        state=ocp.args.StandardRestore(shapes._asdict()),
        input=ocp.args.JsonRestore(),
      ),
    )
    return TrainState(**restored['state']), restored['input']

  def wait(self) -> None:
    """Returns when everything is saved and sealed."""
    self._manager.wait_until_finished()
    self._settled.set()
    for sealing in self._sealing:
      sealing.result()
    self._sealing.clear()
    wait_for_all('checkpoints are complete')

  def close(self) -> None:
    self._closing.set()
    self._pool.shutdown()
    self._manager.close()

  def _seal_committed(self, folder: epath.Path) -> None:
    """Waits for orbax to commit; never in the way of an update.

    A checkpoint may be committed and removed again, as it is not among those
    to keep, before anybody looks.
    """
    while not folder.exists():
      settled = self._settled.is_set() or self._newer_than(folder)
      if self._closing.wait(0.1) or (settled and not folder.exists()):
        return
    try:
      seal(folder)
    except FileNotFoundError:
      return  # No longer among those to keep.

  def _newer_than(self, folder: epath.Path) -> bool:
    """Whether a later checkpoint is complete; they are saved in turn."""
    steps = [int(path.name) for path in _step_folders(self._directory)]
    return max(steps, default=-1) > int(folder.name)


class _LastAndBest:
  """What to keep when another checkpoint was saved."""

  def __init__(self, store: CheckpointStore):
    self._store = store

  def should_preserve(
    self, checkpoints: Sequence[Any], *, context: Any
  ) -> list[bool]:
    del context
    store = self._store
    steps = [checkpoint.step for checkpoint in checkpoints]
    kept = set(sorted(steps)[-store._config.keep_last :])
    kept.add(best_step(store._scores, steps, store._config))
    return [step in kept for step in steps]


def best_step(
  scores: dict[int, float], steps: Sequence[int], config: CheckpointConfig
) -> int | None:
  """The earliest step with the best score; None if no step has one."""
  found = {
    step: scores[step]
    for step in sorted(steps)
    if not math.isnan(scores.get(step, math.nan))
  }
  choose = min if config.best_mode == 'min' else max
  return choose(found, key=found.__getitem__) if found else None


def read_scores(directory: epath.Path) -> dict[int, float]:
  path = directory / _SCORES
  if not path.exists():
    return {}
  return {int(k): v for k, v in json.loads(path.read_text()).items()}


def seal(folder: epath.Path) -> None:
  """Records the digest of every file of a complete checkpoint."""
  write_text(_seal_path(folder), json.dumps(dict(_digests(folder))))


def damage(folder: epath.Path) -> str | None:
  """What is wrong with a checkpoint that was complete, or None."""
  path = _seal_path(folder)
  if not path.exists():
    return None
  try:
    sealed = json.loads(path.read_text())
  except ValueError:
    return f'{path.name} is damaged'
  found = dict(_digests(folder))
  missing = sorted(sealed.keys() - found.keys())
  if missing:
    return f'{missing[0]} is missing'
  changed = [name for name, digest in sealed.items() if found[name] != digest]
  return f'{changed[0]} is damaged' if changed else None


def set_aside_damaged(directory: epath.Path) -> None:
  """Moves checkpoints that cannot be trusted out of the way, with a warning."""
  for folder in _step_folders(directory):
    reason = damage(folder)
    if reason is None:
      continue
    aside = directory.parent / _DAMAGED
    aside.mkdir(exist_ok=True)
    number = len(list(aside.iterdir()))
    folder.rename(aside / f'{folder.name}-{number}')
    _seal_path(folder).unlink()
    warnings.warn(
      f'the checkpoint of step {folder.name} is skipped: {reason}.',
      stacklevel=2,
    )


def _remove_stale_seals(directory: epath.Path) -> None:
  for path in directory.glob(_seal_path(directory / '*').name):
    step = path.name.removeprefix('seal-').removesuffix('.json')
    if not (directory / step).exists():
      path.unlink()


def _seal_path(folder: epath.Path) -> epath.Path:
  return folder.with_name(f'seal-{folder.name}.json')


def _step_folders(directory: epath.Path) -> list[epath.Path]:
  return sorted(
    (path for path in directory.iterdir() if path.name.isdigit()),
    key=lambda path: int(path.name),
  )


def _digests(folder: epath.Path) -> Iterator[tuple[str, str]]:
  local = Path(folder)
  for path in sorted(local.rglob('*')):
    if path.is_file():
      with path.open('rb') as stream:
        digest = hashlib.file_digest(stream, 'blake2b').hexdigest()
      yield str(path.relative_to(local)), digest
