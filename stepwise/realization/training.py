"""Training the realizer, as a task of `stepwise.training`."""

import functools
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import grain
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from stepwise._errors import InputError
from stepwise._typing import Array, Float, Int
from stepwise.data import Buckets
from stepwise.evaluation import bleu
from stepwise.layers import make_mesh, on_mesh
from stepwise.models import LossSums, ModelConfig, find_config
from stepwise.realization._examples import Example, load_examples
from stepwise.realization.learned import (
  PAD,
  SearchConfig,
  SearchResult,
  TokenClasses,
  check_texts,
  search_texts,
)
from stepwise.training import (
  BLEU,
  Evaluator,
  HostProgram,
  ModelSpec,
  TrainConfig,
  TrainingTask,
  Validation,
  decoding_mesh,
  local_files,
  resolve_model,
  restack,
  sum_of_processes,
)

Arrays = dict[str, np.ndarray]
_LEAST_BUCKET = 16
_PREFETCH = grain.ReadOptions(num_threads=1, prefetch_buffer_size=4)


class RealizerBatch(NamedTuple):
  """Examples filled up with `PAD`; rows without an example have nothing else.

  Attributes:
    inputs: what to read.
    targets: what to write, the end token included.
  """

  inputs: Int[Array, 'batch source']
  targets: Int[Array, 'batch length']


def row_tokens(batch: RealizerBatch) -> Int[Array, ' batch']:
  """Real tokens of every example, read and written; an empty row has none."""
  return (batch.inputs != PAD).sum(axis=1) + (batch.targets != PAD).sum(axis=1)


def realizer_loss(
  model: nn.Module,
  params: Any,
  batch: RealizerBatch,
  rng: Array | None = None,
) -> LossSums:
  """Cross entropy of every token of the targets, with teacher forcing."""
  logits: Any = model.apply(
    {'params': params},
    batch.inputs,
    batch.inputs != PAD,
    shift_right(batch.targets),
    deterministic=rng is None,
    rngs=None if rng is None else {'dropout': rng},
  )
  return _sums(logits.astype(jnp.float32), batch.targets)


def _sums(
  logits: Float[Array, 'batch length vocab'],
  targets: Int[Array, 'batch length'],
) -> LossSums:
  real = targets != PAD
  losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
  right = logits.argmax(axis=-1) == targets
  return LossSums(
    loss=jnp.sum(losses, where=real),
    weight=jnp.sum(real).astype(jnp.float32),
    correct=jnp.sum(right & real).astype(jnp.float32),
  )


def shift_right(
  targets: Int[Array, 'batch length'],
) -> Int[Array, 'batch length']:
  """What the decoder reads to write `targets`."""
  return jnp.pad(targets, ((0, 0), (1, 0)), constant_values=PAD)[:, :-1]


def resolve_realizer(spec: ModelSpec) -> ModelConfig:
  """The configuration that a spec describes."""
  if find_config(spec.name).chooses_units:
    raise InputError(f'{spec.name} selects; a realizer is needed to write.')
  if spec.twin:
    raise InputError(f'{spec.name} writes text and has no twin.')
  return resolve_model(spec)


def realizer_task(config: TrainConfig) -> TrainingTask:
  """Training a realizer on examples of `stepwise data realize`.

  `InputConfig.buckets` are sizes of inputs (`lengths`) and targets (`units`).
  """
  model = resolve_realizer(config.model)
  module = model.build()
  lasting = resolve_realizer(config.model.lasting)

  def open_input(rows: np.ndarray) -> grain.DatasetIterator[Arrays]:
    examples = _load(config.input.train, model)
    buckets = config.input.buckets or fitting_buckets(examples)
    source = ExampleBatches(
      examples,
      buckets,
      config.input.batch_size,
      seed=config.seed,
      length=config.steps,
      rows=rows,
    )
    return iter(grain.MapDataset.source(source).to_iter_dataset(_PREFETCH))

  def open_validation() -> Validation | None:
    path = config.evaluation.validation
    if path is None:
      return None
    examples = _load(path, model)
    size = config.validation_batch
    buckets = config.input.buckets or fitting_buckets(examples)
    evaluators = []
    if config.checkpoints.best_metric == BLEU:
      mesh = decoding_mesh(config.mesh)
      made = bleu_evaluator(lasting, examples, buckets, size, mesh)
      evaluators.append(made)
    return Validation(
      lambda rows: _in_order(examples, buckets, size, rows), evaluators
    )

  return TrainingTask(
    model=model,
    module=module,
    embed=model.embed,
    loss=functools.partial(realizer_loss, module),
    dummy=model.smallest_inputs,
    batch=RealizerBatch,
    tokens=row_tokens,
    empty=lambda size, rows: pad_examples([], size, rows),
    open_input=open_input,
    open_validation=open_validation,
    host_programs={'prediction': functools.partial(_trace, lasting, config)},
  )


def bleu_evaluator(
  model: ModelConfig,
  examples: Sequence[Example],
  buckets: Buckets,
  rows: int,
  mesh: Mesh | None = None,
) -> Evaluator:
  """Corpus BLEU of the sentences that a realizer writes, by its own tokens.

  Every process writes its share of the batches, on its own devices. Tokens are
  pieces of words, so this is another number than that of texts; it tells which
  checkpoint is better.

  Args:
    model: configuration of the realizer, as it will be used: its layers are
      not scanned. Parameters may be those of scanned ones.
    examples: what to write.
    buckets: sizes of batches.
    rows: of a batch; rounded up to a multiple of the devices.
    mesh: devices of a process that share its batches; None = one.
  """
  mesh = mesh or make_mesh(1, devices=jax.local_devices()[:1])
  rows = -(-rows // mesh.size) * mesh.size
  end = int(examples[0].targets[-1])
  write = on_mesh(mesh, _writer(model, buckets.units[-1], end))
  whole, spread = _places(mesh)
  shapes = _param_shapes(model, whole)
  batches = list(_in_order(examples, buckets, rows, np.arange(rows)))
  wanted = np.concatenate([_padded(b['targets'], buckets) for b in batches])
  first, step = jax.process_index(), jax.process_count()

  def evaluate(params: Any) -> dict[str, float]:
    params = jax.device_put(restack(params, shapes), whole)
    # What others write stays 0, so that the sum is all of it.
    written = np.zeros_like(wanted)
    for number in range(first, len(batches), step):
      inputs = jax.device_put(batches[number]['inputs'], spread)
      found = check_texts(write(params, inputs)).tokens[:, 0]
      written[number * rows : (number + 1) * rows] = found
    texts, references = (
      [_as_text(row[row != end]) for row in tokens]
      for tokens in (sum_of_processes(written), wanted)
    )
    real = [bool(reference) for reference in references]
    return {
      BLEU: bleu(
        list(compress(texts, real)), list(compress(references, real))
      ).score
    }

  return evaluate


def _writer(model: ModelConfig, max_tokens: int, end: int) -> Any:
  """The program that writes: `(params, inputs) -> SearchResult`."""
  module: Any = model.build()
  config = SearchConfig(max_tokens=max_tokens)

  @jax.jit
  def write(params: Any, inputs: Any) -> SearchResult:
    ids = jnp.arange(model.vocab)
    # Without tries nobody asks what a numeral is.
    classes = TokenClasses(ids != PAD, ids < 0, ids < 0)
    return search_texts(module, params, inputs, classes, config, end=end)

  return write


def _trace(
  model: ModelConfig,
  config: TrainConfig,
  params: Any,
  mesh: Mesh,
  size: tuple[int, int],
) -> HostProgram:
  """The program of BLEU, for devices that need not exist."""
  del params  # Layers that are scanned in training are not in what is used.
  rows = -(-config.validation_batch // mesh.size) * mesh.size
  whole, spread = _places(mesh)
  inputs = jax.ShapeDtypeStruct((rows, size[0]), jnp.int32, sharding=spread)
  # Which token ends a text is in the records; the program is the same.
  write = _writer(model, size[1], end=PAD + 1)
  traced = on_mesh(mesh, write.trace)(_param_shapes(model, whole), inputs)
  return HostProgram(rows, traced)


def _places(mesh: Mesh) -> tuple[NamedSharding, NamedSharding]:
  """Of parameters and of rows."""
  rows = PartitionSpec(mesh.axis_names)
  return NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, rows)


def _param_shapes(model: ModelConfig, place: NamedSharding) -> Any:
  module, inputs = model.build(), model.smallest_inputs()
  boxed = jax.eval_shape(module.init, jax.random.key(0), *inputs)
  return jax.tree.map(
    lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place),
    nn.unbox(boxed)['params'],
  )


def _padded(
  targets: Int[np.ndarray, 'batch length'], buckets: Buckets
) -> Int[np.ndarray, 'batch longest']:
  missing = buckets.units[-1] - targets.shape[1]
  return np.pad(targets, ((0, 0), (0, missing)), constant_values=PAD)


def _as_text(tokens: Int[np.ndarray, ' length']) -> str:
  """Words whose letters are ids."""
  return ' '.join(str(token) for token in tokens if token != PAD)


def _load(path: str, model: ModelConfig) -> list[Example]:
  parts = [load_examples(file) for file in local_files(path)]
  examples = [example for part in parts for example in part[0]]
  tokenizer = parts[0][1]
  for example in examples:
    largest = max(example.inputs.max(), example.targets.max())
    if largest >= model.vocab:
      raise InputError(
        f'{path}: example {example.id!r} has token {largest} of {tokenizer!r}, '
        f'the model has only {model.vocab} rows.'
      )
    longest = max(len(example.inputs), len(example.targets))
    if longest > (positions := model.limits.tokens or longest):
      raise InputError(
        f'{path}: example {example.id!r} has {longest} tokens, the model '
        f'reads {positions}: build the examples with --max-input.'
      )
  return examples


def fitting_buckets(examples: Sequence[Example]) -> Buckets:
  """Powers of two that hold all examples."""
  sizes = ((len(each.inputs), len(each.targets)) for each in examples)
  return Buckets.fitting(sizes, least=_LEAST_BUCKET)


def pad_examples(
  examples: Sequence[Example], size: tuple[int, int], batch: int
) -> Arrays:
  """Arrays of the fields of `RealizerBatch`."""
  inputs, targets = (np.full((batch, width), PAD, np.int32) for width in size)
  for row, example in enumerate(examples):
    inputs[row, : len(example.inputs)] = example.inputs
    targets[row, : len(example.targets)] = example.targets
  return {'inputs': inputs, 'targets': targets}


class ExampleBatches:
  """Epoch after epoch of shuffled batches, by index.

  Every example comes once an epoch, in a batch of its bucket. Batch k is a pure
  function of the examples, the seed and k.
  """

  def __init__(
    self,
    examples: Sequence[Example],
    buckets: Buckets,
    batch_size: int,
    *,
    seed: int,
    length: int,
    rows: np.ndarray | None = None,
  ):
    """`rows` are those of every batch that this process makes; None = all."""
    self._rows = np.arange(batch_size) if rows is None else rows
    self._examples = examples
    self._batch_size = batch_size
    self._seed = seed
    self._length = length
    self._by_bucket = _by_bucket(examples, buckets)
    self._epoch = functools.lru_cache(maxsize=2)(self._plan_epoch)

  def __len__(self) -> int:
    return self._length

  def __getitem__(self, index: int) -> Arrays:
    epoch, position = divmod(index, len(self._epoch(0)))
    size, chosen = self._epoch(epoch)[position]
    return _batch(self._examples, chosen, size, self._rows)

  def _plan_epoch(self, epoch: int) -> list[tuple[tuple[int, int], list[int]]]:
    rng = np.random.default_rng((self._seed, epoch))
    plan = []
    for size, group in self._by_bucket.items():
      shuffled = rng.permutation(group).tolist()
      plan += [(size, part) for part in _split(shuffled, self._batch_size)]
    return [plan[i] for i in rng.permutation(len(plan))]


def _batch(
  examples: Sequence[Example],
  chosen: Sequence[int],
  size: tuple[int, int],
  rows: np.ndarray,
) -> Arrays:
  """Some rows of a batch of the chosen examples; others are empty."""
  present = [examples[chosen[row]] for row in rows if row < len(chosen)]
  return pad_examples(present, size, len(rows))


def _in_order(
  examples: Sequence[Example],
  buckets: Buckets,
  batch_size: int,
  rows: np.ndarray,
) -> Iterator[Arrays]:
  for size, group in _by_bucket(examples, buckets).items():
    for part in _split(group, batch_size):
      yield _batch(examples, part, size, rows)


def _by_bucket(
  examples: Sequence[Example], buckets: Buckets
) -> dict[tuple[int, int], list[int]]:
  groups: dict[tuple[int, int], list[int]] = {}
  for index, example in enumerate(examples):
    size = buckets.bucket(len(example.inputs), len(example.targets))
    groups.setdefault(size, []).append(index)
  return dict(sorted(groups.items()))


def _split(items: list[int], size: int) -> list[list[int]]:
  return [items[start : start + size] for start in range(0, len(items), size)]
