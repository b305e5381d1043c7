"""`stepwise infer`: summaries of a whole file by a trained model."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._options import (
  Batch,
  GinFiles,
  Sentences,
  Sequence,
  Settings,
  TrigramBlocking,
  Words,
  number_or_text,
)
from stepwise.cli._output import warn
from stepwise.cli._progress import counted

if TYPE_CHECKING:
  from stepwise.summarization import Summarizer

BundleArgument = Annotated[
  str,
  typer.Argument(
    metavar='BUNDLE',
    help='Folder of a trained model, or a name that `summarize --model` takes, '
    'such as default.',
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
  sentences: Sentences = None,
  words: Words = None,
  batch: Batch = None,
  trigram_blocking: TrigramBlocking = None,
  sequence: Sequence = None,
  gin: GinFiles = [],  # noqa: B006, typer copies it.
  settings: Settings = [],  # noqa: B006
) -> None:
  """Summarise every line of a file, in its order.

  The model chooses as its bundle says, unless a length, gin files or --set are
  given.
  Documents are read whole, whatever their length; what a model cannot read is
  in `warnings` of the line. A line that holds no document becomes a line with
  its number and an error; the exit code is then 1. The same command continues a
  run that was killed.
  """
  from stepwise.summarization import (
    ModelSummarizer,
    SummaryOptions,
    load_summarizer,
    write_summaries,
  )

  summarizer = load_summarizer(bundle)
  if gin or settings:
    summarizer = _with_gin(summarizer, gin, settings)
  if sequence:
    summarizer = _spread(summarizer, sequence)
  config = getattr(summarizer, 'config', None)
  # Sentences of a plan come in its order.
  plans = isinstance(summarizer, ModelSummarizer) and summarizer.model.stepwise
  options = SummaryOptions(
    number_or_text(sentences),
    words,
    order='selection' if plans else 'document',
    trigram_blocking=trigram_blocking,
  )
  with counted(f'Summaries of {source.name}') as advance:
    report = write_summaries(
      source,
      target,
      summarizer,
      options,
      made_by={'model': _digest(bundle), 'options': repr((config, options))},
      batch_size=batch or (config.batch_size if config else 1),
      on_progress=advance,
    )
  print(f'{target}: {report.summaries} summaries, {report.errors} errors')
  if report.warned:
    warn([f'{report.warned} lines of {target} have warnings.'])
  if report.errors:
    raise typer.Exit(1)


def _digest(bundle: str) -> str:
  """Tells a model from all others: a name, and what is in its folder."""
  from stepwise.summarization import RANKERS, digest_folder, model_folder

  if bundle in RANKERS:
    return bundle
  return f'{bundle} {digest_folder(model_folder(bundle))}'


def _with_gin(
  summarizer: 'Summarizer', files: list[Path], settings: list[str]
) -> 'Summarizer':
  from stepwise.inference import PredictConfig
  from stepwise.summarization import ModelSummarizer
  from stepwise.training import load_gin

  if not isinstance(summarizer, ModelSummarizer):
    raise InputError(
      f'{summarizer.name} is no trained model: --gin and --set are for these.'
    )
  config: Any = load_gin(PredictConfig, files, settings)
  return dataclasses.replace(summarizer, config=config)


def _spread(summarizer: 'Summarizer', devices: int) -> 'Summarizer':
  from stepwise.layers import make_mesh
  from stepwise.summarization import ModelSummarizer

  if not isinstance(summarizer, ModelSummarizer):
    raise InputError(
      f'{summarizer.name} is no trained model: --sequence is for these.'
    )
  mesh = make_mesh(1, sequence=devices)
  return dataclasses.replace(summarizer, mesh=mesh)
