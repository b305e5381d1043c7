"""`stepwise infer`: summaries of a whole file by a trained model."""

import dataclasses
import enum
from functools import partial
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
from stepwise.cli._runner import (
  PartSize,
  Runner,
  describe_job,
  is_remote,
  runner_options,
)

if TYPE_CHECKING:
  from stepwise.beam import Summarize
  from stepwise.summarization import BulkReport, Summarizer

BundleArgument = Annotated[
  str,
  typer.Argument(
    metavar='BUNDLE',
    help='Folder of a trained model, or a name that `summarize --model` takes, '
    'such as default.',
  ),
]


class Products(enum.StrEnum):
  auto = 'auto'
  float32 = 'float32'
  bfloat16 = 'bfloat16'


ProductsOption = Annotated[
  Products,
  typer.Option(
    help='Precision of the inputs of matrix products; their sums are float32. '
    'Default: the faster one on this machine.'
  ),
]
Source = Annotated[
  str, typer.Argument(metavar='IN', help='Documents: JSON lines.')
]
Target = Annotated[
  str, typer.Argument(metavar='OUT', help='JSON lines to write.')
]


def infer(
  context: typer.Context,
  bundle: BundleArgument,
  source: Source,
  target: Target,
  sentences: Sentences = None,
  words: Words = None,
  batch: Batch = None,
  trigram_blocking: TrigramBlocking = None,
  sequence: Sequence = None,
  products: ProductsOption = Products.auto,
  gin: GinFiles = [],  # noqa: B006, typer copies it.
  settings: Settings = [],  # noqa: B006
  runner: Runner = None,
  part_size: PartSize = None,
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
    SummaryOptions,
    bulk_settings,
    write_summaries,
  )

  beam_options = runner_options(context, runner, part_size)
  load = partial(load_chosen, bundle, gin, settings, sequence, products.value)
  summarizer = load()
  wishes = SummaryOptions(
    number_or_text(sentences), words, trigram_blocking=trigram_blocking
  )
  options, batch_size = bulk_settings(summarizer, wishes, batch)
  config = getattr(summarizer, 'config', None)
  made_by = {'model': _digest(bundle), 'options': repr((config, options))}
  if products is not Products.auto:
    made_by['products'] = products.value
  if beam_options is not None:
    from stepwise.beam import Summarize

    transform = Summarize(load, wishes, batch_size=batch)
    report = _infer_on_runner(
      (source, target), transform, beam_options, made_by, part_size
    )
  else:
    with counted(f'Summaries of {Path(source).name}') as advance:
      report = write_summaries(
        source,
        target,
        summarizer,
        options,
        made_by=made_by,
        batch_size=batch_size,
        on_progress=advance,
      )
  print(f'{target}: {report.summaries} summaries, {report.errors} errors')
  if report.warned:
    warn([f'{report.warned} lines of {target} have warnings.'])
  if report.errors:
    raise typer.Exit(1)


def _infer_on_runner(
  files: tuple[str, str],
  transform: 'Summarize',
  beam_options: Any,
  made_by: dict[str, str],
  part_size: int | None,
) -> 'BulkReport':
  from stepwise.beam import PART_SIZE, ReadParts, run_job
  from stepwise.summarization import BulkReport

  done = run_job(
    *files,
    ReadParts() | transform,
    beam_options,
    made_by=made_by,
    part_size=part_size or PART_SIZE,
  )
  print(describe_job(done))
  return BulkReport(**done.counts)


def load_chosen(
  bundle: str,
  gin: list[Path],
  settings: list[str],
  sequence: int | None,
  products: str = 'auto',
) -> 'Summarizer':
  """The summarizer that the command line asks for, here or in a worker."""
  if is_remote(bundle):
    from stepwise.beam import load_model

    summarizer = load_model(bundle)
  else:
    from stepwise.summarization import load_summarizer

    summarizer = load_summarizer(bundle)
  if gin or settings:
    from stepwise.inference import PredictConfig
    from stepwise.training import load_gin

    config = load_gin(PredictConfig, gin, settings)
    summarizer = _changed(summarizer, '--gin and --set are', config=config)
  if sequence:
    from stepwise.layers import make_mesh

    mesh = make_mesh(1, sequence=sequence)
    summarizer = _changed(summarizer, '--sequence is', mesh=mesh)
  if products != Products.auto.value:
    summarizer = _changed(summarizer, '--products is', products=products)
  return summarizer


def _changed(
  summarizer: 'Summarizer', options: str, **changes: Any
) -> 'Summarizer':
  from stepwise.summarization import ModelSummarizer

  if not isinstance(summarizer, ModelSummarizer):
    raise InputError(
      f'{summarizer.name} is no trained model: {options} for these.'
    )
  return dataclasses.replace(summarizer, **changes)


def _digest(bundle: str) -> str:
  """Tells a model from all others: a name, and what is in its folder."""
  from stepwise.summarization import RANKERS, digest_folder, model_folder

  if bundle in RANKERS or is_remote(bundle):
    return bundle
  return f'{bundle} {digest_folder(model_folder(bundle))}'
