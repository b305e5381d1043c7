"""`stepwise train-value`: learn what whole summaries are worth."""

import dataclasses
import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepwise._errors import InputError
from stepwise.cli._options import Seed
from stepwise.cli._output import warn
from stepwise.cli._progress import counted

if TYPE_CHECKING:
  from stepwise.checkpoints import Bundle
  from stepwise.inference import Reading

# Documents between two writes: a killed run repeats no more than these.
_CHUNK = 512

BundleFolder = Annotated[
  Path, typer.Argument(metavar='BUNDLE', help='A stepwise HiBERT.')
]
Documents = Annotated[
  Path,
  typer.Argument(
    exists=True,
    dir_okay=False,
    help='With summaries, that the model was not trained on.',
  ),
]
Output = Annotated[
  Path, typer.Argument(help='Folder to write: what was read, and bundle/.')
]
Most = Annotated[
  int | None,
  typer.Option('--documents', min=1, help='Read no more than these.'),
]


def train_value(
  bundle: BundleFolder,
  documents: Documents,
  output: Output,
  most: Most = None,
  seed: Seed = 0,
) -> None:
  """Learns to tell which sentences make the best summary together.

  The model reads every document once; the ten sentences that it likes most
  are kept, with ROUGE of all sets of two to four of them. Which words a summary
  has, and the value of a set, are learnt from these and become part of the
  bundle: where so many sentences are asked for, the best set is chosen. The
  same command continues a run that was killed.
  """
  from stepwise.checkpoints import bundle_tokenizer, load_bundle, save_bundle
  from stepwise.training import ValueTraining, fit_plan_value, load_pools

  source = load_bundle(bundle)
  valued = _with_value(source)
  folder = output / _pools_name(bundle, documents, most)
  pools = _read_all(valued, documents, folder, most)
  if not pools:
    raise InputError(f'{documents}: no document has a summary to learn from.')
  config: Any = valued.config
  print(f'{folder}: learning from {len(pools)} files of pools')
  training = ValueTraining(seed=seed)
  learnt = fit_plan_value(config.plan_value, load_pools(pools), training)
  sizes = config.plan_value.sizes
  decoding = valued.decoding
  assert decoding is not None, '_with_value'
  decode = dataclasses.replace(
    decoding.decode, min_units=min(sizes), max_units=max(sizes)
  )
  save_bundle(
    output / 'bundle',
    config,
    {**source.variables['params'], 'plan_value': learnt},
    tokenizer=bundle_tokenizer(source, bundle),
    decoding=dataclasses.replace(decoding, decode=decode),
  )
  print(f'{output / "bundle"}: the model with its value')


def _pools_name(bundle: Path, documents: Path, most: int | None) -> str:
  """Of a folder for pools: what was read from other files is never mixed."""
  from stepwise.summarization import digest_folder

  digest = hashlib.sha256(f'{digest_folder(bundle)} {most} '.encode())
  with documents.open('rb') as stream:
    while block := stream.read(1 << 20):
      digest.update(block)
  return f'pools-{digest.hexdigest()[:12]}'


def _with_value(source: 'Bundle') -> 'Bundle':
  """The model with room for a value, whose weights are still missing."""
  from stepwise.inference import default_config
  from stepwise.models import HiBERTConfig

  if not isinstance(source.config, HiBERTConfig) or not source.config.stepwise:
    raise InputError(
      f'{source.name} is no stepwise HiBERT: only that reads a document once'
      ' for any number of plans.'
    )
  config = source.config.with_value()
  decoding = source.decoding or default_config(config)
  return source._replace(config=config, model=config.build(), decoding=decoding)


def _read_all(
  bundle: 'Bundle', documents: Path, folder: Path, most: int | None
) -> list[Path]:
  """Files of pools; those that are there already are not read again."""
  from stepwise.inference import Predictor, inference_buckets
  from stepwise.training import save_pools, value_documents

  assert bundle.decoding is not None, '_with_value'
  predictor = Predictor(
    bundle.config,
    bundle.variables['params'],
    bundle.decoding,
    inference_buckets(bundle.config),
  )
  paths = []
  with counted(f'Documents of {documents.name}') as advance:
    readings = _readings(bundle, documents, most)
    chunks = iter(lambda: list(islice(readings, _CHUNK)), [])
    for number, chunk in enumerate(chunks):
      path = folder / f'{number:05}.npz'
      if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        save_pools(path, value_documents(predictor, chunk))
      paths.append(path)
      advance(len(chunk))
  return paths


def _readings(
  bundle: 'Bundle', documents: Path, most: int | None
) -> Iterator['Reading']:
  from stepwise.documents import read_documents
  from stepwise.inference import Reading, read_document

  assert bundle.tokenizer is not None, 'a HiBERT of texts'

  def tell(bad: Any) -> None:
    warn([f'{bad}'])

  known = (d for d in read_documents(documents, on_error=tell) if d.summary)
  for document in islice(known, most):
    record = read_document(
      document, bundle.tokenizer, bundle.config, reference=True
    )
    yield Reading(document, record)
