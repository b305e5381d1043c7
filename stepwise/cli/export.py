"""`stepwise export`: a bundle, smaller or with another way to choose."""

from pathlib import Path
from typing import Annotated

import typer

from stepwise._errors import InputError
from stepwise.cli._options import Beams, TrigramBlocking
from stepwise.cli.convert import DType, Precision

Source = Annotated[Path, typer.Argument(metavar='BUNDLE', help='A bundle.')]
Target = Annotated[
  Path, typer.Argument(metavar='OUT', help='The folder to write.')
]
MaxSentences = Annotated[
  int | None, typer.Option(min=1, help='Most sentences of a summary.')
]
MinSentences = Annotated[
  int | None, typer.Option(min=1, help='Fewest sentences of a summary.')
]
Card = Annotated[
  Path | None, typer.Option(help='Markdown for the card; default: the old one.')
]


def export(
  bundle: Source,
  out: Target,
  precision: DType = Precision.float32,
  max_sentences: MaxSentences = None,
  min_sentences: MinSentences = None,
  beams: Beams = None,
  trigram_blocking: TrigramBlocking = None,
  card: Card = None,
) -> None:
  """Write a bundle again: smaller, or with other defaults of choosing.

  Models that are not stepwise always choose --max-sentences, as far as there
  are.
  """
  from stepwise.checkpoints import export as run

  given = {
    'max_units': max_sentences,
    'min_units': min_sentences,
    'beam_size': beams,
  }
  changes = {name: value for name, value in given.items() if value is not None}
  decoding = None
  if changes or trigram_blocking is not None:
    decoding = _changed(bundle, changes, trigram_blocking)
  text = None if card is None else _read(card)
  run(bundle, out, dtype=precision.value, decoding=decoding, card=text)
  size = sum(path.stat().st_size for path in out.iterdir())
  print(f'Wrote {out}: {precision.value}, {size / 1e6:.1f} MB.')


def _read(card: Path) -> str:
  try:
    return card.read_text(encoding='utf-8')
  except (OSError, UnicodeDecodeError) as error:
    raise InputError(f'--card {card} cannot be read: {error}.') from error


def _changed(bundle: Path, changes: dict, blocking: bool | None):
  import dataclasses

  from stepwise.checkpoints import load_bundle
  from stepwise.inference import default_config

  loaded = load_bundle(bundle)
  config = loaded.decoding or default_config(loaded.config)
  return dataclasses.replace(
    config,
    decode=dataclasses.replace(config.decode, **changes),
    top_k=changes.get('max_units', config.top_k),
    trigram_blocking=(
      config.trigram_blocking if blocking is None else blocking
    ),
  )
