"""From the features of a task to the arrays of a model."""

from collections.abc import Mapping
from typing import Any

import seqio
import tensorflow as tf

from stepwise._errors import InputError

# Unit 0 is a unit, so padding cannot be SeqIO's 0; a token 0 says nothing.
_PADDING = {'tokens': 0, 'unit_ids': -1, 'plan': -1, 'targets': -1}
_SPEC = seqio.FeatureConverter.FeatureSpec


class StepwiseFeatureConverter(seqio.FeatureConverter):
  """Pads `tokens`, `unit_ids`, `plan` and `targets`, and adds `valid`.

  Each row is one of `stepwise.data.pad_batch`: `plan` and `targets` have as
  many slots as the longer of their two lengths, and `valid [units]` is True for
  real units. Units from `max_units` on are removed, with their tokens and
  wherever a plan or targets name them. A document that is longer than the
  length of `tokens` is an error here: the tasks of this package cut it at the
  last whole unit.
  """

  TASK_FEATURES: Mapping[str, Any] = {
    name: _SPEC(dtype=tf.int32) for name in _PADDING
  }
  MODEL_FEATURES: Mapping[str, Any] = {
    **TASK_FEATURES,
    'valid': _SPEC(dtype=tf.bool),
  }
  PACKING_FEATURE_DTYPES: Mapping[str, Any] = {}

  def __init__(
    self,
    max_units: int,
    *,
    pack: bool = False,
    use_custom_packing_ops: bool = False,
  ):
    """`pack` and `use_custom_packing_ops` are what t5x passes: both False."""
    if pack or use_custom_packing_ops:
      raise InputError(
        'pack is True but documents cannot be packed into one row; set '
        'pack=False (in t5x, for every dataset of the run).'
      )
    if max_units < 1:
      raise InputError(f'max_units is {max_units} but must be positive.')
    super().__init__(pack=False)
    self._max_units = max_units

  def get_model_feature_lengths(
    self, task_feature_lengths: Mapping[str, int]
  ) -> Mapping[str, int]:
    length, ids = (task_feature_lengths[n] for n in ('tokens', 'unit_ids'))
    if length != ids:
      raise InputError(
        f'tokens have the length {length} but unit_ids {ids}; give both the '
        'same.'
      )
    steps = max(task_feature_lengths[name] for name in ('plan', 'targets'))
    return {
      'tokens': length,
      'unit_ids': length,
      'plan': steps,
      'targets': steps,
      'valid': self._max_units,
    }

  def _convert_features(
    self, ds: tf.data.Dataset, task_feature_lengths: Mapping[str, int]
  ) -> tf.data.Dataset:
    lengths = self.get_model_feature_lengths(task_feature_lengths)
    return ds.map(
      lambda example: self._convert(example, lengths),
      num_parallel_calls=tf.data.AUTOTUNE,
    )

  def _convert(
    self, example: dict[str, Any], lengths: Mapping[str, int]
  ) -> dict[str, tf.Tensor]:
    kept = example['unit_ids'] < self._max_units
    rows = {
      'tokens': example['tokens'][kept],
      'unit_ids': example['unit_ids'][kept],
    }
    for name in ('plan', 'targets'):
      rows[name] = example[name][example[name] < self._max_units]
    padded = {
      name: _pad(row, lengths[name], _PADDING[name])
      for name, row in rows.items()
    }
    # -1 for padding, so that a row without tokens has no units.
    num_units = tf.reduce_max(padded['unit_ids']) + 1
    return {**padded, 'valid': tf.range(self._max_units) < num_units}


def _pad(row: tf.Tensor, length: int, value: int) -> tf.Tensor:
  padded = tf.pad(row, [[0, length - tf.size(row)]], constant_values=value)
  padded.set_shape([length])
  return padded
