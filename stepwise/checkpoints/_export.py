"""A bundle in another precision, or with another way to choose."""

import os
from pathlib import Path

from stepwise.checkpoints._bundle import (
  OTHER_FILES,
  WeightDType,
  bundle_tokenizer,
  card_text,
  load_bundle,
  save_bundle,
)
from stepwise.inference import PredictConfig


def export(
  source: str | os.PathLike[str],
  out: str | os.PathLike[str],
  *,
  dtype: WeightDType = 'float32',
  decoding: PredictConfig | None = None,
  card: str | None = None,
) -> None:
  """Writes a bundle again; its tokeniser and other files go along.

  Args:
    source: a bundle.
    out: the new one, which may be the same folder.
    dtype: of the stored weights.
    decoding: how the model chooses; None = as the source says.
    card: Markdown of the new card; None = that of the source.
  """
  bundle = load_bundle(source)
  save_bundle(
    out,
    bundle.config,
    bundle.variables['params'],
    tokenizer=bundle_tokenizer(bundle, Path(source)),
    card=card_text(source) if card is None else card,
    dtype=dtype,
    decoding=decoding or bundle.decoding,
    files={
      name: path.read_text(encoding='utf-8')
      for name in OTHER_FILES
      if (path := Path(source) / name).is_file()
    },
  )
