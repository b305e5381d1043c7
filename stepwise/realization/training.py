"""Training the realizer, as a task of `stepwise.training`."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import grain
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

from stepwise._errors import InputError
from stepwise._typing import Array, Float, Int
from stepwise.data import Buckets
from stepwise.evaluation import bleu
from stepwise.models import LossSums, ModelConfig, find_config
from stepwise.realization._examples import Example, load_examples
from stepwise.realization.learned import (
  PAD,
  SearchConfig,
  TokenClasses,
  check_texts,
  search_texts,
)
from stepwise.training import (
  BLEU,
  Evaluator,
  ModelSpec,
  TrainConfig,
  TrainingTask,
  Validation,
  resolve_model,
  restack,
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
      lasting = resolve_realizer(config.model.lasting)
      evaluators.append(bleu_evaluator(lasting, examples, buckets, size))
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
  )


def bleu_evaluator(
  model: ModelConfig, examples: Sequence[Example], buckets: Buckets, rows: int
) -> Evaluator:
  """Corpus BLEU of the sentences that a realizer writes, by its own tokens.

  Every process writes all of them, on one device. Tokens are pieces of words,
  so this is another number than that of texts; it tells which checkpoint is
  better.

  Args:
    model: configuration of the realizer, as it will be used: its layers are
      not scanned. Parameters may be those of scanned ones.
    examples: what to write.
    buckets: sizes of batches.
    rows: of a batch.
  """
  module: Any = model.build()
  shapes = jax.eval_shape(
    module.init, jax.random.key(0), *model.smallest_inputs()
  )
  shapes = nn.unbox(shapes)['params']
  config = SearchConfig(max_tokens=buckets.units[-1])
  end = int(examples[0].targets[-1])

  @jax.jit
  def write(params: Any, inputs: Any) -> Any:
    ids = jnp.arange(model.vocab)
    # Without tries nobody asks what a numeral is.
    classes = TokenClasses(ids != PAD, ids < 0, ids < 0)
    return search_texts(module, params, inputs, classes, config, end=end)

  def evaluate(params: Any) -> dict[str, float]:
    params = jax.device_put(restack(params, shapes))
    written, wanted = [], []
    for batch in _in_order(examples, buckets, rows, np.arange(rows)):
      found = check_texts(write(params, batch['inputs']))
      written += map(_as_text, np.asarray(found.tokens[:, 0]))
      wanted += (_as_text(row[row != end]) for row in batch['targets'])
    pairs = [pair for pair in zip(written, wanted, strict=True) if pair[1]]
    texts, references = zip(*pairs, strict=True)
    return {BLEU: bleu(texts, references).score}

  return evaluate


def _as_text(tokens: Int[np.ndarray, ' length']) -> str:
  """Words whose letters are ids."""
  return ' '.join(str(token) for token in tokens if token != PAD)


def _load(path: str, model: ModelConfig) -> list[Example]:
  examples, tokenizer, _ = load_examples(path)
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
