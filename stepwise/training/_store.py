"""Checkpoints that are loaded whole or not at all.

orbax writes them asynchronously. When one is complete its files are sealed: a
digest of each is stored beside them. A folder whose seal is missing or does
not match, because the run was killed or the disk was not kind, is set aside
before anything is loaded.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import orbax.checkpoint as ocp
from jax.experimental import multihost_utils
from orbax.checkpoint import checkpoint_managers

from stepwise._errors import InputError
from stepwise._files import write_json
from stepwise.training._config import CheckpointConfig
from stepwise.training._step import TrainState

_SEAL = 'seal.json'
_DAMAGED = 'damaged'


class CheckpointStore:
  """The checkpoints of one run, in one folder."""

  def __init__(
    self, directory: Path, config: CheckpointConfig, *, ranked: bool
  ):
    """Opens the folder; unsealed and damaged checkpoints are set aside.

    Args:
      directory: created if missing.
      config: what to keep.
      ranked: whether checkpoints come with metrics, so that one is best.
    """
    self._directory = directory.resolve()
    self._ranked = ranked
    if jax.process_index() == 0:
      self._directory.mkdir(parents=True, exist_ok=True)
      set_aside_damaged(self._directory)
    _wait_for_all('damaged checkpoints are set aside')
    self._manager = ocp.CheckpointManager(
      self._directory, options=_options(config, ranked)
    )

  @property
  def latest_step(self) -> int | None:
    return self._manager.latest_step()

  @property
  def best_step(self) -> int | None:
    """That with the best metric; None if there are no metrics."""
    return self._manager.best_step() if self._ranked else None

  def save(
    self,
    step: int,
    state: TrainState,
    position: dict[str, Any],
    metrics: dict[str, float] | None = None,
  ) -> None:
    """Begins to save; returns as soon as the state has left the devices.

    Args:
      step: name of the checkpoint.
      state: what to save.
      position: of the input, as its `get_state` returns it.
      metrics: of the evaluation at this step, if there was one.
    """
    if step in self._manager.all_steps():
      return
    self._manager.save(
      step,
      args=ocp.args.Composite(
        state=ocp.args.StandardSave(state._asdict()),
        input=ocp.args.JsonSave(position),
      ),
      metrics=metrics,
    )

  def seal_finished(self) -> None:
    """Seals what is complete by now; cheap if there is nothing new."""
    if jax.process_index() or self._manager.is_saving_in_progress():
      return
    for folder in _step_folders(self._directory):
      if not (folder / _SEAL).exists():
        seal(folder)

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
    self.seal_finished()
    _wait_for_all('checkpoints are sealed')

  def close(self) -> None:
    self._manager.close()


def seal(folder: Path) -> None:
  """Records the digest of every file of a complete checkpoint."""
  write_json(folder / _SEAL, dict(_digests(folder)))


def damage(folder: Path) -> str | None:
  """What is wrong with a checkpoint, or None."""
  try:
    sealed = json.loads((folder / _SEAL).read_text())
  except (FileNotFoundError, ValueError):
    return 'it was never completed'
  found = dict(_digests(folder))
  missing = sorted(sealed.keys() - found.keys())
  if missing:
    return f'{missing[0]} is missing'
  changed = [name for name, digest in sealed.items() if found[name] != digest]
  return f'{changed[0]} is damaged' if changed else None


def set_aside_damaged(directory: Path) -> None:
  """Moves checkpoints that cannot be trusted out of the way, with a warning."""
  for folder in _step_folders(directory):
    reason = damage(folder)
    if reason is None:
      continue
    aside = directory.parent / _DAMAGED
    aside.mkdir(exist_ok=True)
    number = len(list(aside.iterdir()))
    os.replace(folder, aside / f'{folder.name}-{number}')
    warnings.warn(
      f'the checkpoint of step {folder.name} is skipped: {reason}.',
      stacklevel=2,
    )


def _options(
  config: CheckpointConfig, ranked: bool
) -> ocp.CheckpointManagerOptions:
  latest = checkpoint_managers.LatestN(config.keep_last)
  if not ranked:
    return ocp.CheckpointManagerOptions(
      preservation_policy=latest, cleanup_tmp_directories=True
    )

  def metric(metrics: dict[str, float]) -> float:
    if config.best_metric not in metrics:
      raise InputError(
        f'best_metric is {config.best_metric!r}, the evaluation has'
        f' {sorted(metrics)}.'
      )
    return metrics[config.best_metric]

  best = checkpoint_managers.BestN(
    get_metric_fn=metric,
    reverse=config.best_mode == 'min',
    n=1,
    keep_checkpoints_without_metrics=False,
  )
  return ocp.CheckpointManagerOptions(
    preservation_policy=checkpoint_managers.AnyPreservationPolicy(
      [latest, best]
    ),
    best_fn=metric,
    best_mode=config.best_mode,
    cleanup_tmp_directories=True,
  )


def _step_folders(directory: Path) -> list[Path]:
  return sorted(
    (path for path in directory.iterdir() if path.name.isdigit()),
    key=lambda path: int(path.name),
  )


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
  for path in sorted(folder.rglob('*')):
    if path.is_file() and not path.name.startswith(_SEAL):
      with path.open('rb') as stream:
        digest = hashlib.file_digest(stream, 'blake2b').hexdigest()
      yield str(path.relative_to(folder)), digest


def _wait_for_all(what: str) -> None:
  if jax.process_count() > 1:
    multihost_utils.sync_global_devices(what)
