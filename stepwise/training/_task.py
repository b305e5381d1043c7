"""What a run trains; the loop knows nothing else about models and data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import grain
import jax
import numpy as np
from flax import linen as nn
from jax.sharding import Mesh

from stepwise._errors import InputError
from stepwise._typing import Array
from stepwise.inference import Predictor
from stepwise.models import Batch, Loss, LossSums, ModelConfig
from stepwise.training._config import AUC, TrainConfig, resolve_model
from stepwise.training._evaluators import (
  Evaluator,
  auc_evaluator,
  rouge_evaluator,
)
from stepwise.training._input import (
  Arrays,
  empty_batch,
  load_labelled,
  open_batches,
  training_examples,
  validation_batches,
  validation_examples,
)
from stepwise.training._mesh import decoding_mesh
from stepwise.training._step import JointLoss, row_tokens


@dataclass(frozen=True)
class Validation:
  """What a model is measured on.

  Attributes:
    batches: makes the given rows of all of them, for the loss.
    evaluators: of more metrics.
  """

  batches: Callable[[np.ndarray], Iterable[Arrays]]
  evaluators: Sequence[Evaluator] = ()


class HostProgram(NamedTuple):
  """A program of evaluation that every host runs on documents of its own."""

  rows: int
  traced: jax.stages.Traced


# Takes shapes of the parameters, devices of a host, and tokens and units of
# documents.
TraceHost = Callable[[Any, Mesh, tuple[int, int]], HostProgram]


@dataclass(frozen=True)
class TrainingTask:
  """A model, its loss, and where its batches come from.

  Attributes:
    model: the configuration.
    module: built from it.
    embed: its width, which a schedule may depend on.
    loss: `(params, batch, rng) -> LossSums`; no rng means no dropout. One that
      compares rows of a batch is a `JointLoss`.
    dummy: makes the smallest arguments of the module, to initialise it.
    batch: the named tuple that arrays of a batch become.
    tokens: real ones of every row of a batch; an empty row has none.
    empty: arrays of a batch without examples, of given tokens and units and so
      many rows.
    open_input: reads the examples; an iterator over the given rows of training
      batches, with `get_state` and `set_state`.
    open_validation: reads those of validation; None if there are none.
    host_programs: by name, what evaluation runs besides the loss.
  """

  model: Any
  module: nn.Module
  embed: int
  loss: Loss | JointLoss
  dummy: Callable[[], tuple[Any, ...]]
  batch: Any
  tokens: Callable[[Any], Array]
  empty: Callable[[tuple[int, int], int], Arrays]
  open_input: Callable[[np.ndarray], grain.DatasetIterator[Arrays]]
  open_validation: Callable[[], Validation | None]
  host_programs: Mapping[str, TraceHost] = field(default_factory=dict)


def selector_task(config: TrainConfig) -> TrainingTask:
  """Training a model to choose units of records."""
  model = resolve_model(config.model)
  if not model.chooses_units:
    raise InputError(
      f'{config.model.name} does not choose units: it cannot learn to select.'
    )
  most, slots = model.limits.plan, config.input.plan_steps
  if most is not None and (slots or 0) > most:
    raise InputError(
      f'plan_steps is {slots}, but {config.model.name} reads plans of at most'
      f' {most} units.'
    )
  spread = model.spread_length() if config.mesh.sequence > 1 else model
  longest = config.input.unit_tokens
  module = spread.build_for(longest) if longest else spread.build()

  def open_input(rows: np.ndarray) -> grain.DatasetIterator[Arrays]:
    examples = training_examples(config.input, model)
    return open_batches(
      examples, config.input, seed=config.seed, steps=config.steps, rows=rows
    )

  def open_validation() -> Validation | None:
    evaluation = config.evaluation
    if evaluation.validation is None:
      return None
    labelled = load_labelled(evaluation.validation, model, longest)
    examples = validation_examples(labelled, config.input)
    size = config.validation_batch
    evaluators = []
    how = evaluation.predict, examples.buckets, decoding_mesh(config.mesh)
    if evaluation.documents is not None:
      made = rouge_evaluator(model, labelled, evaluation.documents, *how)
      evaluators.append(made)
    if config.checkpoints.best_metric == AUC:
      evaluators.append(auc_evaluator(model, labelled, *how))
    return Validation(
      lambda rows: validation_batches(examples, size, rows), evaluators
    )

  return TrainingTask(
    model=model,
    module=module,
    embed=model.embed,
    loss=_selector_loss(config, model, module),
    dummy=model.smallest_inputs,
    batch=Batch,
    tokens=row_tokens,
    empty=lambda size, rows: empty_batch(
      config.input, size, rows, stepwise=model.stepwise
    ),
    open_input=open_input,
    open_validation=open_validation,
    host_programs=_host_programs(config, model),
  )


def _selector_loss(
  config: TrainConfig, model: ModelConfig, module: nn.Module
) -> Loss:
  """What is learnt; measured, without rng, are next units at all steps."""
  weight = config.positive_weight
  measured = model.loss(module, positive_weight=weight)
  if config.learns_as_measured:
    return measured
  learnt = model.loss(
    module,
    positive_weight=weight,
    sample=config.drawn_steps,
    stages=config.drawn_stages,
    rest_share=config.rest_share,
    stop_odds=config.stop_odds,
  )

  def loss(params: Any, batch: Batch, rng: Array | None = None) -> LossSums:
    if rng is None:
      return measured(params, batch)
    return learnt(params, batch, rng)

  return loss


def _host_programs(
  config: TrainConfig, model: ModelConfig
) -> dict[str, TraceHost]:
  """The search, and where checkpoints are chosen by AUC its program, too."""

  def predictor(params: Any, mesh: Mesh) -> Predictor:
    buckets = config.input.buckets
    assert buckets is not None, 'dry_run'
    predict, products = config.evaluation.predict, config.model.products
    return Predictor(model, params, predict, buckets, products, mesh)

  def search(params: Any, mesh: Mesh, size: tuple[int, int]) -> HostProgram:
    made = predictor(params, mesh)
    return HostProgram(made.batch_size, made.trace(size))

  def rank(params: Any, mesh: Mesh, size: tuple[int, int]) -> HostProgram:
    made, steps = predictor(params, mesh), config.input.plan_steps or 1
    return HostProgram(made.batch_size, made.trace_ranking(size, steps))

  found: dict[str, TraceHost] = {'prediction': search}
  if config.checkpoints.best_metric == AUC:
    found['ranking'] = rank
  return found
