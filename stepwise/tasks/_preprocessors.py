"""Dataset functions: documents in, examples of one step or all steps out.

What is slow, tokens and oracles, depends on neither lengths nor epochs and is
cached by SeqIO; cutting, and the choice of steps, come after the cache.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import seqio
import tensorflow as tf

from stepwise._errors import InputError
from stepwise.data import (
  OracleOptions,
  RecordOptions,
  Tokenizer,
  document_oracle,
  extractive_example,
  make_record,
  stepwise_examples,
)
from stepwise.documents import Document, make_document
from stepwise.tasks._documents import (
  DOCUMENT_SPEC,
  document_features,
  document_from_features,
  spans_array,
)

Lengths = Mapping[str, int | None] | None
Features = dict[str, Any]

_ARTICLE = ('article', 'highlights', 'id')
_RECORD_SPEC = {
  'tokens': tf.TensorSpec((None,), tf.int32),
  'unit_ids': tf.TensorSpec((None,), tf.int32),
  'targets': tf.TensorSpec((None,), tf.int32),
  'spans': tf.TensorSpec((None, 2), tf.int32),
}

_logger = logging.getLogger(__name__)


def parse_articles(dataset: tf.data.Dataset) -> tf.data.Dataset:
  """Turns `article`, `highlights` and `id` into the features of a document.

  Examples that hold no document with a summary are logged and left out.
  """

  def parse(example: Features) -> Features:
    fields = [example[key] for key in _ARTICLE]
    document = _call_python(_parse_article, fields, DOCUMENT_SPEC)
    return {**document, 'training': example['training']}

  dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
  return dataset.filter(lambda example: tf.size(example['spans']) > 0)


def add_records(
  dataset: tf.data.Dataset,
  *,
  tokenizer: Callable[[], Tokenizer],
  records: RecordOptions,
  oracle: OracleOptions,
) -> tf.data.Dataset:
  """Adds the arrays of a record, and all its targets, to documents.

  As in `build_records`, the oracle is searched among the units that are in the
  record. Records without special units have the targets of
  `extractive_example`.

  Args:
    dataset: features of documents.
    tokenizer: loads the tokeniser, when it is first needed.
    records: special units and limits.
    oracle: how it is searched.
  """

  def arrays(*fields: Any) -> list[np.ndarray]:
    document = document_from_features(*fields)
    features = _record_features(document, tokenizer(), records, oracle)
    return [features[name] for name in _RECORD_SPEC]

  def add(example: Features) -> Features:
    fields = [example[key] for key in DOCUMENT_SPEC]
    return {**example, **_call_python(arrays, fields, _RECORD_SPEC)}

  return dataset.map(add, num_parallel_calls=tf.data.AUTOTUNE)


def cut_to_length(
  dataset: tf.data.Dataset, *, special: int, sequence_length: Lengths = None
) -> tf.data.Dataset:
  """Cuts documents at the last whole unit that fits the length of `tokens`.

  The result is that of `make_record` with `max_tokens`, and targets that were
  cut are left out. SeqIO itself would cut in the middle of a unit.

  Args:
    dataset: with the features of `add_records`.
    special: number of special units, which come first.
    sequence_length: of `tokens`; without it nothing is cut.
  """
  length = _length(sequence_length, 'tokens')
  if length is None:
    return dataset
  if length <= special:
    raise InputError(
      f'the length of tokens is {length}; it must be more than {special}, the '
      'number of special units.'
    )
  return dataset.map(
    lambda example: _cut(example, length, special),
    num_parallel_calls=tf.data.AUTOTUNE,
  )


def every_step(
  dataset: tf.data.Dataset, sequence_length: Lengths = None
) -> tf.data.Dataset:
  """One example per step for training, one per document otherwise.

  Steps whose plan is longer than the length of `plan` are left out.
  """
  longest = _length(sequence_length, 'plan')

  def expand(example: Features) -> tf.data.Dataset:
    steps = tf.where(example['training'], _num_steps(example, longest), 1)
    return tf.data.Dataset.range(tf.cast(steps, tf.int64)).map(
      lambda step: _at_step(example, tf.cast(step, tf.int32))
    )

  return dataset.flat_map(expand)


@seqio.map_over_dataset(num_seeds=1)
def sampled_step(
  example: Features, seed: Any, sequence_length: Lengths = None
) -> Features:
  """One step of a document, drawn anew in every epoch; like `every_step`."""
  steps = _num_steps(example, _length(sequence_length, 'plan'))
  step = tf.random.stateless_uniform((), seed, 0, steps, tf.int32)
  return _at_step(example, step)


@seqio.map_over_dataset
def all_steps(example: Features) -> Features:
  """Whole documents, for training too; steps that do not fit are left out."""
  return _with_plan(example, 0, tf.size(example['targets']))


@seqio.map_over_dataset
def labelled_units(
  example: Features, sequence_length: Lengths = None
) -> Features:
  """Documents and their oracle sets, which must fit: a lost label is wrong."""
  size = tf.size(example['targets'])
  longest = _length(sequence_length, 'targets')
  if longest is not None:
    message = f'the length of targets is {longest}, too short for an oracle.'
    tf.debugging.assert_less_equal(size, longest, message)
  return _with_plan(example, 0, size)


def _record_features(
  document: Document,
  tokenizer: Tokenizer,
  records: RecordOptions,
  oracle: OracleOptions,
) -> dict[str, np.ndarray]:
  record = make_record(document, tokenizer, **asdict(records))
  reachable = document.part(0, record.num_units - record.special)
  units = document_oracle(reachable, oracle).indices
  if record.special_units:
    [example] = stepwise_examples(record, units)
  else:
    example = extractive_example(record, units)
  return {**example, 'spans': spans_array(record.spans)}


def _cut(example: Features, length: int, special: int) -> Features:
  unit_ids, targets = example['unit_ids'], example['targets']
  num_units = tf.reduce_max(unit_ids) + 1
  # The unit of the first token that does not fit is the first to go, unless it
  # is the first of the document: then it is cut inside.
  end = tf.minimum(length, tf.size(unit_ids))
  units = tf.concat([unit_ids, num_units[None]], 0)[end]
  whole = tf.math.count_nonzero(unit_ids < units, dtype=tf.int32)
  tokens = tf.where(units > special, whole, end)
  units = tf.maximum(units, special + 1)
  return {
    **example,
    'tokens': example['tokens'][:tokens],
    'unit_ids': unit_ids[:tokens],
    'spans': example['spans'][:units],
    'targets': tf.boolean_mask(targets, targets < units),
  }


def _at_step(example: Features, step: tf.Tensor) -> Features:
  """The example of a step in training, and of the document otherwise."""
  size = tf.size(example['targets'])
  start = tf.where(example['training'], step, 0)
  end = tf.where(example['training'], step + 1, size)
  return _with_plan(example, start, end)


def _with_plan(example: Features, start: Any, end: Any) -> Features:
  targets = example['targets']
  example = {**example, 'plan': targets[:start], 'targets': targets[start:end]}
  del example['training']
  return example


def _num_steps(example: Features, longest_plan: int | None) -> tf.Tensor:
  steps = tf.size(example['targets'])
  return steps if longest_plan is None else tf.minimum(steps, longest_plan + 1)


def _length(lengths: Lengths, name: str) -> int | None:
  return None if lengths is None else lengths.get(name)


def _parse_article(*fields: bytes) -> list[bytes | np.ndarray]:
  row = {
    key: field.decode() for key, field in zip(_ARTICLE, fields, strict=True)
  }
  try:
    document = make_document(row)
    if not document.summary:
      raise InputError('no summary.')
  except InputError as error:
    _logger.warning('document %r is left out: %s', row['id'], error)
    document = Document('', ())
  return list(document_features(document).values())


def _call_python(
  function: Callable[..., Sequence[Any]],
  arguments: Sequence[tf.Tensor],
  spec: Mapping[str, tf.TensorSpec],
) -> dict[str, tf.Tensor]:
  """Calls a function of plain values; its results are named by `spec`."""
  types = [result.dtype for result in spec.values()]
  results = tf.numpy_function(function, arguments, types)
  for tensor, result in zip(results, spec.values(), strict=True):
    tensor.set_shape(result.shape)
  return dict(zip(spec, results, strict=True))
