"""Gin files in, configurations out; the only file that knows gin.

Every configuration of this package is configurable under its own name:

  TrainConfig.steps = 5000
  ModelSpec.name = 'etcsum_base'

They are wired together here, so files only set values.
"""

import ast
import contextlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import gin

from stepwise._errors import InputError
from stepwise.data import Buckets
from stepwise.decoding import DecodeConfig
from stepwise.inference import PredictConfig
from stepwise.training._config import (
  CheckpointConfig,
  EvaluationConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  TrainConfig,
)

Config = TypeVar('Config')

_CONFIGURABLE: dict[Any, Any] = {
  config: gin.external_configurable(config, module='stepwise.training')
  for config in (
    Buckets,
    CheckpointConfig,
    DecodeConfig,
    EvaluationConfig,
    InputConfig,
    MeshConfig,
    ModelSpec,
    OptimizerConfig,
    PredictConfig,
    TrainConfig,
  )
}

_WIRING = """
TrainConfig.model = @ModelSpec()
TrainConfig.optimizer = @OptimizerConfig()
TrainConfig.input = @InputConfig()
TrainConfig.evaluation = @EvaluationConfig()
TrainConfig.checkpoints = @CheckpointConfig()
TrainConfig.mesh = @MeshConfig()
EvaluationConfig.predict = @PredictConfig()
"""


def load_gin(
  kind: type[Config], files: Sequence[Path], settings: Sequence[str] = ()
) -> Config:
  """A configuration from gin files and settings on top of them.

  Args:
    kind: the configuration wanted, such as `TrainConfig`.
    files: includes are looked up in the folders above each of them.
    settings: `NAME=VALUE`, where a value that is not Python is a string.
  """
  for file in files:
    if not file.is_file():
      raise InputError(f'{file}: no such file.')
    for folder in file.resolve().parents:
      gin.add_config_file_search_path(str(folder))
  gin.clear_config()
  try:
    with _silent_search():
      gin.parse_config(_WIRING)
      gin.parse_config_files_and_bindings(
        [str(file.resolve()) for file in files],
        [_binding(setting) for setting in settings],
        finalize_config=False,
      )
    if kind is TrainConfig:
      # Here gin looks for values that are required and missing. A part of a
      # run, such as how to predict, does without those of the others.
      gin.finalize()
    return _CONFIGURABLE[kind]()
  except InputError as error:
    # Gin appends where the call came from; the first line is the sentence.
    raise InputError(str(error).strip().splitlines()[0]) from error
  except (ValueError, TypeError, RuntimeError, OSError, SyntaxError) as error:
    raise InputError(_sentence(error)) from error
  finally:
    gin.clear_config()


@contextlib.contextmanager
def _silent_search() -> Iterator[None]:
  """Gin reports every folder where an included file is not as an error."""

  def keep(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith('Path not found')

  root = logging.getLogger()
  root.addFilter(keep)
  try:
    yield
  finally:
    root.removeFilter(keep)


def _binding(setting: str) -> str:
  name, equals, value = setting.partition('=')
  if not equals:
    raise InputError(f'--set is {setting!r}, must be NAME=VALUE.')
  return f'{name.strip()} = {_literal(value.strip())}'


def _literal(value: str) -> str:
  if value[:1] in ('@', '%'):
    return value
  try:
    return repr(ast.literal_eval(value))
  except (ValueError, SyntaxError):
    return repr(value)


def _sentence(error: Any) -> str:
  """The first line of what gin says; the rest is its call stack."""
  first = str(error).strip().splitlines()[0]
  return f'the gin configuration is wrong: {first}'
