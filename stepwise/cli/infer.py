"""`stepwise infer`: summaries of a whole file by a trained model."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._options import Batch, GinFiles, Settings, TrigramBlocking
from stepwise.cli._progress import counted

if TYPE_CHECKING:
  from stepwise.inference import PredictConfig

BundleArgument = Annotated[
  Path,
  typer.Argument(
    metavar='BUNDLE', help='Folder of a trained model, or default.'
  ),
]
Source = Annotated[
  Path, typer.Argument(metavar='IN', help='Documents: JSON lines.')
]
Target = Annotated[
  Path, typer.Argument(metavar='OUT', help='JSON lines to write.')
]


def infer(
  bundle: BundleArgument,
  source: Source,
  target: Target,
  batch: Batch = None,
  trigram_blocking: TrigramBlocking = None,
  gin: GinFiles = [],  # noqa: B006, typer copies it.
  settings: Settings = [],  # noqa: B006
) -> None:
  """Summarise every line of a file, in its order.

  The model chooses as its bundle says, unless gin files or --set are given.
  A line that holds no document becomes a line with its number and an error;
  the exit code is then 1. The same command continues a run that was killed.
  """
  from stepwise.checkpoints import load_bundle
  from stepwise.inference import (
    Predictor,
    default_config,
    digest_folder,
    inference_buckets,
    write_summaries,
  )
  from stepwise.summarization import model_folder

  bundle = model_folder(bundle)
  flags = {'batch_size': batch, 'trigram_blocking': trigram_blocking}
  given = {name: value for name, value in flags.items() if value is not None}
  loaded = load_bundle(bundle)
  if loaded.tokenizer is None:
    raise InputError(f'{bundle} has no tokeniser: it cannot read text.')
  if gin or settings:
    config = _from_gin(gin, settings, given)
  else:
    config = loaded.decoding or default_config(loaded.config)
    config = dataclasses.replace(config, **given)
  predictor = Predictor(
    loaded.config,
    loaded.variables['params'],
    config,
    inference_buckets(loaded.config),
  )
  with counted(f'Summaries of {source.name}') as advance:
    report = write_summaries(
      source,
      target,
      predictor,
      loaded.tokenizer,
      fingerprint=digest_folder(bundle),
      on_progress=advance,
    )
  print(f'{target}: {report.summaries} summaries, {report.errors} errors')
  if report.errors:
    raise typer.Exit(1)


def _from_gin(
  files: list[Path], settings: list[str], flags: dict[str, Any]
) -> 'PredictConfig':
  from stepwise.inference import PredictConfig
  from stepwise.training import load_gin

  given = [f'PredictConfig.{name}={value}' for name, value in flags.items()]
  return load_gin(PredictConfig, files, [*given, *settings])
