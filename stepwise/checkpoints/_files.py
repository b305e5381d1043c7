"""Reading JSON and safetensors; what is wrong with a file is one sentence."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load_file

from stepwise._errors import InputError
from stepwise.checkpoints._matching import Weights


def read_json(path: Path) -> dict[str, Any]:
  """The object of a JSON file."""
  if not path.is_file():
    raise InputError(f'{path}: no such file.')
  try:
    value = json.loads(path.read_text(encoding='utf-8'))
  except (OSError, ValueError) as error:
    raise InputError(f'{path} is not readable JSON: {error}.') from error
  if not isinstance(value, dict):
    raise InputError(
      f'{path} holds a {type(value).__name__}; an object is needed.'
    )
  return value


def read_safetensors(path: Path) -> Weights:
  """All tensors of a file."""
  if not path.is_file():
    raise InputError(f'{path}: no such file.')
  try:
    return load_file(path)
  except (OSError, SafetensorError) as error:
    raise InputError(
      f'{path} is damaged or not a safetensors file: {error}.'
    ) from error
