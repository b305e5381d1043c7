"""The models as t5x drives them: `t5x.train`, `t5x.eval` and `t5x.infer`.

The files in `gin/t5x` bind everything here; nothing of t5x is changed. Tasks
are those of `stepwise.tasks`, which this module registers.
"""

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

try:
  from t5x import (  # pyright: ignore
    decoding,
    losses,
    metrics,
    models,
    optimizers,
    partitioning,
  )
except ImportError as error:
  raise ImportError(
    f'stepwise.t5x_adapter needs t5x ({error}), which the package index does '
    "not have: pip install 'stepwise[tasks]' && pip install --no-deps -r "
    'requirements-t5x.txt'
  ) from error

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import seqio
from clu import metrics as clu_metrics
from etils import epath
from flax import linen as nn
from flax.traverse_util import flatten_dict, unflatten_dict
from jax.experimental import mesh_utils
from jax.sharding import Mesh, PartitionSpec

from stepwise._errors import InputError
from stepwise._typing import Array, Float, Int
from stepwise.decoding import DecodeConfig
from stepwise.inference import decode, document_order
from stepwise.layers import (
  DEFAULT_RULES,
  EncoderDecoder,
  KeyValues,
  MeshAxes,
  TransformerConfig,
  change_rules,
  split_axes,
)
from stepwise.models import (
  NEWS_DECODING,
  Batch,
  LossSums,
  ModelConfig,
)
from stepwise.tasks import SelectedText, StepwiseFeatureConverter

# Arrays of a batch by name, and shapes of them.
Arrays = Mapping[str, Array]
Shapes = Mapping[str, Sequence[int]]
Metrics = dict[str, clu_metrics.Metric]


def logical_axis_rules(
  whole: Sequence[str] = (),
) -> list[tuple[str, MeshAxes]]:
  """The rules of `stepwise.layers`, for t5x's partitioner.

  Tables are divided by columns, never by rows: few vocabularies can be.

  Args:
    whole: names of axes that are not to be divided, although the rules say so.
  """
  unknown = set(whole) - {name for name, _ in DEFAULT_RULES}
  if unknown:
    raise InputError(f'whole names axes without a rule: {sorted(unknown)}.')
  rules = change_rules(DEFAULT_RULES, [('batch', 'data'), ('vocab', None)])
  return [(name, None if name in whole else axis) for name, axis in rules]


# Devices that t5x itself has meshes for.
_T5X_DEVICES = ('TPU v2', 'TPU v3', 'TPU v4', 'TPU v4 lite')


class Partitioner(partitioning.PjitPartitioner):
  """That of t5x, where `num_partitions` is meant on every device.

  t5x ignores it on CPUs and has no meshes for TPUs after v4; and it insists on
  sizes that the mesh divides. Here, as in our trainer, what cannot be divided
  stays whole: eight partitions of twelve heads, for example.
  """

  @functools.cached_property
  def mesh(self) -> Mesh:
    parts, devices = self._num_partitions, jax.devices(self._backend)
    if not parts or devices[-1].device_kind in _T5X_DEVICES:
      return super().mesh
    if len(devices) % parts:
      raise InputError(
        f'num_partitions is {parts}, must divide the {len(devices)} devices.'
      )
    made = mesh_utils.create_device_mesh(
      (len(devices) // parts, parts), devices, allow_split_physical_axes=True
    )
    return Mesh(made, ('data', 'model'))

  def get_mesh_axes(self, train_state: Any) -> Any:
    axes = super().get_mesh_axes(train_state)
    shapes, flat = (
      flatten_dict(tree.state_dict(), keep_empty_nodes=True, sep='/')
      for tree in (train_state, axes)
    )
    fitting = {
      name: self._fitting(spec, shapes[name]) for name, spec in flat.items()
    }
    return axes.restore_state(unflatten_dict(fitting, sep='/'))

  def _fitting(self, spec: Any, array: Any) -> Any:
    if not isinstance(spec, PartitionSpec):
      return spec  # Nothing, or nothing to divide.

    def parts(axes: MeshAxes) -> int:
      names = (axes,) if isinstance(axes, str) else axes or ()
      return math.prod(self.mesh.shape[name] for name in names)

    sizes = zip(spec, array.shape, strict=False)
    return PartitionSpec(
      *(axes if size % parts(axes) == 0 else None for axes, size in sizes)
    )


class _UnitModel(models.BaseModel):
  """What both kinds of extractors share."""

  def __init__(
    self,
    config: ModelConfig,
    optimizer_def: optimizers.OptimizerDefType,
    *,
    max_units: int,
    loss_terms: int,
  ):
    """Builds the module.

    Args:
      config: of the module.
      optimizer_def: of t5x.
      max_units: documents are cut after this many units, special ones included.
      loss_terms: the loss is the sum over all terms divided by this. A constant
        because t5x sums the gradients of micro-batches; about the number of
        terms in a batch, which is logged as `terms`.
    """
    super().__init__(optimizer_def=optimizer_def)
    self.config = config
    self.module = config.build()
    self.FEATURE_CONVERTER_CLS = functools.partial(
      StepwiseFeatureConverter, max_units
    )
    self._loss_terms = loss_terms

  def _sums(self, params: Any, batch: Batch, rng: Array | None) -> LossSums:
    raise NotImplementedError

  def loss_fn(
    self, params: Any, batch: Arrays, dropout_rng: Array | None
  ) -> tuple[Float[Array, ''], Metrics]:
    sums = self._sums(params, Batch.of(batch), dropout_rng)
    return sums.loss / self._loss_terms, _loss_metrics(sums, batch)

  def score_batch(
    self, params: Any, batch: Arrays, return_intermediates: bool = False
  ) -> Float[Array, ' batch']:
    """Log-probability of the targets of every document."""
    if return_intermediates:
      raise InputError('return_intermediates is True, there are none.')

    def score(row: Batch) -> Array:
      document = jax.tree.map(lambda array: array[None], row)
      return -self._sums(params, document, None).loss

    # A document on its own has no batch axis to spread over devices.
    with nn.logical_axis_rules(()):
      return jax.vmap(score)(Batch.of(batch))

  def get_initial_variables(
    self,
    rng: Array,
    input_shapes: Shapes,
    input_types: Mapping[str, Any] | None = None,
  ) -> dict[str, Any]:
    del input_types  # t5x.eval gives none.
    batch = {
      name: jnp.zeros(shape, bool if name == 'valid' else jnp.int32)
      for name, shape in input_shapes.items()
    }
    return split_axes(self.module.init(rng, Batch.of(batch)))


class StepwiseModel(_UnitModel):
  """Chooses units one after another; predictions are plans, -1 = empty."""

  def __init__(
    self,
    config: ModelConfig,
    optimizer_def: optimizers.OptimizerDefType,
    *,
    max_units: int,
    loss_terms: int,
    sample: bool = False,
    search: DecodeConfig = NEWS_DECODING,
  ):
    """See `_UnitModel`.

    Args:
      config, optimizer_def, max_units, loss_terms: see there.
      sample: train on one step of every example, drawn on the device. Right for
        the tasks of single steps too, where the other slots are empty and
        would only cost time.
      search: how plans are searched.
    """
    begin = config.begin_unit
    if not config.stepwise:
      raise InputError('config is not that of a stepwise model.')
    if begin not in search.never:
      raise InputError(
        f'search.never is {search.never}, must have begin_unit {begin}.'
      )
    super().__init__(
      config, optimizer_def, max_units=max_units, loss_terms=loss_terms
    )
    self._loss = config.loss(self.module)
    self._training_loss = config.loss(self.module, sample=sample)
    self._search = search

  def _sums(self, params: Any, batch: Batch, rng: Array | None) -> LossSums:
    loss = self._loss if rng is None else self._training_loss
    return loss(params, batch, rng)

  def predict_batch_with_aux(
    self, params: Any, batch: Arrays, rng: Array | None = None
  ) -> tuple[Int[Array, 'batch steps'], dict[str, Array]]:
    del rng
    variables = {'params': params}
    found = decode(self.config, variables, Batch.of(batch), self._search)
    return found.plans[:, 0], {'score': found.scores[:, 0]}


class ExtractiveModel(_UnitModel):
  """Chooses the best units at once; predictions are in document order."""

  def __init__(
    self,
    config: ModelConfig,
    optimizer_def: optimizers.OptimizerDefType,
    *,
    max_units: int,
    loss_terms: int,
    top_k: int = 3,
    positive_weight: float = 1.0,
  ):
    """See `_UnitModel`.

    Args:
      config, optimizer_def, max_units, loss_terms: see there; terms are units.
      top_k: units to choose.
      positive_weight: of units of the oracle in the loss.
    """
    if config.stepwise or not config.chooses_units:
      raise InputError('config is not that of a non-stepwise extractor.')
    super().__init__(
      config, optimizer_def, max_units=max_units, loss_terms=loss_terms
    )
    self._top_k = top_k
    self._loss = config.loss(self.module, positive_weight=positive_weight)

  def _sums(self, params: Any, batch: Batch, rng: Array | None) -> LossSums:
    return self._loss(params, batch, rng)

  def predict_batch_with_aux(
    self, params: Any, batch: Arrays, rng: Array | None = None
  ) -> tuple[Int[Array, 'batch k'], dict[str, Array]]:
    del rng
    variables = {'params': params}
    search = DecodeConfig(max_units=self._top_k)
    found = decode(self.config, variables, Batch.of(batch), search)
    return document_order(found.plans[:, 0]), {}


def _loss_metrics(sums: LossSums, batch: Arrays) -> Metrics:
  """Means over terms: t5x adds up sums of batches and devices."""
  documents = batch['tokens'].shape[0]
  average: Any = clu_metrics.Average  # Checkers do not see a dataclass.
  return {
    'loss': average(total=sums.loss, count=sums.weight),
    'accuracy': average(total=sums.correct, count=sums.weight),
    'terms': metrics.AveragePerStep(total=sums.weight, steps=1),
    'timing/seqs_per_second': metrics.TimeRate.from_model_output(
      numerator=documents
    ),
    'timing/steps_per_second': metrics.StepsPerTime.from_model_output(),
  }


def _unpacked_encoder_decoder(
  pack: bool = False, use_custom_packing_ops: bool = False
) -> seqio.FeatureConverter:
  if pack or use_custom_packing_ops:
    raise InputError('pack is True but the realizer reads no packed rows.')
  return seqio.EncDecFeatureConverter(pack=False)


class RealizerModel(models.BaseTransformerModel):
  """Writes text: an `EncoderDecoder`, on tasks of `inputs` and `targets`.

  As everywhere in SeqIO, token 0 is padding and begins the decoder's input;
  for RoBERTa's vocabulary, whose padding never gets here, 0 is `<s>`.
  """

  FEATURE_CONVERTER_CLS = staticmethod(_unpacked_encoder_decoder)

  def __init__(
    self,
    config: TransformerConfig,
    input_vocabulary: seqio.Vocabulary,
    output_vocabulary: seqio.Vocabulary,
    optimizer_def: optimizers.OptimizerDefType,
    *,
    share: bool = True,
    decode_fn: Callable[..., Any] = decoding.beam_search,
    num_decodes: int = 4,
    label_smoothing: float = 0.0,
    loss_normalizing_factor: float | None = None,
  ):
    """Builds the module.

    Args:
      config: of the module.
      input_vocabulary, output_vocabulary: those of the task.
      optimizer_def: of t5x.
      share: weights between encoder and decoder.
      decode_fn: of `t5x.decoding`.
      num_decodes: beams; the best one is the prediction.
      label_smoothing: of the loss.
      loss_normalizing_factor: the loss is a sum over tokens divided by this;
        a constant because t5x sums the gradients of micro-batches.
    """
    super().__init__(
      EncoderDecoder(config, share),
      input_vocabulary,
      output_vocabulary,
      optimizer_def,
      decode_fn,
      label_smoothing=label_smoothing,
      loss_normalizing_factor=loss_normalizing_factor,
    )
    self._num_decodes = num_decodes

  def get_initial_variables(
    self,
    rng: Array,
    input_shapes: Shapes,
    input_types: Mapping[str, Any] | None = None,
  ) -> dict[str, Any]:
    del input_types
    source = jnp.zeros(input_shapes['encoder_input_tokens'], jnp.int32)
    target = jnp.zeros(input_shapes['decoder_input_tokens'], jnp.int32)
    return split_axes(self.module.init(rng, source, source == 0, target))

  def _compute_logits(
    self, params: Any, batch: Arrays, dropout_rng: Array | None = None
  ) -> Float[Array, 'batch length vocab']:
    source = batch['encoder_input_tokens']
    return self.module.apply(
      {'params': params},
      source,
      source != 0,
      batch['decoder_input_tokens'],
      deterministic=dropout_rng is None,
      rngs=None if dropout_rng is None else {'dropout': dropout_rng},
    )

  def predict_batch_with_aux(
    self, params: Any, batch: Arrays, rng: Array | None = None
  ) -> tuple[Int[Array, 'batch length'], dict[str, Array]]:
    source = batch['encoder_input_tokens']
    begin = jnp.zeros_like(batch['decoder_input_tokens'])
    run = functools.partial(self.module.apply, {'params': params})
    memory = run(source, source != 0, method='encode')
    cache: Any = run(memory, source != 0, begin.shape[1], method='init_cache')
    # The memory is the same at every step: only what grows goes to the search.
    past = {str(i): kept.past._asdict() for i, kept in enumerate(cache.layers)}
    expanded = jax.tree.map(
      lambda x: decoding.flat_batch_beam_expand(x, self._num_decodes), cache
    )
    decodes, scores = self.decode_fn(
      inputs=begin,
      cache=past,
      tokens_to_logits=functools.partial(_next_logits, run, expanded),
      eos_id=self.output_vocabulary.eos_id,
      num_decodes=self._num_decodes,
      decode_rng=rng,
    )
    # t5x sorts beams from worst to best.
    return decodes[:, -1], {'score': scores[:, -1]}

  def score_batch(
    self, params: Any, batch: Arrays, return_intermediates: bool = False
  ) -> Float[Array, ' batch']:
    """Log-probability of every target text."""
    if return_intermediates:
      raise InputError('return_intermediates is True, there are none.')
    logits = self._compute_logits(params, batch)
    targets = batch['decoder_target_tokens']
    cost = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
    _, weights = losses.get_loss_normalizing_factor_and_weights(None, batch)
    return -(cost * weights).sum(axis=-1)


def _next_logits(
  run: Callable[..., Any], cache: Any, state: decoding.DecodingState
) -> tuple[Float[Array, 'beams vocab'], dict[str, dict[str, Array]]]:
  """One step of the search; `cache` has the memory, `state` what was decoded.

  Args:
    run: applies the module.
    cache: a `DecodeCache` of all beams, whose `past` is out of date.
    state: of the search; all beams stand at the same position.
  """
  layers = tuple(
    kept._replace(past=KeyValues(**state.cache[str(i)]))
    for i, kept in enumerate(cache.layers)
  )
  logits, cache = run(
    state.cur_token[:, 0],
    jnp.ravel(state.cur_index)[0],
    cache._replace(layers=layers),
    method='decode_step',
  )
  past = {str(i): kept.past._asdict() for i, kept in enumerate(cache.layers)}
  return logits, past


def save_params(params: Any, directory: str) -> str:
  """Writes weights as a t5x checkpoint without a state of the optimizer.

  Args:
    params: of the model, such as converted public weights.
    directory: to write `checkpoint_0` into.

  Returns:
    The path of the checkpoint, for `INITIAL_CHECKPOINT_PATH`.
  """
  path = epath.Path(directory).absolute() / 'checkpoint_0'
  with ocp.Checkpointer(ocp.CompositeCheckpointHandler()) as checkpointer:
    tree = {'target': params, 'state': {'step': np.zeros([], np.int32)}}
    checkpointer.save(path, ocp.args.Composite(state=ocp.args.PyTreeSave(tree)))
  return str(path)


def write_summaries(
  path: str,
  inferences: tuple[Sequence[Any], Mapping[str, Any]],
  task_ds: Any,
  mode: str,
  vocabulary: seqio.Vocabulary | None = None,
) -> None:
  """A `write_fn` of `t5x.infer`: summaries, as `stepwise evaluate` reads them.

  Every line has the `id` of a document and its `prediction`, a list of
  sentences, and in the mode `predict_with_aux` what else the model returns; in
  the mode `score` it has the `score` instead.

  Args:
    path: of the file to write.
    inferences: units, or the score, of all documents; and further values.
    task_ds: the documents.
    mode: of `t5x.infer`.
    vocabulary: not used, units are not words.
  """
  del vocabulary
  predictions, further = inferences
  # Plans do not contain the unit that stopped them.
  text = SelectedText(stop=None)
  lines = []
  for row, example in enumerate(task_ds.as_numpy_iterator()):
    line: dict[str, Any] = {
      name: float(values[row]) for name, values in further.items()
    }
    if mode == 'score':
      line['score'] = float(predictions[row])
    else:
      line['prediction'] = text(predictions[row], example=example)
    line['id'] = example['id'].decode()
    lines.append(json.dumps(line) + '\n')
  epath.Path(path).write_text(''.join(lines))
