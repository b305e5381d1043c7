"""How models choose units."""

import dataclasses

from stepwise.decoding import DecodeConfig
from stepwise.models import NEWS_DECODING, ModelConfig


@dataclasses.dataclass(frozen=True)
class PredictConfig:
  """How trained models choose units.

  Attributes:
    decode: the search of a stepwise model.
    top_k: units that an extractive model chooses.
    trigram_blocking: never choose a unit that shares a trigram with a chosen
      one.
    batch_size: documents decoded together.
    whole_plans: where a model can tell what whole plans are worth, and a plan
      is to have about as many units as it knows, that one is chosen which is
      worth most; its units are then put in order by the search.
  """

  decode: DecodeConfig = NEWS_DECODING
  top_k: int = 3
  trigram_blocking: bool = False
  batch_size: int = 8
  whole_plans: bool = True


def default_config(model: ModelConfig) -> PredictConfig:
  """The paper's news setting, with the special units of a model."""
  special = model.special_units
  if not special:
    return PredictConfig()
  decode = dataclasses.replace(
    NEWS_DECODING,
    stop_unit=special.index('eot'),
    never=(special.index('beg'),),
  )
  return PredictConfig(decode)
