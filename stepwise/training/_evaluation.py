"""Measuring a model during training."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from stepwise._errors import InputError
from stepwise.documents import read_documents
from stepwise.evaluation import KINDS, MEASURES, rouge_scores
from stepwise.inference import PredictConfig, Predictor, Reading
from stepwise.training._input import Examples, Labelled
from stepwise.training._models import Selector

# Takes the parameters as numpy arrays, returns named numbers.
Evaluator = Callable[[Any], dict[str, float]]


def mean_loss(
  sums_of: Callable[[Any, Any], Any], params: Any, batches: Iterable[Any]
) -> dict[str, float]:
  """Mean loss and accuracy over all terms of all batches.

  Args:
    sums_of: `(params, batch) -> LossSums`, without dropout.
    params: of the model.
    batches: on the devices.
  """
  total = np.zeros(3)
  for batch in batches:
    total += np.array(jax.device_get(sums_of(params, batch)), float)
  loss, weight, correct = total
  return {
    'validation/loss': loss / max(weight, 1),
    'validation/accuracy': correct / max(weight, 1),
  }


def rouge_evaluator(
  model: Selector,
  labelled: Sequence[Labelled],
  documents: str,
  config: PredictConfig,
) -> Evaluator:
  """Mean ROUGE F1 (0 to 100) of decoded summaries.

  Args:
    model: configuration of the model.
    labelled: validation records.
    documents: the file they were built from, with reference summaries.
    config: how to decode.
  """
  readings = _readings(labelled, documents)
  buckets = Examples(labelled, 'all').buckets

  def evaluate(params: Any) -> dict[str, float]:
    chosen = Predictor(model, params, config, buckets)(readings)
    scores = rouge_scores(
      [
        [reading.document.units[unit] for unit in units]
        for reading, units in zip(readings, chosen, strict=True)
      ],
      [reading.document.summary for reading in readings],
    )
    f1 = 100 * scores.mean(axis=0)[:, MEASURES.index('f1')]
    return {
      f'validation/{kind}': float(score)
      for kind, score in zip(KINDS, f1, strict=True)
    }

  return evaluate


def _readings(labelled: Sequence[Labelled], documents: str) -> list[Reading]:
  by_id = {
    document.id: document
    for document in read_documents(documents, on_error=lambda bad: None)
  }
  readings = []
  for record, _ in labelled:
    if record.id not in by_id:
      raise InputError(
        f'{documents} has no document {record.id!r} of the validation records.'
      )
    readings.append(Reading(by_id[record.id], record))
  return readings
