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
  try:
    value = json.loads(path.read_text(encoding='utf-8'))
  except FileNotFoundError:
    raise InputError(f'{path}: no such file.') from None
  except (OSError, ValueError) as error:
    raise InputError(f'{path} is not readable JSON: {error}.') from error
  if not isinstance(value, dict):
    raise InputError(
      f'{path} holds a {type(value).__name__}; an object is needed.'
    )
  return value


def read_safetensors(path: Path) -> Weights:
  """All tensors of a file."""
  try:
    return load_file(path)
  except FileNotFoundError:
    raise InputError(f'{path}: no such file.') from None
  except (OSError, SafetensorError) as error:
    raise InputError(
      f'{path} is damaged or not a safetensors file: {error}.'
    ) from error
