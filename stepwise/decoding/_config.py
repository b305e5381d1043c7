"""What a search may choose, how widely it looks and when it ends."""

import dataclasses

from stepwise._errors import InputError


@dataclasses.dataclass(frozen=True)
class DecodeConfig:
  """Static settings of `beam_search`; hashable, so jit compiles once for each.

  The paper's news setting is `DecodeConfig(max_units=4, beam_size=3,
  stop_unit=0, never=(1,))`, units starting with `[EOT, BEG]`.

  Attributes:
    max_units: a plan with this many units is complete. Counts the units of an
      initial plan, never the stop.
    min_units: the stop is masked while the plan is shorter. The default keeps
      plans from being empty.
    beam_size: hypotheses kept. 1 is greedy search: the argmax at every step.
    stop_unit: the unit that ends a plan and is not part of it; None if plans
      end only when complete.
    never: units that are read but never chosen and have no share of the
      softmax, such as BEG.
    length_alpha: hypotheses are compared by the sum of their log-probabilities
      divided by (number of terms) ** length_alpha. 0 compares products of
      probabilities, 1 their geometric means.
    stages: scans that the steps after the first are divided into. With one,
      the default, `score` always reads all slots of a plan. With more, it reads
      only the slots that can be filled by the end of the stage, so a model
      whose work grows with the slots saves what early steps do not need. Every
      stage is compiled by itself: a few for short plans, one for long ones.
  """

  max_units: int
  min_units: int = 1
  beam_size: int = 1
  stop_unit: int | None = None
  never: tuple[int, ...] = ()
  length_alpha: float = 0.0
  stages: int = 1

  def __post_init__(self):
    _require(self.max_units >= 1, 'max_units', self.max_units, 'at least 1')
    _require(
      0 <= self.min_units <= self.max_units,
      'min_units',
      self.min_units,
      f'between 0 and max_units={self.max_units}',
    )
    _require(self.beam_size >= 1, 'beam_size', self.beam_size, 'at least 1')
    _require(
      self.length_alpha >= 0, 'length_alpha', self.length_alpha, 'at least 0'
    )
    _require(
      1 <= self.stages <= max(1, self.max_units - 1),
      'stages',
      self.stages,
      f'between 1 and the {self.max_units - 1} steps after the first',
    )
    _require(
      self.stop_unit not in self.never,
      'stop_unit',
      self.stop_unit,
      f'none of never={self.never}',
    )


def _require(ok: bool, name: str, value: object, needed: str) -> None:
  if not ok:
    raise InputError(f'{name} is {value} but must be {needed}')
