"""`stepwise convert`: a foreign checkpoint becomes a bundle."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Precision(StrEnum):
  float32 = 'float32'
  float16 = 'float16'
  int8 = 'int8'


Source = Annotated[
  Path,
  typer.Argument(
    help='A Hugging Face folder of BERT or RoBERTa, or a TensorFlow '
    'checkpoint of ETC.'
  ),
]
Target = Annotated[
  Path, typer.Argument(metavar='OUT', help='The folder to write.')
]
To = Annotated[
  str, typer.Option(help='A configuration; `stepwise params` lists them.')
]
Seed = Annotated[
  int, typer.Option(min=0, help='Of weights that the source does not have.')
]
DType = Annotated[
  Precision, typer.Option('--dtype', help='Of the stored weights.')
]


def convert(
  source: Source,
  out: Target,
  to: To,
  seed: Seed = 0,
  precision: DType = Precision.float32,
) -> None:
  """Start a model from a public checkpoint, ready to be trained."""
  from stepwise.checkpoints import convert as run

  run(source, out, to, seed=seed, dtype=precision.value)
  print(f'Wrote {out}: {to}, started from {source}; its head is untrained.')
