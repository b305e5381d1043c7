"""Variables of a TensorFlow checkpoint."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stepwise._errors import InputError
from stepwise._extras import needs


def is_tensorflow(path: str | os.PathLike[str]) -> bool:
  """Whether a path names a checkpoint: its prefix, index file or folder."""
  path = Path(path)
  if path.is_dir():
    return (path / 'checkpoint').is_file()
  return _index(path).is_file()


class Checkpoint(NamedTuple):
  """Shapes of all variables by name, and how to read one of them."""

  shapes: dict[str, tuple[int, ...]]
  read: Callable[[str], np.ndarray]


def open_tensorflow(path: str | os.PathLike[str]) -> Checkpoint:
  """A checkpoint; of a folder, its latest one."""
  if not is_tensorflow(path):
    raise InputError(f'{os.fspath(path)}: no TensorFlow checkpoint there.')
  tf = _tensorflow()
  prefix = os.fspath(path)
  if Path(path).is_dir():
    prefix = tf.train.latest_checkpoint(prefix)
    if prefix is None:
      raise InputError(f'{os.fspath(path)} names a checkpoint it has not.')
  damage = (tf.errors.OpError, ValueError, RuntimeError)

  def guard(read: Callable[..., Any], *args: Any) -> Any:
    try:
      return read(*args)
    except damage as error:
      reason = str(error).splitlines()[0]
      raise InputError(
        f'{prefix} is not a readable TensorFlow checkpoint: {reason}.'
      ) from error

  reader = guard(tf.train.load_checkpoint, prefix.removesuffix('.index'))
  shapes = reader.get_variable_to_shape_map()
  return Checkpoint(
    {name: tuple(shape) for name, shape in shapes.items()},
    lambda name: np.asarray(guard(reader.get_tensor, name)),
  )


def _index(path: Path) -> Path:
  if path.suffix == '.index':
    return path
  return path.with_name(f'{path.name}.index')


def _tensorflow() -> Any:
  with needs('tasks', 'a TensorFlow checkpoint'):
    import tensorflow
  return tensorflow
