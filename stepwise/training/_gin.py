"""Gin files in, configurations out; the only file that knows gin.

Every configuration of this package is configurable under its own name:

  TrainConfig.steps = 5000
  ModelSpec.name = 'etcsum_base'

They are wired together here, so files only set values.
"""

import ast
import contextlib
import dataclasses
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import gin

from stepwise._errors import InputError
from stepwise.data import Buckets, Masking
from stepwise.decoding import DecodeConfig
from stepwise.inference import PredictConfig
from stepwise.training._config import (
  CheckpointConfig,
  EvaluationConfig,
  InputConfig,
  MeshConfig,
  ModelSpec,
  OptimizerConfig,
  PretrainingConfig,
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
    Masking,
    MeshConfig,
    ModelSpec,
    OptimizerConfig,
    PredictConfig,
    PretrainingConfig,
    TrainConfig,
  )
}

# Those that have fields which must be set.
_PARTS = (ModelSpec, OptimizerConfig, InputConfig, TrainConfig)

_WIRING = """
TrainConfig.model = @ModelSpec()
TrainConfig.optimizer = @OptimizerConfig()
TrainConfig.input = @InputConfig()
TrainConfig.evaluation = @EvaluationConfig()
TrainConfig.checkpoints = @CheckpointConfig()
TrainConfig.mesh = @MeshConfig()
EvaluationConfig.predict = @PredictConfig()
PretrainingConfig.masking = @Masking()
"""


def load_gin(
  kind: type[Config],
  files: Sequence[Path],
  settings: Sequence[str] = (),
  flags: Mapping[str, str] = MappingProxyType({}),
) -> Config:
  """A configuration from gin files and settings on top of them.

  Args:
    kind: the configuration wanted, such as `TrainConfig`.
    files: includes are looked up in the folders above each of them.
    settings: `NAME=VALUE`, where a value that is not Python is a string.
    flags: what a user may give instead of some names, for messages.
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
    if unset := _unset_fields(kind):
      raise InputError(_ask_for(unset, flags))
    return _CONFIGURABLE[kind]()
  except InputError as error:
    # Gin appends where the call came from; the first line is the sentence.
    raise InputError(str(error).strip().splitlines()[0]) from error
  except (ValueError, TypeError, RuntimeError, OSError, SyntaxError) as error:
    macros = _unset_macros(str(error))
    sentence = _ask_for(macros, flags) if macros else _sentence(error)
    raise InputError(sentence) from error
  finally:
    gin.clear_config()


def absolute_folder(folder: str) -> str:
  """The same folder, from wherever it is looked at; buckets are so anyway.

  For gin files of t5x.
  """
  return folder if '://' in folder else str(Path(folder).resolve())


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


def _unset_fields(kind: Any) -> list[str]:
  """Fields without a default that neither files nor settings give a value."""
  parts = _PARTS if kind is TrainConfig else (kind,)
  names = [
    f'{part.__name__}.{field.name}'
    for part in parts
    for field in dataclasses.fields(part)
    if field.default is field.default_factory is dataclasses.MISSING
  ]
  return [name for name in names if not _is_set(name)]


def _is_set(name: str) -> bool:
  try:
    gin.query_parameter(name)
  except ValueError:
    return False
  return True


def _unset_macros(message: str) -> list[str]:
  """Those that gin says are required; [] if it says something else."""
  required = r'^(\S+?)(?:/macro\.value)? set to `%gin\.REQUIRED`'
  return sorted(re.findall(required, message, re.MULTILINE))


def _ask_for(names: Sequence[str], flags: Mapping[str, str]) -> str:
  """One sentence: what is missing, and how to give it."""
  given = [flags.get(name, f'--set {name}=VALUE') for name in names]
  verb, them = ('is', 'it') if len(names) == 1 else ('are', 'them')
  return (
    f'{" and ".join(names)} {verb} not set: give {" and ".join(given)}, or a'
    f' gin file that sets {them}.'
  )


def _sentence(error: Any) -> str:
  """The first line of what gin says; the rest is its call stack."""
  first = str(error).strip().splitlines()[0]
  return f'the gin configuration is wrong: {first}'
