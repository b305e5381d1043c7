"""`stepwise convert`: a checkpoint or an encoder becomes a bundle."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stepwise.cli._options import Config, Seed


class Precision(StrEnum):
  float32 = 'float32'
  float16 = 'float16'
  int8 = 'int8'


Source = Annotated[
  Path,
  typer.Argument(
    help='A Hugging Face folder of BERT or RoBERTa, a TensorFlow checkpoint of '
    'ETC, or a bundle with the encoder that the model needs.'
  ),
]
Target = Annotated[
  Path, typer.Argument(metavar='OUT', help='The folder to write.')
]
DType = Annotated[
  Precision, typer.Option('--dtype', help='Of the stored weights.')
]


def convert(
  source: Source,
  out: Target,
  config: Config,
  seed: Seed = 0,
  precision: DType = Precision.float32,
) -> None:
  """Start a model from a public checkpoint, ready to be trained."""
  from stepwise.checkpoints import convert as run

  run(source, out, config, seed=seed, dtype=precision.value)
  print(f'Wrote {out}: {config}, started from {source}; its head is untrained.')
