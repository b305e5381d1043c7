"""Masked documents for pretraining, registered on import.

`cnn_dailymail_pretraining_jsonl` reads the texts of
`$STEPWISE_DATA/cnn_dailymail/{train,validation,test}.jsonl`; summaries do not
matter. For other files call `register_pretraining_task`. What is masked and
hidden is drawn anew in every epoch, from the seeds that SeqIO gives; tokens are
cached before. Features are those of `stepwise.data.mask_record`, their lengths
those of `pretraining_lengths`; `MaskedFeatureConverter` makes the arrays of
`stepwise.models.MaskedBatch` of them.
"""

import functools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import seqio
import tensorflow as tf

from stepwise.data import (
  Masking,
  Record,
  Tokenizer,
  make_record,
  mask_record,
  word_pieces,
  wordpiece,
)
from stepwise.documents import BadLine, read_documents
from stepwise.tasks._sources import DocumentFiles

_NAME = 'cnn_dailymail'
_SPLITS = ('train', 'validation', 'test')
_SPEC = {
  'id': tf.TensorSpec([], tf.string),
  'tokens': tf.TensorSpec([None], tf.int32),
  'unit_ids': tf.TensorSpec([None], tf.int32),
}
# What stands where a feature is empty.
_PADDING = {
  'tokens': 0,
  'unit_ids': -1,
  'masked': -1,
  'labels': 0,
  'hidden': -1,
  'hidden_tokens': 0,
  'hidden_slots': -1,
}
_INT = seqio.FeatureConverter.FeatureSpec(dtype=tf.int32)

_logger = logging.getLogger(__name__)


def pretraining_lengths(
  length: int, units: int, masking: Masking = Masking()
) -> dict[str, int]:
  """Lengths of all features, for documents of so many tokens and units.

  >>> pretraining_lengths(512, 32)['masked']
  77
  """
  sizes = masking.sizes(length, units)
  return {
    'tokens': length,
    'unit_ids': length,
    'masked': sizes.masked,
    'labels': sizes.masked,
    'hidden': sizes.hidden,
    'hidden_tokens': sizes.hidden_tokens,
    'hidden_slots': sizes.hidden_tokens,
  }


def register_pretraining_task(
  name: str,
  files_by_split: Mapping[str, str | Sequence[str]],
  *,
  tokenizer: Callable[[], Tokenizer] = wordpiece,
  masking: Masking = Masking(),
  max_units: int = 256,
  special_units: Sequence[str] = ('eot', 'beg'),
) -> None:
  """Registers a task of documents; one of the same name is replaced.

  Args:
    name: of the task.
    files_by_split: paths or patterns of every split, see `DocumentFiles`.
    tokenizer: loads the tokeniser, when it is first needed; it tells what is a
      word, not `masking`.
    masking: how much is taken away.
    max_units: of a document, special ones counted; others are left out.
    special_units: that documents begin with, as they will for ETCSum.
  """
  read = functools.partial(
    _read_file, tokenizer, masking, max_units, tuple(special_units)
  )
  feature = seqio.Feature(
    seqio.PassThroughVocabulary(size=0), add_eos=False, dtype=tf.int32
  )
  mask = functools.partial(
    _mask, tokenizer, masking, max_units, len(special_units)
  )
  seqio.TaskRegistry.remove(name)
  seqio.TaskRegistry.add(
    name,
    DocumentFiles(files_by_split, read),  # pyright: ignore
    output_features=dict.fromkeys(_PADDING, feature),
    preprocessors=[
      _drop_mark,
      seqio.CacheDatasetPlaceholder(),
      seqio.map_over_dataset(num_seeds=1)(mask),
    ],
    metric_fns=[],
  )


class MaskedFeatureConverter(seqio.FeatureConverter):
  """Pads the features of pretraining, and adds `valid [units]`."""

  TASK_FEATURES: Mapping[str, Any] = dict.fromkeys(_PADDING, _INT)
  MODEL_FEATURES: Mapping[str, Any] = {
    **TASK_FEATURES,
    'valid': seqio.FeatureConverter.FeatureSpec(dtype=tf.bool),
  }
  PACKING_FEATURE_DTYPES: Mapping[str, Any] = {}

  def __init__(self, max_units: int):
    super().__init__(pack=False)
    self._max_units = max_units

  def get_model_feature_lengths(
    self, task_feature_lengths: Mapping[str, int]
  ) -> Mapping[str, int]:
    return {**task_feature_lengths, 'valid': self._max_units}

  def _convert_features(
    self, ds: tf.data.Dataset, task_feature_lengths: Mapping[str, int]
  ) -> tf.data.Dataset:
    def convert(example: dict[str, Any]) -> dict[str, tf.Tensor]:
      padded = {
        name: _pad(example[name], task_feature_lengths[name], empty)
        for name, empty in _PADDING.items()
      }
      count = tf.reduce_max(padded['unit_ids']) + 1
      return {**padded, 'valid': tf.range(self._max_units) < count}

    return ds.map(convert, num_parallel_calls=tf.data.AUTOTUNE)


def _pad(row: tf.Tensor, length: int, value: int) -> tf.Tensor:
  padded = tf.pad(row, [[0, length - tf.size(row)]], constant_values=value)
  padded.set_shape([length])
  return padded


def _read_file(
  tokenizer: Callable[[], Tokenizer],
  masking: Masking,
  max_units: int,
  special_units: tuple[str, ...],
  path: Any,
) -> Any:
  def examples(path: bytes) -> Iterator[dict[str, Any]]:
    bad: list[BadLine] = []
    for document in read_documents(path.decode(), on_error=bad.append):
      if len(document.spans) < masking.min_units:
        continue
      record = make_record(
        document,
        tokenizer(),
        special_units=special_units,
        max_units=max_units,
      )
      yield {
        'id': document.id.encode(errors='replace'),
        'tokens': record.tokens,
        'unit_ids': record.unit_ids,
      }
    for line in bad:
      _logger.warning('%s', line)

  return tf.data.Dataset.from_generator(
    examples, args=(path,), output_signature=_SPEC
  )


def _drop_mark(dataset: Any) -> Any:
  return dataset.map(lambda example: {key: example[key] for key in _SPEC})


def _mask(
  tokenizer: Callable[[], Tokenizer],
  masking: Masking,
  max_units: int,
  special: int,
  example: dict[str, Any],
  seed: Any,
  sequence_length: Mapping[str, int | None] | None = None,
) -> dict[str, Any]:
  length = (sequence_length or {}).get('tokens')

  def draw(
    tokens: np.ndarray, unit_ids: np.ndarray, seed: np.ndarray
  ) -> list[np.ndarray]:
    record = _cut(tokens, unit_ids, special, length)
    sizes = masking.sizes(length or len(tokens), max_units)
    rng = np.random.default_rng(seed.astype(np.uint32))
    made = mask_record(record, _words(tokenizer), masking, sizes, rng)
    return [made[name].astype(np.int32) for name in _PADDING]

  arrays = tf.numpy_function(
    draw,
    [example['tokens'], example['unit_ids'], seed],
    [tf.int32] * len(_PADDING),
  )
  for array in arrays:
    array.set_shape([None])
  return {'id': example['id'], **dict(zip(_PADDING, arrays, strict=True))}


@functools.cache
def _words(tokenizer: Callable[[], Tokenizer]) -> Any:
  return word_pieces(tokenizer())


def _cut(
  tokens: np.ndarray, unit_ids: np.ndarray, special: int, length: int | None
) -> Record:
  """The whole units that fit; a first one that is too long is cut inside."""
  end = len(tokens) if length is None else min(length, len(tokens))
  if end < len(tokens) and unit_ids[end] > special:
    end = int(np.searchsorted(unit_ids, unit_ids[end]))
  kept = unit_ids[:end]
  count = int(kept.max()) + 1
  return Record(
    tokens=tokens[:end],
    unit_ids=kept,
    spans=((0, 0),) * count,
    special_units=('eot', 'beg', 'eos')[:special],
  )


register_pretraining_task(
  f'{_NAME}_pretraining_jsonl',
  {split: f'$STEPWISE_DATA/{_NAME}/{split}.jsonl' for split in _SPLITS},
)
