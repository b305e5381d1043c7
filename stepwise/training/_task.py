"""What a run trains; the loop knows nothing else about models and data."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import grain
from flax import linen as nn

from stepwise.models import Batch, build_model
from stepwise.training._config import TrainConfig
from stepwise.training._evaluation import Evaluator, rouge_evaluator
from stepwise.training._input import (
  Arrays,
  load_labelled,
  open_batches,
  training_examples,
  validation_batches,
)
from stepwise.training._models import (
  Loss,
  body,
  dummy_batch,
  loss_of,
  resolve_model,
)


@dataclass(frozen=True)
class Validation:
  """What a model is measured on.

  Attributes:
    batches: makes all of them, for the loss.
    evaluators: of more metrics.
  """

  batches: Callable[[], Iterable[Arrays]]
  evaluators: Sequence[Evaluator] = ()


@dataclass(frozen=True)
class Task:
  """A model, its loss, and where its batches come from.

  Attributes:
    model: the configuration.
    module: built from it.
    embed: its width, which a schedule may depend on.
    loss: `(params, batch, rng) -> LossSums`; no rng means no dropout.
    dummy: makes the smallest arguments of the module, to initialise it.
    batch: the named tuple that arrays of a batch become.
    open_input: an iterator over training batches, with `get_state` and
      `set_state`; reads the examples.
    open_validation: reads those of validation; None if there are none.
  """

  model: Any
  module: nn.Module
  embed: int
  loss: Loss
  dummy: Callable[[], tuple[Any, ...]]
  batch: Any
  open_input: Callable[[], grain.DatasetIterator[Arrays]]
  open_validation: Callable[[], Validation | None]


def selector_task(config: TrainConfig) -> Task:
  """Training a model to choose units of records."""
  model = resolve_model(config.model)
  module = build_model(model)

  def open_input() -> grain.DatasetIterator[Arrays]:
    examples = training_examples(config.input, model)
    return open_batches(
      examples, config.input, seed=config.seed, steps=config.steps
    )

  def open_validation() -> Validation | None:
    evaluation = config.evaluation
    if evaluation.validation is None:
      return None
    labelled = load_labelled(evaluation.validation, model)
    batch_size = evaluation.batch_size or config.input.batch_size
    evaluators = []
    if evaluation.documents is not None:
      documents, predict = evaluation.documents, evaluation.predict
      evaluators = [rouge_evaluator(model, labelled, documents, predict)]
    return Validation(
      lambda: validation_batches(labelled, config.input.examples, batch_size),
      evaluators,
    )

  return Task(
    model=model,
    module=module,
    embed=body(model).embed,
    loss=loss_of(model, module, config.positive_weight),
    dummy=lambda: (dummy_batch(),),
    batch=Batch,
    open_input=open_input,
    open_validation=open_validation,
  )
