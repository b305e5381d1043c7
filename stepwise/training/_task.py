"""What a run trains; the loop knows nothing else about models and data."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import grain
import jax
import numpy as np
from flax import linen as nn
from jax.sharding import Mesh

from stepwise._errors import InputError
from stepwise._typing import Array
from stepwise.data import Buckets
from stepwise.documents import read_documents
from stepwise.evaluation import KINDS, MEASURES, rouge_scores
from stepwise.inference import PredictConfig, Predictor, Reading
from stepwise.models import Batch, Loss, ModelConfig
from stepwise.training._config import TrainConfig, resolve_model
from stepwise.training._input import (
  Arrays,
  Labelled,
  empty_batch,
  load_labelled,
  open_batches,
  training_examples,
  validation_batches,
  validation_examples,
)
from stepwise.training._mesh import decoding_mesh
from stepwise.training._processes import sum_of_processes
from stepwise.training._step import row_tokens

# Takes the parameters as numpy arrays, returns named numbers.
Evaluator = Callable[[Any], dict[str, float]]


@dataclass(frozen=True)
class Validation:
  """What a model is measured on.

  Attributes:
    batches: makes the given rows of all of them, for the loss.
    evaluators: of more metrics.
  """

  batches: Callable[[np.ndarray], Iterable[Arrays]]
  evaluators: Sequence[Evaluator] = ()


@dataclass(frozen=True)
class TrainingTask:
  """A model, its loss, and where its batches come from.

  Attributes:
    model: the configuration.
    module: built from it.
    embed: its width, which a schedule may depend on.
    loss: `(params, batch, rng) -> LossSums`; no rng means no dropout.
    dummy: makes the smallest arguments of the module, to initialise it.
    batch: the named tuple that arrays of a batch become.
    tokens: real ones of every row of a batch; an empty row has none.
    empty: arrays of a batch without examples, of given tokens and units and so
      many rows.
    open_input: reads the examples; an iterator over the given rows of training
      batches, with `get_state` and `set_state`.
    open_validation: reads those of validation; None if there are none.
  """

  model: Any
  module: nn.Module
  embed: int
  loss: Loss
  dummy: Callable[[], tuple[Any, ...]]
  batch: Any
  tokens: Callable[[Any], Array]
  empty: Callable[[tuple[int, int], int], Arrays]
  open_input: Callable[[np.ndarray], grain.DatasetIterator[Arrays]]
  open_validation: Callable[[], Validation | None]


def selector_task(config: TrainConfig) -> TrainingTask:
  """Training a model to choose units of records."""
  model = resolve_model(config.model)
  if not model.chooses_units:
    raise InputError(
      f'{config.model.name} writes text; it cannot be trained to select.'
    )
  spread = model.spread_length() if config.mesh.sequence > 1 else model
  module = spread.build()

  def open_input(rows: np.ndarray) -> grain.DatasetIterator[Arrays]:
    examples = training_examples(config.input, model)
    return open_batches(
      examples, config.input, seed=config.seed, steps=config.steps, rows=rows
    )

  def open_validation() -> Validation | None:
    evaluation = config.evaluation
    if evaluation.validation is None:
      return None
    labelled = load_labelled(evaluation.validation, model)
    examples = validation_examples(labelled, config.input)
    size = config.validation_batch
    evaluators = []
    if evaluation.documents is not None:
      documents, predict = evaluation.documents, evaluation.predict
      evaluators = [
        rouge_evaluator(
          *(model, labelled, documents, predict, examples.buckets),
          decoding_mesh(config.mesh),
        )
      ]
    return Validation(
      lambda rows: validation_batches(examples, size, rows), evaluators
    )

  return TrainingTask(
    model=model,
    module=module,
    embed=model.embed,
    loss=model.loss(module, positive_weight=config.positive_weight),
    dummy=model.smallest_inputs,
    batch=Batch,
    tokens=row_tokens,
    empty=lambda size, rows: empty_batch(
      config.input, size, rows, stepwise=model.stepwise
    ),
    open_input=open_input,
    open_validation=open_validation,
  )


def rouge_evaluator(
  model: ModelConfig,
  labelled: Sequence[Labelled],
  documents: str,
  config: PredictConfig,
  buckets: Buckets,
  mesh: Mesh | None = None,
) -> Evaluator:
  """Mean F1 of ROUGE-1.5.5 (0 to 100) of decoded summaries.

  Every process decodes its share of the documents, on its own devices.

  Args:
    model: configuration of the model.
    labelled: validation records.
    documents: the file they were built from, with reference summaries.
    config: how to decode.
    buckets: sizes of batches.
    mesh: devices of a process that share its batches; None = one.
  """
  readings = _readings(labelled, documents)
  own = readings[jax.process_index() :: jax.process_count()]

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
