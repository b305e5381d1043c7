"""Bundles of realizers: those of any model, and what the inputs look like."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

from stepwise._errors import InputError
from stepwise.checkpoints import Bundle, load_bundle, save_bundle
from stepwise.models import RealizerConfig
from stepwise.realization._inputs import InputFormat

_FORMAT = 'realizer.json'


def save_realizer(
  folder: str | os.PathLike[str],
  config: RealizerConfig,
  params: Any,
  format: InputFormat,
  **options: Any,
) -> None:
  """`save_bundle`, and beside its files `realizer.json` with the format."""
  text = json.dumps(dataclasses.asdict(format)) + '\n'
  save_bundle(folder, config, params, files={_FORMAT: text}, **options)


def load_realizer(folder: str | os.PathLike[str]) -> tuple[Bundle, InputFormat]:
  """What `save_realizer` wrote; without its file, the format of the paper."""
  bundle, path = load_bundle(folder), Path(folder) / _FORMAT
  if bundle.config.chooses_units:
    raise InputError(
      f'{folder} holds a {type(bundle.model).__name__}, which writes no text.'
    )
  if bundle.tokenizer is None:
    raise InputError(f'{folder} has no tokenizer: it cannot write text.')
  if not path.exists():
    return bundle, InputFormat()
  try:
    return bundle, InputFormat(**json.loads(path.read_text('utf-8')))
  except (ValueError, TypeError) as error:
    raise InputError(f'{path} does not describe inputs: {error}.') from error
