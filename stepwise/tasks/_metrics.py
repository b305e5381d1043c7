"""Selected units as text, and ROUGE, in the forms that SeqIO calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepwise._errors import InputError
from stepwise.evaluation import (
  KINDS,
  MEASURES,
  bootstrap_interval,
  rouge_scores,
)
from stepwise.tasks._documents import summary_sentences


@dataclass(frozen=True)
class SelectedText:
  """A postprocessor: sentences of the document for the units of a prediction.

  Sentences are verbatim and in the order of the prediction; -1 is an empty
  slot. The reference is given as its sentences.

  Attributes:
    stop: the unit that ends a prediction; None if there is no such unit.
  """

  stop: int | None

  def __call__(
    self, output: Any, *, example: Mapping[str, Any], is_target: bool = False
  ) -> list[str]:
    if is_target:
      return summary_sentences(output)
    text = example['inputs_pretokenized'].decode()
    spans = example['spans']
    units = self._before_stop([int(unit) for unit in output if unit >= 0])
    if max(units, default=0) >= len(spans):
      raise InputError(
        f'a prediction has unit {max(units)} but document '
        f'{example["id"].decode()!r} has {len(spans)} units.'
      )
    # The span of a special unit is empty: it has no text.
    chosen = [spans[unit] for unit in units]
    return [text[start:end] for start, end in chosen if start < end]

  def _before_stop(self, units: list[int]) -> list[int]:
    return units[: units.index(self.stop)] if self.stop in units else units


def rouge_metric(
  targets: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]]
) -> dict[str, float]:
  """F1 in percent with its 95 % interval.

  For every one of `KINDS`, `rouge1` and so on, there is `rouge1`, `rouge1_low`
  and `rouge1_high`.
  """
  f1 = 100 * rouge_scores(predictions, targets)[..., MEASURES.index('f1')]
  metrics = {}
  for column, kind in enumerate(KINDS):
    interval = bootstrap_interval(f1[:, column])
    metrics[kind] = interval.mean
    metrics[f'{kind}_low'] = interval.low
    metrics[f'{kind}_high'] = interval.high
  return metrics
