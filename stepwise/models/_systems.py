"""Every row of the paper's Table 1 as one name, and how it chooses units."""

from dataclasses import dataclass

from stepwise._errors import InputError
from stepwise.decoding import (
  DecodeConfig,
)
from stepwise.models._baselines import (
  LeadConfig,
  OracleConfig,
)
from stepwise.models._config import ModelConfig, find_config

# Units of news begin with [EOT, BEG].
EOT = 0
BEG = 1
NEWS_DECODING = DecodeConfig(
  max_units=4, beam_size=3, stop_unit=EOT, never=(BEG,)
)
TOP_K = 3

Scores = tuple[float, float, float]


@dataclass(frozen=True)
class System:
  """A way to summarise a document.

  Attributes:
    name: of the registry.
    title: as in the paper's Table 1.
    config: the named configuration it is built from; None for baselines.
    stepwise: whether it searches for a plan, or takes the best units at once.
    trigram_blocking: never choose a unit that shares a trigram with the plan.
    published: ROUGE-1, -2, -L on the CNN/DailyMail test split, in the paper.
  """

  name: str
  title: str
  config: str | None
  stepwise: bool
  trigram_blocking: bool = False
  published: Scores | None = None

  @property
  def model(self) -> ModelConfig:
    """What it chooses with."""
    if self.config is None:
      return _BASELINES[self.name]
    config = find_config(self.config)
    return config if self.stepwise else config.twin()


_BASELINES: dict[str, ModelConfig] = {
  'lead': LeadConfig(),
  'oracle_512': OracleConfig(max_tokens=512),
  'oracle': OracleConfig(),
}


def _pair(
  name: str,
  title: str,
  config: str,
  stepwise: bool,
  plain: Scores,
  blocked: Scores,
) -> list[System]:
  """A model without and with trigram blocking."""
  shared = {'config': config, 'stepwise': stepwise}
  return [
    System(name, title, published=plain, **shared),
    System(
      f'{name}_triblk',
      f'{title}+TriBlk',
      trigram_blocking=True,
      published=blocked,
      **shared,
    ),
  ]


_SYSTEMS = [
  System('lead', 'Lead', None, False, published=(40.42, 17.62, 36.67)),
  System(
    'oracle_512',
    'Oracle (512)',
    None,
    True,
    published=(52.59, 31.24, 48.87),
  ),
  System(
    'oracle', 'Oracle (Full)', None, True, published=(57.82, 35.05, 53.99)
  ),
  *_pair(
    'bertsum',
    'BERTSum',
    'bertsum_base',
    False,
    (41.55, 19.34, 37.80),
    (42.70, 19.93, 38.89),
  ),
  *_pair(
    'robertasum',
    'RoBERTaSum',
    'robertasum_base',
    False,
    (42.99, 20.60, 39.21),
    (43.30, 20.58, 39.48),
  ),
  *_pair(
    'hibert',
    'HiBERT',
    'hibert_cnndm',
    False,
    (41.43, 19.23, 37.73),
    (42.37, 19.68, 38.63),
  ),
  *_pair(
    'etcsum',
    'ETCSum',
    'etcsum_base',
    False,
    (42.67, 20.27, 38.90),
    (43.43, 20.54, 39.58),
  ),
  *_pair(
    'stepwise_robertasum',
    'Stepwise RoBERTaSum',
    'stepwise_robertasum_base',
    True,
    (41.99, 19.78, 37.76),
    (41.50, 19.48, 37.25),
  ),
  *_pair(
    'stepwise_hibert',
    'Stepwise HiBERT',
    'hibert_cnndm',
    True,
    (41.98, 19.53, 38.32),
    (42.12, 19.45, 38.43),
  ),
  *_pair(
    'stepwise_etcsum',
    'Stepwise ETCSum',
    'etcsum_base',
    True,
    (43.84, 20.80, 39.77),
    (43.23, 20.30, 39.15),
  ),
]
SYSTEMS: dict[str, System] = {system.name: system for system in _SYSTEMS}


def find_system(name: str) -> System:
  """The system of that name."""
  if name not in SYSTEMS:
    raise InputError(
      f'no system is named {name!r}, there are {", ".join(SYSTEMS)}.'
    )
  return SYSTEMS[name]
