"""Finding a model: the packaged one, a bundle, or a baseline."""

import functools
import os
from importlib import resources
from pathlib import Path

from stepwise._errors import InputError
from stepwise.checkpoints import Bundle, load_bundle
from stepwise.data import wordpiece
from stepwise.inference import PredictConfig, default_config
from stepwise.models import SYSTEMS, find_system
from stepwise.summarization._summarizer import Summarizer

# A system by name, a bundle or its folder; None or 'default': the packaged.
Model = str | os.PathLike[str] | Bundle | Summarizer | None

DEFAULT = 'default'


def load_summarizer(model: Model = None) -> Summarizer:
  """A summarizer from whatever names a model; see `stepwise.summarize`."""
  if isinstance(model, Summarizer):
    return model
  if isinstance(model, Bundle):
    return _from_bundle(model)
  if model is None or model == DEFAULT:
    return _packaged()
  if isinstance(model, str) and model in SYSTEMS:
    return _baseline(model)
  # Unlike that of pathlib, it never raises.
  if not os.path.isdir(model):
    raise InputError(
      f'{os.fspath(model)} is neither the folder of a model nor one of '
      f'{DEFAULT}, {", ".join(_BASELINES)}.'
    )
  return _from_folder(Path(model))


def default_folder() -> Path:
  """Where the model of the package is, if there is one."""
  return Path(str(resources.files('stepwise.summarization'))) / DEFAULT


def _packaged() -> Summarizer:
  folder = default_folder()
  if not os.path.isfile(folder / 'config.json'):
    raise InputError(
      'this installation has no default model: install a release of stepwise, '
      'or name a model, such as lead or the folder of a bundle.'
    )
  # Tests have checked it, and people wait for it.
  return _from_folder(folder, check=False)


def _from_folder(folder: Path, *, check: bool = True) -> Summarizer:
  # A bundle that is written again is read again.
  try:
    changed = (folder / 'config.json').stat().st_mtime_ns
  except OSError:
    changed = 0
  return _load(folder.absolute(), changed, check)


@functools.lru_cache(maxsize=4)
def _load(folder: Path, changed: int, check: bool) -> Summarizer:
  return _from_bundle(load_bundle(folder, check=check))


def _from_bundle(bundle: Bundle) -> Summarizer:
  name = bundle.name or 'the model'
  if not bundle.config.chooses_units:
    raise InputError(f'{name} writes text; it cannot choose sentences.')
  if bundle.tokenizer is None:
    raise InputError(f'{name} has no tokeniser: it cannot read text.')
  return Summarizer(
    bundle.config,
    bundle.variables['params'],
    bundle.tokenizer,
    bundle.decoding or default_config(bundle.config),
    name,
  )


_BASELINES = tuple(
  name
  for name, system in SYSTEMS.items()
  if not (system.model.needs_weights or system.model.needs_targets)
)


@functools.cache
def _baseline(name: str) -> Summarizer:
  system = find_system(name)
  if name not in _BASELINES:
    raise InputError(
      f'{name} needs trained weights: give the folder of a bundle, or use '
      f'{DEFAULT}.'
    )
  return Summarizer(system.model, {}, wordpiece(), PredictConfig(), name)
