"""Finding a summarizer: the packaged model, a bundle, or a ranker."""

import functools
import os
from importlib import resources
from pathlib import Path

from stepwise._errors import InputError
from stepwise.checkpoints import Bundle, load_bundle
from stepwise.inference import default_config
from stepwise.summarization._auto import AutoSummarizer
from stepwise.summarization._base import Summarizer
from stepwise.summarization._encoder import UnitEncoder
from stepwise.summarization._rankers import RANKERS, RankSummarizer
from stepwise.summarization._summarizer import ModelSummarizer

# A name, a bundle or its folder; None or 'auto': what suits the text.
Model = str | os.PathLike[str] | Bundle | Summarizer | None

AUTO = 'auto'
DEFAULT = 'default'
# That the packaged model was trained on.
_LANGUAGES = ('en',)


def load_summarizer(model: Model = None) -> Summarizer:
  """A summarizer from whatever names a model; see `stepwise.summarize`."""
  if isinstance(model, Summarizer):
    return model
  if isinstance(model, Bundle):
    return _from_bundle(model)
  if model is None or model == AUTO:
    return _auto()
  if model == DEFAULT:
    return _packaged()
  if isinstance(model, str) and model in RANKERS:
    return _ranker(model)
  if not isinstance(model, str | os.PathLike):
    raise InputError(
      f'model is of type {type(model).__name__}, must be a name, the folder of '
      'a model, or a bundle.'
    )
  # Unlike that of pathlib, it never raises.
  if not os.path.isdir(model):
    raise InputError(
      f'{os.fspath(model)} is neither the folder of a model nor one of '
      f'{", ".join((AUTO, DEFAULT, *RANKERS))}.'
    )
  return _from_folder(Path(model))


def load(model: str | os.PathLike[str]) -> Bundle:
  """A trained model: its folder, or `default` for that of the package."""
  return load_bundle(model_folder(model))


def model_folder(model: str | os.PathLike[str]) -> Path:
  """The folder of a model that is named; `default` is that of the package."""
  if os.fspath(model) in (AUTO, DEFAULT) and not os.path.isdir(model):
    return _packaged_folder()
  return Path(model)


def default_folder() -> Path:
  """Where the model of the package is, if there is one."""
  return Path(str(resources.files('stepwise.summarization'))) / DEFAULT


@functools.cache
def _auto() -> AutoSummarizer:
  return AutoSummarizer(_packaged, _ranker('coverage'))


@functools.cache
def _ranker(name: str) -> RankSummarizer:
  return RankSummarizer(name, _encoder)


def _encoder() -> UnitEncoder:
  return _packaged().encoder


def _packaged() -> ModelSummarizer:
  # Tests have checked it, and people wait for it.
  return _from_folder(_packaged_folder(), check=False, languages=_LANGUAGES)


def _packaged_folder() -> Path:
  folder = default_folder()
  if not os.path.isfile(folder / 'config.json'):
    raise InputError(
      'this installation has no default model: install a release of stepwise, '
      'or name a model, such as lead or the folder of a bundle.'
    )
  return folder


def _from_folder(
  folder: Path, *, check: bool = True, languages: tuple[str, ...] = ()
) -> ModelSummarizer:
  # A bundle that is written again is read again.
  try:
    changed = (folder / 'config.json').stat().st_mtime_ns
  except OSError:
    changed = 0
  return _load(folder.absolute(), changed, check, languages)


@functools.lru_cache(maxsize=4)
def _load(
  folder: Path, changed: int, check: bool, languages: tuple[str, ...]
) -> ModelSummarizer:
  return _from_bundle(load_bundle(folder, check=check), languages)


def _from_bundle(
  bundle: Bundle, languages: tuple[str, ...] = ()
) -> ModelSummarizer:
  name = bundle.name or 'the model'
  if not bundle.config.chooses_units:
    raise InputError(f'{name} is of a kind that cannot choose sentences.')
  if bundle.tokenizer is None:
    raise InputError(f'{name} has no tokeniser: it cannot read text.')
  return ModelSummarizer(
    bundle.config,
    bundle.variables['params'],
    bundle.tokenizer,
    bundle.decoding or default_config(bundle.config),
    name,
    languages,
  )
