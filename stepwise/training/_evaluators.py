"""What a run measures besides its loss: ROUGE of summaries, AUC of next units.

Every process decodes its share of the documents, on its own devices.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from stepwise._errors import InputError
from stepwise._typing import Float
from stepwise.data import Buckets, stepwise_examples
from stepwise.documents import read_documents
from stepwise.evaluation import KINDS, MEASURES, rouge_scores
from stepwise.inference import PredictConfig, Predictor, Reading
from stepwise.models import ModelConfig
from stepwise.training._config import AUC
from stepwise.training._input import Labelled
from stepwise.training._processes import sum_of_processes

# Takes the parameters as numpy arrays, returns named numbers.
Evaluator = Callable[[Any], dict[str, float]]


def rouge_evaluator(
  model: ModelConfig,
  labelled: Sequence[Labelled],
  documents: str,
  config: PredictConfig,
  buckets: Buckets,
  mesh: Mesh | None = None,
) -> Evaluator:
  """Mean F1 of ROUGE-1.5.5 (0 to 100) of decoded summaries.

  Args:
    model: configuration of the model.
    labelled: validation records.
    documents: the file they were built from, with reference summaries.
    config: how to decode.
    buckets: sizes of batches.
    mesh: devices of a process that share its batches; None = one.
  """
  readings = _readings(labelled, documents)
  own = _own_share(readings)

  def evaluate(params: Any) -> dict[str, float]:
    chosen = Predictor(model, params, config, buckets, mesh=mesh)(own)
    scores = rouge_scores(
      [
        [reading.document.units[unit] for unit in units]
        for reading, units in zip(own, chosen, strict=True)
      ],
      [reading.document.summary for reading in own],
    )
    f1 = scores[:, :, MEASURES.index('f1')].sum(axis=0)
    f1 = 100 * sum_of_processes(f1) / len(readings)
    return {
      f'validation/{kind}': float(score)
      for kind, score in zip(KINDS, f1, strict=True)
    }

  return evaluate


def auc_evaluator(
  model: ModelConfig,
  labelled: Sequence[Labelled],
  config: PredictConfig,
  buckets: Buckets,
  mesh: Mesh | None = None,
) -> Evaluator:
  """How well the next unit of the oracle is told from all others.

  At every step, the stop included, the model has read the oracle so far; the
  area under the ROC curve of one right unit is the share of the other
  candidates that are less probable. The mean is over all steps.

  Args:
    model: configuration of the model, a stepwise one.
    labelled: validation records.
    config: which units are no candidates, and rows of a batch.
    buckets: sizes of batches.
    mesh: devices of a process that share its batches; None = one.
  """
  if not model.stepwise:
    raise InputError(f'best_metric is {AUC!r}, but the model is not stepwise.')
  own = _own_share(labelled)
  readings = [Reading(None, record) for record, _ in own]
  targets = [
    stepwise_examples(record, oracle)[0]['targets'] for record, oracle in own
  ]

  def evaluate(params: Any) -> dict[str, float]:
    predictor = Predictor(model, params, config, buckets, mesh=mesh)
    plans = [units[:-1].tolist() for units in targets]
    ranked = predictor.rank(readings, plans)
    areas = [
      area_under_curve(row, unit)
      for rows, units in zip(ranked, targets, strict=True)
      for row, unit in zip(rows, units.tolist(), strict=True)
    ]
    total, count = sum_of_processes(np.array([sum(areas), len(areas)]))
    return {AUC: float(total / count)}

  return evaluate


def area_under_curve(
  log_probs: Float[np.ndarray, ' units'], right: int
) -> float:
  """Share of other candidates below the right one; equal ones count half.

  >>> area_under_curve(np.log([0.5, 0.2, 0.2, 0.1]), 1)
  0.5
  """
  others = np.delete(log_probs, right)
  others = others[~np.isneginf(others)]
  if not len(others):
    return 1.0
  below = (others < log_probs[right]).mean()
  return float(below + (others == log_probs[right]).mean() / 2)


def _own_share(items: Sequence[Any]) -> list[Any]:
  share = range(jax.process_index(), len(items), jax.process_count())
  return [items[index] for index in share]


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
